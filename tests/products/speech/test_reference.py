"""Reference audio selection and PCM conversion."""

import numpy as np
import pytest

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import TimeSpan
from cutroom.engines.voice_conversion.port import REFERENCE_RATE
from cutroom.products.speech.encoding import from_pcm, speech_to_pcm
from cutroom.products.speech.reference import (
    MAX_SECONDS,
    PEAK,
    UnusableSampleError,
    extract_reference,
    mean_embedding,
    normalize_level,
    require_single_speaker,
    select_spans,
)
from cutroom.products.speech.rules import SYNTHESIS_RATE


def test_first_spans_are_selected_until_the_limit() -> None:
    selected = select_spans([TimeSpan(0, 0.2), TimeSpan(1, 11), TimeSpan(12, 27), TimeSpan(30, 60)])
    assert selected.spans == (TimeSpan(1, 11), TimeSpan(12, 27), TimeSpan(30, 35))
    assert selected.seconds == MAX_SECONDS


@pytest.mark.parametrize(
    ("speech", "message"),
    [
        ([], "No speech was found"),
        ([TimeSpan(0, 0.3), TimeSpan(1, 1.2)], "No speech was found"),
        ([TimeSpan(0, 1.5), TimeSpan(2, 3)], "only 2.5 seconds"),
    ],
)
def test_too_little_speech_is_rejected_with_a_message(speech: list[TimeSpan], message: str) -> None:
    with pytest.raises(UnusableSampleError, match=message):
        select_spans(speech)


def embeddings(*angles: float) -> list[SpeakerEmbedding]:
    return [
        SpeakerEmbedding(TimeSpan(at * 1.5, at * 1.5 + 1.5), np.array([np.cos(angle), np.sin(angle)], np.float32))
        for at, angle in enumerate(angles)
    ]


def test_two_speakers_are_rejected_but_outliers_are_tolerated() -> None:
    require_single_speaker(embeddings(*[0.0] * 9, 1.5), same_speaker_threshold=0.5)
    with pytest.raises(UnusableSampleError, match="More than one person"):
        require_single_speaker(embeddings(*[0.0] * 6, *[1.5] * 4), same_speaker_threshold=0.5)
    require_single_speaker([], same_speaker_threshold=0.5)


def test_reference_contains_selected_spans_with_pauses() -> None:
    samples = np.ones(10 * REFERENCE_RATE, np.float32)
    reference = extract_reference(samples, select_spans([TimeSpan(1, 3), TimeSpan(5, 7)]))
    assert len(reference) / REFERENCE_RATE == pytest.approx(2 * 2.12 + 0.15, abs=0.001)
    assert reference[0] == 0
    assert reference[-1] == 0


def test_level_is_normalized_without_clipping() -> None:
    quiet = 0.001 * np.sin(np.arange(REFERENCE_RATE)).astype(np.float32)
    assert np.sqrt(np.mean(normalize_level(quiet) ** 2)) == pytest.approx(10 ** (-23 / 20), rel=0.01)
    spiky = quiet.copy()
    spiky[100] = 0.9
    assert np.abs(normalize_level(spiky)).max() == pytest.approx(PEAK, rel=0.001)
    assert not normalize_level(np.zeros(5, np.float32)).any()


def test_mean_embedding_has_unit_length() -> None:
    mean = mean_embedding(embeddings(0.0, 0.2))
    assert mean is not None
    assert np.linalg.norm(mean) == pytest.approx(1.0)
    assert mean_embedding([]) is None


def test_passage_is_faded_and_followed_by_a_pause() -> None:
    samples = np.full(SYNTHESIS_RATE, 0.5, np.float32)
    pcm = from_pcm(speech_to_pcm(SynthesizedSpeech(samples, SYNTHESIS_RATE), pause_seconds=0.25))
    assert len(pcm) == round(1.25 * SYNTHESIS_RATE)
    assert pcm[0] == 0
    assert not pcm[SYNTHESIS_RATE:].any()
    assert np.abs(np.diff(pcm)).max() < 0.01
    assert samples[0] == 0.5  # the input is not modified


def test_speech_is_resampled_to_the_synthesis_rate() -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(48_000) / 48_000).astype(np.float32)
    pcm = from_pcm(speech_to_pcm(SynthesizedSpeech(tone, 48_000), pause_seconds=0))
    assert len(pcm) == SYNTHESIS_RATE
    peak = np.abs(np.fft.rfft(pcm)).argmax()
    assert peak == pytest.approx(440, abs=1)
