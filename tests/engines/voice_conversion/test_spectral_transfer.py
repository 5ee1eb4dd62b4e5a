"""Spectral transfer gives a stock voice the timbre and pitch of a reference."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.samples import resample
from cutroom.engines.synthesis.chunks import EDGE_SECONDS, trim_silence
from cutroom.engines.synthesis.port import Gender, StockVoice, SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE
from cutroom.engines.voice_conversion import spectral_transfer
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio, VoiceCloner
from cutroom.engines.voice_conversion.spectral_transfer import (
    CHUNK_SECONDS,
    SpectralTransferCloner,
    VoiceFeatures,
    _chunks,
    nearest_voice,
)
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.synthesis.synthesizer_suite import TEXT, kokoro, kokoro_speech
from tests.engines.voice_conversion.cloner_suite import VoiceClonerSuite, reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cutroom.engines.voice_conversion.spectral_transfer import Floats


class CachedKokoro:
    """Kokoro with cached output."""

    name = "kokoro-int8"
    requested_voices: "list[str]"

    def __init__(self) -> None:
        self.requested_voices = []

    def voices(self) -> "Sequence[StockVoice]":
        return kokoro().voices()

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        self.requested_voices.append(voice)
        return kokoro_speech(text, voice, language, speed)

    def predict_seconds(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> float | None:
        return kokoro().predict_seconds(text, voice=voice, language=language, speed=speed)


@pytest.fixture(scope="module")
def cached_kokoro() -> CachedKokoro:
    return CachedKokoro()


@pytest.fixture(scope="module")
def transfer(cached_kokoro: CachedKokoro) -> SpectralTransferCloner:
    return SpectralTransferCloner(cached_kokoro, model_folder("whisper-base"), cpu_threads=2)


class TestTransfer(VoiceClonerSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def cloner(cls, transfer: SpectralTransferCloner) -> VoiceCloner | Iterator[VoiceCloner]:
        return transfer

    @pytest.fixture(scope="class")
    @classmethod
    def converted(cls, transfer: SpectralTransferCloner, spoken: SynthesizedSpeech) -> VoiceFeatures:
        return transfer._analyze(spoken.samples)

    def test_pitch_moves_toward_the_reference(
        self, transfer: SpectralTransferCloner, cached_kokoro: CachedKokoro, converted: VoiceFeatures
    ) -> None:
        stock = transfer._analyze(kokoro_speech(TEXT, cached_kokoro.requested_voices[-1], "en").samples)
        wanted, before, after = (
            spectral_transfer.median_pitch(each.pitch_hz)
            for each in (transfer._reference_features(reference()), stock, converted)
        )
        voice = next(each for each in kokoro().voices() if each.name == cached_kokoro.requested_voices[-1])
        assert after == pytest.approx(before * spectral_transfer.pitch_factor(voice.pitch_hz, wanted), rel=0.06)
        assert voice.gender is Gender.MALE

    def test_timbre_moves_toward_the_reference(
        self, transfer: SpectralTransferCloner, cached_kokoro: CachedKokoro, converted: VoiceFeatures
    ) -> None:
        def timbre(voice: VoiceFeatures) -> "Floats":
            mean: Floats = voice.envelope[voice.is_voiced].mean(axis=0)[:300]  # up to 7 kHz
            return mean

        base = timbre(transfer._analyze(kokoro_speech(TEXT, cached_kokoro.requested_voices[-1], "en").samples))
        expected = timbre(transfer._reference_features(reference()))
        assert np.abs(timbre(converted) - expected).mean() < 0.7 * np.abs(base - expected).mean()

    def test_duration_is_about_that_of_the_stock_voice(
        self, cached_kokoro: CachedKokoro, spoken: SynthesizedSpeech
    ) -> None:
        """Not exactly: a voice that is asked to speak faster does so by less."""
        base = kokoro_speech(TEXT, cached_kokoro.requested_voices[-1], "en")
        assert len(spoken.samples) == pytest.approx(len(base.samples), rel=0.08)

    def test_duration_is_predicted(self, transfer: SpectralTransferCloner, spoken: SynthesizedSpeech) -> None:
        predicted = transfer.predict_seconds(TEXT, reference=reference(), language="en")
        trimmed = trim_silence(spoken.samples, REFERENCE_RATE)
        assert predicted == pytest.approx(len(trimmed) / REFERENCE_RATE - 2 * EDGE_SECONDS, rel=0.1)


@pytest.mark.parametrize(("wanted", "factor"), [(100.0, 1.0), (81.0, 0.9), (121.0, 1.1), (300.0, 1.18), (0.0, 1.0)])
def test_pitch_moves_half_way_within_bounds(wanted: float, factor: float) -> None:
    assert spectral_transfer.pitch_factor(100.0, wanted) == pytest.approx(factor)


def test_gain_of_zero_changes_nothing() -> None:
    samples = np.random.default_rng(1).normal(0, 0.1, 3 * REFERENCE_RATE + 17).astype(np.float32)
    gain = np.zeros((301, 513))
    assert np.allclose(spectral_transfer.apply_gain(samples, gain), samples, atol=1e-6)


def test_gain_filters_its_frames_and_frequencies() -> None:
    time = np.arange(REFERENCE_RATE) / REFERENCE_RATE
    samples = (np.sin(2 * np.pi * 1_000 * time) + np.sin(2 * np.pi * 6_000 * time)).astype(np.float32)
    gain = np.zeros((101, 513))
    gain[50:, 200:] = -3.0  # in the second half, above 4.7 kHz
    spectra = [np.abs(np.fft.rfft(half)) for half in np.split(spectral_transfer.apply_gain(samples, gain), 2)]
    assert spectra[0][3_000] == pytest.approx(spectra[0][500], rel=0.05)
    assert spectra[1][3_000] < 0.15 * spectra[1][500]


def test_reference_features_are_cached(transfer: SpectralTransferCloner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectral_transfer, "CACHED_REFERENCES", 1)
    first = reference()  # the conformance suite has left it in the cache
    features = transfer._reference_features(first)
    assert transfer._reference_features(first) is features
    transfer._reference_features(reference(seconds=3.2))
    assert list(transfer._references) == [reference(seconds=3.2).fingerprint]


def test_invalid_reference_is_rejected(transfer: SpectralTransferCloner) -> None:
    silent = np.zeros(4 * REFERENCE_RATE, np.float32)
    with pytest.raises(EngineError, match="No voice"):
        transfer.synthesize(TEXT, reference=ReferenceAudio(silent, "silent"), language="en")
    with pytest.raises(EngineError, match="shorter"):
        transfer.synthesize(TEXT, reference=ReferenceAudio(silent[:REFERENCE_RATE], "short"), language="en")
    with pytest.raises(EngineError, match="finite"):
        transfer.synthesize(TEXT, reference=ReferenceAudio(silent * np.float32(np.nan), "nan"), language="en")


@pytest.mark.parametrize(
    ("language", "pitch_hz", "expected"),
    [("en-US", 100, "deep"), ("en", 125, "high"), ("en", 210, "woman"), ("pt", 90, "only"), ("pt-BR", 210, "only")],
)
def test_nearest_voice_by_language_gender_and_pitch(language: str, pitch_hz: float, expected: str) -> None:
    voices = [
        StockVoice("deep", "", "en-US", Gender.MALE, "old", 90.0),
        StockVoice("high", "", "en-US", Gender.MALE, "young", 130.0),
        StockVoice("woman", "", "en-GB", Gender.FEMALE, "young", 190.0),
        StockVoice("only", "", "pt-BR", Gender.FEMALE, "young", 200.0),
    ]
    assert nearest_voice(voices, language=language, pitch_hz=pitch_hz).name == expected


def test_long_audio_is_cut_at_a_quiet_point() -> None:
    audio = np.ones(70 * REFERENCE_RATE, np.float32)
    audio[20 * REFERENCE_RATE : 20 * REFERENCE_RATE + 2000] = 0
    chunks = list(_chunks(audio))
    assert len(np.concatenate(chunks)) == len(audio)
    assert all(len(chunk) <= CHUNK_SECONDS * REFERENCE_RATE for chunk in chunks)
    assert len(chunks[0]) / REFERENCE_RATE == pytest.approx(20, abs=0.1)


def test_resampling_preserves_a_tone() -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(REFERENCE_RATE) / REFERENCE_RATE).astype(np.float32)
    expected = np.sin(2 * np.pi * 440 * np.arange(SAMPLE_RATE) / SAMPLE_RATE)
    assert np.abs(resample(tone, REFERENCE_RATE, SAMPLE_RATE) - expected).max() < 0.01


def test_missing_model_is_unavailable(cached_kokoro: CachedKokoro, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="is missing"):
        SpectralTransferCloner(cached_kokoro, tmp_path, cpu_threads=1)
