"""How texts are cut, what voices are called, and how sound is written."""

import io
import wave

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    passages,
    service_voice_id,
    wav_header,
)

SENTENCE = "The old bridge was closed in spring, and nobody has crossed it since then."


def test_voice_ids_are_twenty_letters_and_digits() -> None:
    ids = {new_voice_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(is_voice_id(each) and each.isalnum() and len(each) == 20 for each in ids)


def test_an_engines_voice_has_the_same_id_everywhere() -> None:
    assert service_voice_id("kokoro", "af_heart") == service_voice_id("kokoro", "af_heart")
    assert service_voice_id("kokoro", "af_heart") != service_voice_id("kokoro", "am_adam")
    assert is_voice_id(service_voice_id("kokoro", "af_heart"))


@pytest.mark.parametrize(
    ("model", "known"),
    [(MODEL_ID, True), ("eleven_multilingual_v2", True), ("tts-1", False), ("", False), ("eleven_" + "a" * 80, False)],
)
def test_which_models_are_ours(model: str, known: bool) -> None:  # noqa: FBT001
    assert is_model(model) is known


def test_a_short_text_is_one_passage_without_a_pause() -> None:
    assert [(each.text, each.pause_seconds) for each in passages("  Hello  there. ")] == [("Hello there.", 0.0)]


def test_the_first_passage_is_short_and_the_others_end_with_sentences() -> None:
    found = passages(" ".join([SENTENCE] * 20))
    assert len(found[0].text) <= FIRST_CHARACTERS
    assert all(len(each.text) <= PASSAGE_CHARACTERS and each.text.endswith(".") for each in found)
    assert {each.pause_seconds for each in found[:-1]} == {SENTENCE_PAUSE_SECONDS}
    assert found[-1].pause_seconds == 0


def test_paragraphs_are_further_apart() -> None:
    found = passages("One thing.\n\nAnother thing.\n \n***\n\nThe last.")
    assert [each.text for each in found] == ["One thing.", "Another thing.", "The last."]
    assert [each.pause_seconds for each in found] == [PARAGRAPH_PAUSE_SECONDS, PARAGRAPH_PAUSE_SECONDS, 0]


@given(st.lists(st.text(alphabet="abc ,.!?;\n", min_size=1, max_size=400), max_size=8).map(" ".join))
def test_no_word_is_lost_or_doubled(text: str) -> None:
    read = " ".join(each.text for each in passages(text))
    assert _words(read) == _words(text)
    assert all(len(each.text) <= PASSAGE_CHARACTERS for each in passages(text))


def _words(text: str) -> list[str]:
    """Letters alone, for a word that is longer than a passage has to be cut."""
    return [letter for letter in text if letter.isalnum()]


@pytest.mark.parametrize("size", [0, 2, 48_000])
def test_a_wav_head_is_what_readers_expect(size: int) -> None:
    with wave.open(io.BytesIO(wav_header(24_000, size) + bytes(size))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        assert len(file.readframes(-1 if size else 0)) == size


def test_a_head_with_an_open_end_is_as_long_as_the_form_allows() -> None:
    head = wav_header(24_000, None)
    assert head[4:8] == b"\xff\xff\xff\xff"
    assert len(head) == 44


@pytest.mark.parametrize(
    ("name", "kind", "rate", "joins"),
    [
        ("wav", "audio/wav", 24_000, True),
        ("pcm_16000", "audio/pcm", 16_000, True),
        ("mp3_44100_128", "audio/mpeg", 44_100, True),
        ("opus_48000_64", "audio/ogg", 48_000, False),
        ("ulaw_8000", "audio/basic", 8_000, True),
    ],
)
def test_forms_that_clients_ask_for(name: str, kind: str, rate: int, joins: bool) -> None:  # noqa: FBT001
    form = FORMATS[name]
    assert (form.media_type, form.sample_rate, form.joins) == (kind, rate, joins)


def test_a_fingerprint_tells_every_part_and_no_order() -> None:
    one = fingerprint({"text": "a", "speed": 1.0})
    assert one == fingerprint({"speed": 1.0, "text": "a"})
    assert one != fingerprint({"text": "a", "speed": 1.1})
