"""Deleted words in the spans of an output."""

from cutroom.engines.types import TimeSpan
from cutroom.products.shorts.edit import MAX_OUTPUT_CUTS, SelectedOutput, read_selection, write_selection

WHOLE = SelectedOutput("A title", "", "", (TimeSpan(10.0, 20.0), TimeSpan(40.0, 50.0)))


def test_deleted_words_are_left_out_of_the_spans_that_contain_them() -> None:
    output = WHOLE.without([TimeSpan(5, 6), TimeSpan(12, 13), TimeSpan(19.95, 30), TimeSpan(39, 41)], revision=3)
    assert output.heard == [(10.0, 12.0), (13.0, 19.95), (41.0, 50.0)]
    assert output.transcript_revision == 3
    assert len(output.cuts) == 3
    assert output.spans == WHOLE.spans  # which say what it was chosen from
    assert read_selection(write_selection([output])) == [output]


def test_without_deleted_words_the_spans_are_shown() -> None:
    assert WHOLE.without([], revision=1).heard == [(10.0, 20.0), (40.0, 50.0)]


def test_an_instant_between_two_cuts_is_left_out() -> None:
    output = WHOLE.without([TimeSpan(11, 12), TimeSpan(12.05, 13)], revision=1)
    assert output.heard == [(10.0, 11.0), (13.0, 20.0), (40.0, 50.0)]


def test_the_longest_cuts_are_made_if_there_are_too_many() -> None:
    short = [TimeSpan(10 + at / 10, 10.01 + at / 10) for at in range(MAX_OUTPUT_CUTS)]
    output = WHOLE.without([*short, TimeSpan(45, 46)], revision=1)
    assert len(output.cuts) == MAX_OUTPUT_CUTS
    assert output.cuts[-1] == TimeSpan(45, 46)
