"""What has changed between two revisions, as spans of time."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument
from cutroom.products.transcripts.staleness import changes as rules
from cutroom.products.transcripts.staleness.changes import ChangedSpan, SourceChange, changed_spans, changes_within


def segment(
    id_: str, start: float, end: float, text: str, *, deleted: bool = False, speaker: str = "a"
) -> DocumentSegment:
    return DocumentSegment(id_, start, end, text, speaker, deleted)


def document(*segments: DocumentSegment) -> TranscriptDocument:
    return TranscriptDocument(segments)


FIRST = segment("s1", 0.0, 2.0, "Good morning.")
SECOND = segment("s2", 2.0, 10.0, "aaaa bbbb cccc dddd")
WHOLE = document(FIRST, SECOND)


def test_deleting_a_word_changes_its_own_time_only() -> None:
    cut = document(
        FIRST,
        segment("s2", 2.0, 4.0, "aaaa"),
        segment("n1", 4.0, 6.0, "bbbb", deleted=True),
        segment("n2", 6.0, 10.0, "cccc dddd"),
    )
    assert changed_spans(WHOLE, cut) == [ChangedSpan(4.0, 6.0, SourceChange.REMOVED)]
    assert changed_spans(cut, WHOLE) == [ChangedSpan(4.0, 6.0, SourceChange.ADDED)]


def test_another_word_changes_about_its_own_time() -> None:
    [span] = changed_spans(WHOLE, document(FIRST, replace(SECOND, text="aaaa bbbb xxxx dddd")))
    assert span.change is SourceChange.SOURCE_CHANGED
    assert 5.5 < span.start_seconds < span.end_seconds < 8.5


def test_split_and_merged_segments_say_the_same() -> None:
    split = document(FIRST, segment("s2", 2.0, 5.8, "aaaa bbbb"), segment("n1", 6.1, 10.0, "cccc dddd"))
    assert changed_spans(WHOLE, split) == changed_spans(split, WHOLE) == []


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (document(FIRST, SECOND, segment("n", 11.0, 12.0, "More.")), ChangedSpan(11.0, 12.0, SourceChange.ADDED)),
        (document(FIRST), ChangedSpan(2.0, 10.0, SourceChange.REMOVED)),
        (document(FIRST, replace(SECOND, speaker="b")), ChangedSpan(2.0, 10.0, SourceChange.SPEAKER_CHANGED)),
        (document(FIRST, replace(SECOND, end_seconds=11.0)), ChangedSpan(2.0, 11.0, SourceChange.TIMES_CHANGED)),
        (document(FIRST, SECOND, segment("n", 11.0, 12.0, "No.", deleted=True)), None),
    ],
)
def test_changes_of_whole_segments(now: TranscriptDocument, expected: ChangedSpan | None) -> None:
    assert changed_spans(WHOLE, now) == ([] if expected is None else [expected])


def test_only_changes_in_the_ranges_of_a_product_count() -> None:
    spans = changed_spans(WHOLE, document(FIRST, replace(SECOND, deleted=True)))
    assert changes_within(spans, [(0.0, 2.0)]) == changes_within(spans, [(10.0, 20.0)]) == ()
    assert changes_within(spans, [(0.0, 1.0), (9.0, 12.0)]) == (SourceChange.REMOVED,)
    assert changes_within(spans) == (SourceChange.REMOVED,)


def test_a_long_passage_that_differs_counts_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_COMPARED_WORDS", 5)
    now = document(FIRST, replace(SECOND, text="aaaa bbbb xxxx dddd"))
    assert changed_spans(WHOLE, now) == [ChangedSpan(2.0, 10.0, SourceChange.SOURCE_CHANGED)]


WORDS = st.lists(st.sampled_from(["a", "bb", "ccc", "dd"]), min_size=1, max_size=4).map(" ".join)


@st.composite
def documents(draw: st.DrawFn) -> TranscriptDocument:
    """Segments of a second each, some of them deleted or absent."""
    present = draw(st.lists(st.integers(0, 8), unique=True, max_size=8).map(sorted))
    return document(
        *(
            segment(
                f"s{at}",
                float(at),
                at + 1.0,
                draw(WORDS),
                deleted=draw(st.booleans()),
                speaker=draw(st.sampled_from("ab")),
            )
            for at in present
        )
    )


@given(documents())
def test_a_revision_does_not_differ_from_itself(one: TranscriptDocument) -> None:
    assert changed_spans(one, one) == []


@given(documents(), documents())
def test_changes_are_found_exactly_if_other_words_are_kept(one: TranscriptDocument, other: TranscriptDocument) -> None:
    """What is said differently is never missed, in either direction."""

    def said(which: TranscriptDocument) -> list[tuple[str, str]]:
        return [(word, each.speaker) for each in which.kept for word in each.text.split()]

    spans = changed_spans(one, other)
    if said(one) != said(other):
        assert spans
    for span in spans:
        assert 0 <= span.start_seconds <= span.end_seconds <= 9
    assert bool(spans) == bool(changed_spans(other, one))


@given(documents(), st.integers(0, 8))
def test_a_change_of_one_segment_stays_in_its_time(one: TranscriptDocument, at: int) -> None:
    edited = tuple(replace(each, text="other words") if each.id == f"s{at}" else each for each in one.segments)
    for span in changed_spans(one, TranscriptDocument(edited)):
        assert at <= span.start_seconds <= span.end_seconds <= at + 1
