"""Spectral gating reduces noise without hurting intelligibility."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.separation.spectral_gate import BLOCK_SECONDS, SpectralGate
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import Clip, clips_folder, ensure_clips, join_clips, noise, sentences, silence
from tests.engines.synthesis.synthesizer_suite import error_rate

if TYPE_CHECKING:
    from cutroom.engines.types import Samples


@pytest.fixture(scope="module")
def clip() -> Clip:
    joined, _ = join_clips(sentences(ensure_clips(clips_folder()))[:3], pause_seconds=(0.6,))
    return joined


def noisy(clip: Clip, *, ratio_db: float) -> "Samples":
    hiss = noise(clip.seconds, level=1.0, seed=3)[: len(clip.samples)]
    level = np.sqrt(np.square(clip.samples).mean() / 10 ** (ratio_db / 10))
    mixed: Samples = (clip.samples + level * hiss).astype(np.float32)
    return mixed


def ratio_db(estimate: "Samples", clean: "Samples") -> float:
    """Scale-invariant signal-to-distortion ratio."""
    signal = (estimate @ clean) / (clean @ clean) * clean
    return float(10 * np.log10((signal @ signal) / np.square(estimate - signal).sum()))


def test_noise_is_reduced_and_words_are_kept(clip: Clip) -> None:
    noisy_samples = noisy(clip, ratio_db=5.0)
    denoised = SpectralGate().denoise(noisy_samples, sample_rate=SAMPLE_RATE)
    assert ratio_db(denoised, clip.samples) > ratio_db(noisy_samples, clip.samples) + 5
    before = error_rate(SynthesizedSpeech(noisy_samples, SAMPLE_RATE), clip.text)
    after = error_rate(SynthesizedSpeech(denoised, SAMPLE_RATE), clip.text)
    assert after <= before + 0.03


def test_clean_speech_is_preserved(clip: Clip) -> None:
    denoised = SpectralGate().denoise(clip.samples, sample_rate=SAMPLE_RATE)
    assert len(denoised) == len(clip.samples)
    assert ratio_db(denoised, clip.samples) > 15


def test_long_recordings_have_no_seams() -> None:
    noisy_samples = noise(2.5 * BLOCK_SECONDS, level=0.1)
    denoised = SpectralGate().denoise(noisy_samples, sample_rate=SAMPLE_RATE)
    assert len(denoised) == len(noisy_samples)
    loudness = np.sqrt(np.square(denoised.reshape(-1, SAMPLE_RATE // 2)).mean(axis=1))
    assert loudness.max() < 4 * np.median(loudness)


@pytest.mark.parametrize("samples", [np.zeros(0, np.float32), silence(0.1), np.zeros(SAMPLE_RATE, np.float32)])
def test_short_and_silent_audio_is_handled(samples: "Samples") -> None:
    denoised = SpectralGate().denoise(samples, sample_rate=SAMPLE_RATE)
    assert len(denoised) == len(samples)
    assert np.isfinite(denoised).all()


def test_invalid_audio_is_rejected() -> None:
    with pytest.raises(EngineError):
        SpectralGate().denoise(np.full(SAMPLE_RATE, np.nan, np.float32), sample_rate=SAMPLE_RATE)
    with pytest.raises(EngineError):
        SpectralGate().denoise(np.zeros((2, SAMPLE_RATE), np.float32), sample_rate=SAMPLE_RATE)
