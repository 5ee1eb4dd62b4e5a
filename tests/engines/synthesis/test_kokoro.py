"""Kokoro speaks, in the languages that it has phonemes for."""

# ruff: noqa: RUF001 (phonemes look like letters)

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.synthesis.kokoro import EDGE_SECONDS, MAX_PHONEMES, SPEECH_RATE, KokoroSynthesizer, split, trim
from cutroom.engines.synthesis.kokoro_voices import VOICES
from cutroom.engines.synthesis.phonemes import NUMBERS, Espeak
from cutroom.engines.synthesis.port import SpeechSynthesizer
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.synthesis.synthesizer_suite import SpeakerSuite, error_rate, kokoro, said


class TestKokoro(SpeakerSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def speaker(cls) -> SpeechSynthesizer:
        return kokoro()


@pytest.mark.parametrize(
    ("language", "voice", "text"),
    [
        ("en", "am_michael", "The little boat came back to the harbor before the storm."),
        ("pt-BR", "pf_dora", "O barco voltou ao porto antes da tempestade."),
        ("es", "ef_dora", "El barco volvió al puerto antes de la tormenta."),
    ],
)
def test_what_is_said_is_understood(language: str, voice: str, text: str) -> None:
    assert error_rate(said(text, voice, language), text, language.partition("-")[0]) <= 0.13


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en-US", "Hello, world!", "həlˈO, wˈɜɹld!"),
        ("en-GB", "Go there.", "ɡˌQ ðˈɛː."),
        ("es", "¿Qué tal?", "kˈe tˈal?"),
        ("pt-BR", "Olá! Tudo bem?", "olˈa! tˈudʊ bˈAŋ?"),
        ("en-US", "[[hello]]", "((həlˈO))"),
        ("en-US", "...", ""),
        ("en-US", "-x", "ˈɛks"),
    ],
)
def test_phonemes_are_the_model_s(language: str, text: str, expected: str) -> None:
    assert Espeak().phonemes(text, language=language) == expected


def test_every_language_of_a_voice_has_phonemes() -> None:
    for language in {voice.language for voice in VOICES}:
        assert Espeak().phonemes("a" if language != "hi" else "नमस्ते", language=language)


def test_the_order_of_words_holds_over_many_clauses_and_without_any_mark() -> None:
    text = "one two three four, " * 100 + "one two three four " * 100
    phonemes = Espeak().phonemes(text, language="en-US")
    assert phonemes.count("θɹˈi") == 200
    assert set(phonemes) <= set(NUMBERS)


@pytest.mark.parametrize("language", ["de", "ja", "zh", "tlh", ""])
def test_a_language_without_phonemes_is_refused(language: str) -> None:
    with pytest.raises(EngineError, match="phonemes"):
        kokoro().speak("Guten Tag.", voice="af_heart", language=language)


def test_parts_are_short_enough_and_lose_nothing() -> None:
    phonemes = ". ".join(["həlˈO wˈɜɹld"] * 200) + "a" * 1200
    parts = list(split(phonemes))
    assert all(0 < len(part) <= MAX_PHONEMES for part in parts)
    assert "".join(parts).replace(" ", "") == phonemes.replace(" ", "")
    assert all(left.endswith(".") for left, _ in pairwise(parts[:5]))


def test_silence_at_the_ends_is_short() -> None:
    tone = np.sin(np.arange(SPEECH_RATE) / 20).astype(np.float32)
    quiet = np.zeros(SPEECH_RATE, np.float32)
    kept = trim(np.concatenate([quiet, tone, quiet]))
    assert len(kept) / SPEECH_RATE == pytest.approx(1 + 2 * EDGE_SECONDS, abs=0.03)


def test_voices_are_of_the_languages_that_are_served() -> None:
    assert {voice.language for voice in kokoro().voices()} == {"en-US", "en-GB", "es", "fr", "hi", "it", "pt-BR"}
    assert all(60 < voice.pitch_hz < 300 for voice in VOICES)


def test_a_missing_model_voice_or_program_is_unavailable(tmp_path: Path) -> None:
    model, voices = model_folder("kokoro-int8"), model_folder("kokoro-voices")
    with pytest.raises(EngineUnavailableError, match="voices"):
        KokoroSynthesizer(model, tmp_path, cpu_threads=1)
    with pytest.raises(EngineUnavailableError, match="cannot be loaded"):
        KokoroSynthesizer(tmp_path, voices, cpu_threads=1)
    with pytest.raises(EngineUnavailableError, match="espeak-ng is not installed"):
        Espeak(tmp_path / "espeak-ng").phonemes("hello", language="en")
