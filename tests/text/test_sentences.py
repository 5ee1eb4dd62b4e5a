"""Transcripts are cut where nobody ends a sentence, and hold several sentences in one segment."""

import pytest

from cutroom.engines.writing.port import SpokenSegment
from cutroom.text.sentences import split, spoken_sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Reid paid 3.5 euros. He left.", ["Dr. Reid paid 3.5 euros.", "He left."]),
        ("Está bien. ¿Y tú?", ["Está bien.", "¿Y tú?"]),
        ("うどんです。生地です。", ["うどんです。", "生地です。"]),
        ("", []),
    ],
)
def test_sentences_are_taken_apart(text: str, parts: list[str]) -> None:
    assert split(text) == parts


def test_each_part_has_its_share_of_the_time() -> None:
    first, second = spoken_sentences([SpokenSegment("Four. Four.", 10.0, 20.0, "a")])
    assert (first.start_seconds, second.end_seconds) == (10.0, 20.0)
    assert first.end_seconds == second.start_seconds == 15.0


def test_a_sentence_goes_on_in_the_next_segment_of_its_speaker() -> None:
    said = [
        SpokenSegment("The hose is", 0.0, 1.0, "a"),
        SpokenSegment("very long.", 1.2, 2.0, "a"),
        SpokenSegment("it leaks.", 2.1, 3.0, "b"),
    ]
    assert [each.text for each in spoken_sentences(said)] == ["The hose is very long.", "it leaks."]


def test_after_a_pause_it_does_not() -> None:
    said = [SpokenSegment("The hose is", 0.0, 1.0, "a"), SpokenSegment("very long.", 9.0, 10.0, "a")]
    assert len(spoken_sentences(said)) == 2


def test_segments_come_in_the_order_of_time() -> None:
    said = [SpokenSegment("Second.", 5.0, 6.0), SpokenSegment("First.", 1.0, 2.0), SpokenSegment(" \n", 0.0, 1.0)]
    assert [each.text for each in spoken_sentences(said)] == ["First.", "Second."]
