"""Sentences are split within segments and joined across them."""

import pytest

from cutroom.text.sentences import SpokenSegment, sentence_segments, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Reid paid 3.5 euros. He left.", ["Dr. Reid paid 3.5 euros.", "He left."]),
        ("Está bien. ¿Y tú?", ["Está bien.", "¿Y tú?"]),
        ("うどんです。生地です。", ["うどんです。", "生地です。"]),
        ("", []),
    ],
)
def test_text_is_split_into_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_sentence_time_is_proportional_to_length() -> None:
    first, second = sentence_segments([SpokenSegment("Four. Four.", 10.0, 20.0, "a")])
    assert (first.start_seconds, second.end_seconds) == (10.0, 20.0)
    assert first.end_seconds == second.start_seconds == 15.0


def test_sentence_continues_in_next_segment_of_the_speaker() -> None:
    segments = [
        SpokenSegment("The hose is", 0.0, 1.0, "a"),
        SpokenSegment("very long.", 1.2, 2.0, "a"),
        SpokenSegment("it leaks.", 2.1, 3.0, "b"),
    ]
    assert [each.text for each in sentence_segments(segments)] == ["The hose is very long.", "it leaks."]


def test_sentence_does_not_continue_after_a_pause() -> None:
    segments = [SpokenSegment("The hose is", 0.0, 1.0, "a"), SpokenSegment("very long.", 9.0, 10.0, "a")]
    assert len(sentence_segments(segments)) == 2


def test_segments_are_sorted_by_time() -> None:
    segments = [SpokenSegment("Second.", 5.0, 6.0), SpokenSegment("First.", 1.0, 2.0), SpokenSegment(" \n", 0.0, 1.0)]
    assert [each.text for each in sentence_segments(segments)] == ["First.", "Second."]
