"""Splitting of words into segments."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.transcripts.segmentation import (
    MAX_CHARACTERS,
    MAX_SECONDS,
    PAUSE_SECONDS,
    TranscriptSegment,
    split_segments,
)
from cutroom.products.transcripts.sentence_boundaries import ends_sentence


@dataclass(frozen=True, slots=True)
class SpokenWord:
    text: str
    start_seconds: float
    end_seconds: float
    speaker: str = "A"


def speaker_of(word: object) -> str:
    assert isinstance(word, SpokenWord)
    return word.speaker


def say(text: str, *, start: float = 0.0, speaker: str = "A", word_seconds: float = 0.4) -> list[SpokenWord]:
    """Words with timing; `|` is a pause of two seconds, and `/` of half a second."""
    words = []
    for word in text.split():
        if word in {"|", "/"}:
            start += 2.0 if word == "|" else 0.5
            continue
        words.append(SpokenWord(word, start, start + word_seconds, speaker))
        start += word_seconds
    return words


def texts(segments: list[TranscriptSegment]) -> list[str]:
    return [segment.text for segment in segments]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "It works. Does it? Yes! Good", ["It works.", "Does it?", "Yes!", "Good"]),
        ("en", "Mr. Smith met Dr. Jones at 5 p.m. in St. Ives.", ["Mr. Smith met Dr. Jones at 5 p.m. in St. Ives."]),
        ("en", "We left at 5 p.m. / Then it rained.", ["We left at 5 p.m.", "Then it rained."]),
        ("en", "The U.S. Army has 3.5 tons, e.g. Jeeps.", ["The U.S. Army has 3.5 tons, e.g. Jeeps."]),
        ("en", "He lives in the U.S. / She does not.", ["He lives in the U.S.", "She does not."]),
        ("en", "J. R. Smith wrote it.", ["J. R. Smith wrote it."]),
        ("en", "Yes, sir. Thank you.", ["Yes, sir.", "Thank you."]),
        ("en", "He said no. Then he left No. 5 alone.", ["He said no.", "Then he left No. 5 alone."]),
        ("en", "“Why?” he asked. “Because.” She left.", ["“Why?” he asked.", "“Because.”", "She left."]),
        ("en", "Well... maybe. So... What?", ["Well... maybe.", "So...", "What?"]),
        ("de", "Am 3. Oktober, z.B. Berlin. Und dann?", ["Am 3. Oktober, z.B. Berlin.", "Und dann?"]),
        ("pt", "O Sr. Silva chegou. A Dra. Lima não.", ["O Sr. Silva chegou.", "A Dra. Lima não."]),
        ("es", "¿Qué pasa? ¡Nada! El Sr. Ruiz duerme.", ["¿Qué pasa?", "¡Nada!", "El Sr. Ruiz duerme."]),
        ("fr", "M. Dupont et Mme. Petit arrivent. Enfin !", ["M. Dupont et Mme. Petit arrivent.", "Enfin !"]),
        ("ja", "今日 は 晴れ です 。 明日 は 雨 です 。", ["今日は晴れです。", "明日は雨です。"]),
        ("hi", "यह अच्छा है। वह नहीं।", ["यह अच्छा है।", "वह नहीं।"]),
    ],
)
def test_segments_are_sentences(language: str, text: str, expected: list[str]) -> None:
    assert texts(split_segments(say(text), speaker_of, language=language)) == expected


def test_long_pause_ends_a_segment() -> None:
    assert texts(split_segments(say("so I thought | never mind"), speaker_of, language="en")) == [
        "so I thought",
        "never mind",
    ]


def test_speaker_change_ends_a_segment() -> None:
    words = [*say("and then I", speaker="A"), *say("no you did not", start=1.2, speaker="B")]
    segments = split_segments(words, speaker_of, language="en")
    assert [(each.speaker, each.text) for each in segments] == [("A", "and then I"), ("B", "no you did not")]
    assert (segments[0].start_seconds, segments[0].end_seconds) == pytest.approx((0.0, 1.2))


def test_long_sentence_is_split_at_a_clause_near_the_middle() -> None:
    clause = "and the wind went on and on over the hills"
    text = ", ".join([clause] * 6) + "."
    segments = split_segments(say(text), speaker_of, language="en")
    assert len(segments) == 2
    assert all(each.text.endswith(("hills,", "hills.")) for each in segments)


def test_long_text_without_punctuation_is_split_at_pauses() -> None:
    segments = split_segments(
        say("one two three four five " * 6 + "/ " + "six seven eight nine ten " * 6), speaker_of, language="en"
    )
    assert [each.text.split()[0] for each in segments] == ["one", "six"]


@pytest.mark.parametrize(("pause", "ends"), [(0.0, False), (0.5, True)])
def test_abbreviation_ends_a_sentence_only_before_a_pause(pause: float, *, ends: bool) -> None:
    assert ends_sentence("etc.", "Then", pause_seconds=pause, language="en") is ends


@given(
    st.lists(
        st.tuples(
            st.text("abcAB.,?!13", min_size=1, max_size=30),
            st.floats(0, 3),
            st.sampled_from([0.0, 0.2, 1.0, 2.0]),
            st.sampled_from("AAAB"),
        ),
        max_size=150,
    )
)
def test_every_word_is_kept_and_segments_are_bounded(drawn: list[tuple[str, float, float, str]]) -> None:
    words, now = [], 0.0
    for text, seconds, pause, speaker in drawn:
        words.append(SpokenWord(text, now, now + seconds, speaker))
        now += seconds + pause
    segments = split_segments(words, speaker_of, language="en")
    assert [word for each in segments for word in each.words] == words
    for each in segments:
        assert {speaker_of(word) for word in each.words} == {each.speaker}
        assert each.text == " ".join(word.text for word in each.words)
        if len(each.words) > 1:
            assert each.end_seconds - each.start_seconds <= MAX_SECONDS
            assert len(each.text) <= MAX_CHARACTERS
        ends, starts = each.words[:-1], each.words[1:]
        pauses = [right.start_seconds - left.end_seconds for left, right in zip(ends, starts, strict=True)]
        assert max(pauses, default=0.0) <= PAUSE_SECONDS
