"""Passage splitting, voice ids, output formats and WAV headers."""

import io
import wave

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.capabilities.rules import stock_voice_id
from cutroom.products.speech.rules import (
    FIRST_CHARACTERS,
    FORMATS,
    MODEL_ID,
    PARAGRAPH_PAUSE_SECONDS,
    PASSAGE_CHARACTERS,
    SENTENCE_PAUSE_SECONDS,
    fingerprint,
    is_model,
    is_voice_id,
    new_voice_id,
    speech_passages,
    wav_header,
)

SENTENCE = "The old bridge was closed in spring, and nobody has crossed it since then."


def test_voice_ids_are_twenty_alphanumeric_characters() -> None:
    ids = {new_voice_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(is_voice_id(each) and each.isalnum() and len(each) == 20 for each in ids)


def test_stock_voice_ids_are_deterministic() -> None:
    assert stock_voice_id("kokoro", "af_heart") == stock_voice_id("kokoro", "af_heart")
    assert stock_voice_id("kokoro", "af_heart") != stock_voice_id("kokoro", "am_adam")
    assert is_voice_id(stock_voice_id("kokoro", "af_heart"))


@pytest.mark.parametrize(
    ("model", "known"),
    [(MODEL_ID, True), ("eleven_multilingual_v2", True), ("tts-1", False), ("", False), ("eleven_" + "a" * 80, False)],
)
def test_known_model_ids(model: str, known: bool) -> None:  # noqa: FBT001
    assert is_model(model) is known


def test_short_text_is_one_passage_without_a_pause() -> None:
    assert [(each.text, each.pause_seconds) for each in speech_passages("  Hello  there. ")] == [("Hello there.", 0.0)]


def test_first_passage_is_short_and_passages_end_with_sentences() -> None:
    found = speech_passages(" ".join([SENTENCE] * 20))
    assert len(found[0].text) <= FIRST_CHARACTERS
    assert all(len(each.text) <= PASSAGE_CHARACTERS and each.text.endswith(".") for each in found)
    assert {each.pause_seconds for each in found[:-1]} == {SENTENCE_PAUSE_SECONDS}
    assert found[-1].pause_seconds == 0


def test_paragraphs_have_longer_pauses() -> None:
    found = speech_passages("One thing.\n\nAnother thing.\n \n***\n\nThe last.")
    assert [each.text for each in found] == ["One thing.", "Another thing.", "The last."]
    assert [each.pause_seconds for each in found] == [PARAGRAPH_PAUSE_SECONDS, PARAGRAPH_PAUSE_SECONDS, 0]


@given(st.lists(st.text(alphabet="abc ,.!?;\n", min_size=1, max_size=400), max_size=8).map(" ".join))
def test_every_word_is_in_exactly_one_passage(text: str) -> None:
    joined = " ".join(each.text for each in speech_passages(text))
    assert _letters(joined) == _letters(text)
    assert all(len(each.text) <= PASSAGE_CHARACTERS for each in speech_passages(text))


def _letters(text: str) -> list[str]:
    """Letters only, because words longer than a passage are split."""
    return [letter for letter in text if letter.isalnum()]


@pytest.mark.parametrize("size", [0, 2, 48_000])
def test_wav_header_is_readable(size: int) -> None:
    with wave.open(io.BytesIO(wav_header(24_000, size) + bytes(size))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        assert len(file.readframes(-1 if size else 0)) == size


def test_wav_header_of_unknown_size_declares_the_maximum() -> None:
    header = wav_header(24_000, None)
    assert header[4:8] == b"\xff\xff\xff\xff"
    assert len(header) == 44


@pytest.mark.parametrize(
    ("name", "media_type", "rate", "concatenable"),
    [
        ("wav", "audio/wav", 24_000, True),
        ("pcm_16000", "audio/pcm", 16_000, True),
        ("mp3_44100_128", "audio/mpeg", 44_100, True),
        ("opus_48000_64", "audio/ogg", 48_000, False),
        ("ulaw_8000", "audio/basic", 8_000, True),
    ],
)
def test_output_formats(name: str, media_type: str, rate: int, concatenable: bool) -> None:  # noqa: FBT001
    output_format = FORMATS[name]
    assert (output_format.media_type, output_format.sample_rate, output_format.is_concatenable) == (
        media_type,
        rate,
        concatenable,
    )


def test_fingerprint_depends_on_values_but_not_on_order() -> None:
    one = fingerprint({"text": "a", "speed": 1.0})
    assert one == fingerprint({"speed": 1.0, "text": "a"})
    assert one != fingerprint({"text": "a", "speed": 1.1})
