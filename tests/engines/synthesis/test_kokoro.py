"""Kokoro synthesis: intelligibility, phonemes, chunking and missing files."""

# ruff: noqa: RUF001 (phonemes look like letters)

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.synthesis.chunks import EDGE_SECONDS, split_phonemes, trim_silence
from cutroom.engines.synthesis.kokoro import MAX_PHONEMES, SPEECH_RATE, KokoroSynthesizer
from cutroom.engines.synthesis.kokoro_voices import VOICES
from cutroom.engines.synthesis.phonemes import TOKEN_IDS, Espeak
from cutroom.engines.synthesis.port import SpeechSynthesizer
from cutroom.text.phonetic_spelling import marked
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.synthesis.synthesizer_suite import SynthesizerSuite, kokoro


class TestKokoro(SynthesizerSuite):
    """The conformance suite."""

    predicts_durations = True

    @pytest.fixture(scope="class")
    @classmethod
    def synthesizer(cls) -> SpeechSynthesizer:
        return kokoro()


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
def test_phonemes_use_model_symbols(language: str, text: str, expected: str) -> None:
    assert Espeak().phonemes(text, language=language) == expected


def test_words_spelled_as_phonemes_are_spoken_as_such() -> None:
    def seconds(text: str) -> float | None:
        return kokoro().predict_seconds(text, voice="af_heart", language="en-US")

    read = seconds("Hello, world!")
    assert seconds(f"Hello, {marked('wˈɜɹld')}!") == read
    assert seconds(f"Hello, {marked('ˌɪntəˌnæʃəˈnæləti')}!") != read


def test_every_voice_language_has_phonemes() -> None:
    for language in {voice.language for voice in VOICES} - {"ja", "zh-CN"}:
        assert Espeak().phonemes("a" if language != "hi" else "नमस्ते", language=language)


def test_word_order_is_kept_in_long_text() -> None:
    text = "one two three four, " * 100 + "one two three four " * 100
    phonemes = Espeak().phonemes(text, language="en-US")
    assert phonemes.count("θɹˈi") == 200
    assert set(phonemes) <= set(TOKEN_IDS)


@pytest.mark.parametrize("language", ["de", "ko", "tlh", ""])
def test_unsupported_language_is_rejected(language: str) -> None:
    with pytest.raises(EngineError, match="No voice speaks the language"):
        kokoro().synthesize("Guten Tag.", voice="af_heart", language=language)


def test_chunks_are_bounded_and_complete() -> None:
    phonemes = ". ".join(["həlˈO wˈɜɹld"] * 200) + "a" * 1200
    chunks = list(split_phonemes(phonemes))
    assert all(0 < len(chunk) <= MAX_PHONEMES for chunk in chunks)
    assert "".join(chunks).replace(" ", "") == phonemes.replace(" ", "")
    assert all(left.endswith(".") for left, _ in pairwise(chunks[:5]))


def test_silence_at_the_ends_is_trimmed() -> None:
    tone = np.sin(np.arange(SPEECH_RATE) / 20).astype(np.float32)
    silence = np.zeros(SPEECH_RATE, np.float32)
    kept = trim_silence(np.concatenate([silence, tone, silence]), SPEECH_RATE)
    assert len(kept) / SPEECH_RATE == pytest.approx(1 + 2 * EDGE_SECONDS, abs=0.03)


def test_voices_cover_the_supported_languages() -> None:
    spoken = {"en-US", "en-GB", "es", "fr", "hi", "it", "ja", "pt-BR", "zh-CN"}
    assert {voice.language for voice in kokoro().voices()} == spoken
    assert all(60 < voice.pitch_hz < 350 for voice in VOICES)


@pytest.mark.parametrize("voice", ["ff_siwis", "if_sara"])
def test_natural_speed_is_that_of_people(voice: str) -> None:
    text = {
        "ff_siwis": "Nous cherchons un appartement près de la gare.",
        "if_sara": "Cerchiamo una casa vicino al mare.",
    }[voice]
    language = next(each.language for each in VOICES if each.name == voice)
    speech = kokoro().synthesize(text, voice=voice, language=language)
    assert 10 < len(text) / (len(speech.samples) / SPEECH_RATE) < 18


@pytest.mark.parametrize(
    ("text", "voice", "language"),
    [
        ("O trem para o Rio sai às sete horas da noite.", "pm_alex", "pt-BR"),
        ("Nous cherchons un appartement près de la gare.", "ff_siwis", "fr"),
        ("We could not find out why it had stopped. " * 10, "am_michael", "en-US"),  # in two chunks
    ],
)
def test_predicted_duration_is_that_of_the_speech(text: str, voice: str, language: str) -> None:
    predicted = kokoro().predict_seconds(text, voice=voice, language=language)
    speech = kokoro().synthesize(text, voice=voice, language=language)
    spoken = len(trim_silence(speech.samples, SPEECH_RATE)) / SPEECH_RATE - 2 * EDGE_SECONDS
    assert predicted == pytest.approx(spoken, rel=0.05)


def test_missing_model_voice_or_program_is_unavailable(tmp_path: Path) -> None:
    model, voices = model_folder("kokoro-int8"), model_folder("kokoro-voices")
    with pytest.raises(EngineUnavailableError, match="voices"):
        KokoroSynthesizer(model, tmp_path, cpu_threads=1)
    with pytest.raises(EngineUnavailableError, match="cannot be loaded"):
        KokoroSynthesizer(tmp_path, voices, cpu_threads=1)
    with pytest.raises(EngineUnavailableError, match="espeak-ng is not installed"):
        Espeak(tmp_path / "espeak-ng").phonemes("hello", language="en")
