"""Noise goes, words stay."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.separation.spectral_gate import BLOCK_SECONDS, SpectralGate
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import Clip, clips_folder, ensure_clips, join, noise, sentences, silence
from tests.engines.synthesis.synthesizer_suite import error_rate

if TYPE_CHECKING:
    from cutroom.engines.types import Samples


@pytest.fixture(scope="module")
def clip() -> Clip:
    joined, _ = join(sentences(ensure_clips(clips_folder()))[:3], pause_seconds=(0.6,))
    return joined


def noisy(clip: Clip, *, ratio_db: float) -> "Samples":
    hiss = noise(clip.seconds, level=1.0, seed=3)[: len(clip.samples)]
    level = np.sqrt(np.square(clip.samples).mean() / 10 ** (ratio_db / 10))
    mixed: Samples = (clip.samples + level * hiss).astype(np.float32)
    return mixed


def ratio_db(heard: "Samples", clean: "Samples") -> float:
    """Of what is like the clean sound to all that is not."""
    like = (heard @ clean) / (clean @ clean) * clean
    return float(10 * np.log10((like @ like) / np.square(heard - like).sum()))


def test_at_5_db_the_noise_is_less_and_the_words_are_the_same(clip: Clip) -> None:
    given = noisy(clip, ratio_db=5.0)
    cleaned = SpectralGate().clean(given, sample_rate=SAMPLE_RATE)
    assert ratio_db(cleaned, clip.samples) > ratio_db(given, clip.samples) + 5
    before = error_rate(SynthesizedSpeech(given, SAMPLE_RATE), clip.text)
    after = error_rate(SynthesizedSpeech(cleaned, SAMPLE_RATE), clip.text)
    assert after <= before + 0.03


def test_clean_speech_stays_as_it_is(clip: Clip) -> None:
    cleaned = SpectralGate().clean(clip.samples, sample_rate=SAMPLE_RATE)
    assert len(cleaned) == len(clip.samples)
    assert ratio_db(cleaned, clip.samples) > 15


def test_long_recordings_go_block_by_block_without_a_seam() -> None:
    given = noise(2.5 * BLOCK_SECONDS, level=0.1)
    cleaned = SpectralGate().clean(given, sample_rate=SAMPLE_RATE)
    assert len(cleaned) == len(given)
    loudness = np.sqrt(np.square(cleaned.reshape(-1, SAMPLE_RATE // 2)).mean(axis=1))
    assert loudness.max() < 4 * np.median(loudness)


@pytest.mark.parametrize("samples", [np.zeros(0, np.float32), silence(0.1), np.zeros(SAMPLE_RATE, np.float32)])
def test_short_and_silent_sound_does_no_harm(samples: "Samples") -> None:
    cleaned = SpectralGate().clean(samples, sample_rate=SAMPLE_RATE)
    assert len(cleaned) == len(samples)
    assert np.isfinite(cleaned).all()


def test_what_is_no_sound_is_refused() -> None:
    with pytest.raises(EngineError):
        SpectralGate().clean(np.full(SAMPLE_RATE, np.nan, np.float32), sample_rate=SAMPLE_RATE)
    with pytest.raises(EngineError):
        SpectralGate().clean(np.zeros((2, SAMPLE_RATE), np.float32), sample_rate=SAMPLE_RATE)
