"""Which part of a recording a clone speaks after, and what is refused with which words."""

import numpy as np
import pytest

from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import TimeSpan
from cutroom.engines.voice_conversion.port import REFERENCE_RATE
from cutroom.products.speech.encoding import from_pcm, pcm_of
from cutroom.products.speech.reference import (
    MAX_SECONDS,
    PEAK,
    UnusableError,
    choose,
    cut_out,
    levelled,
    mean_voice,
    require_one_voice,
)
from cutroom.products.speech.rules import RATE


def test_the_first_stretches_are_taken_until_there_is_enough() -> None:
    chosen = choose([TimeSpan(0, 0.2), TimeSpan(1, 11), TimeSpan(12, 27), TimeSpan(30, 60)])
    assert chosen.spans == (TimeSpan(1, 11), TimeSpan(12, 27), TimeSpan(30, 35))
    assert chosen.seconds == MAX_SECONDS


@pytest.mark.parametrize(
    ("speech", "words"),
    [
        ([], "No speech was found"),
        ([TimeSpan(0, 0.3), TimeSpan(1, 1.2)], "No speech was found"),
        ([TimeSpan(0, 1.5), TimeSpan(2, 3)], "only 2.5 seconds"),
    ],
)
def test_too_little_speech_is_refused_in_words(speech: list[TimeSpan], words: str) -> None:
    with pytest.raises(UnusableError, match=words):
        choose(speech)


def prints(*angles: float) -> list[SpeakerEmbedding]:
    return [
        SpeakerEmbedding(TimeSpan(at * 1.5, at * 1.5 + 1.5), np.array([np.cos(angle), np.sin(angle)], np.float32))
        for at, angle in enumerate(angles)
    ]


def test_two_people_are_refused_and_a_cough_is_not() -> None:
    require_one_voice(prints(*[0.0] * 9, 1.5), same_voice=0.5)
    with pytest.raises(UnusableError, match="More than one person"):
        require_one_voice(prints(*[0.0] * 6, *[1.5] * 4), same_voice=0.5)
    require_one_voice([], same_voice=0.5)


def test_what_is_cut_out_has_the_stretches_and_short_pauses() -> None:
    samples = np.ones(10 * REFERENCE_RATE, np.float32)
    taken = cut_out(samples, choose([TimeSpan(1, 3), TimeSpan(5, 7)]))
    assert len(taken) / REFERENCE_RATE == pytest.approx(2 * 2.12 + 0.15, abs=0.001)
    assert taken[0] == 0
    assert taken[-1] == 0


def test_a_quiet_sample_is_raised_and_a_spiky_one_does_not_clip() -> None:
    quiet = 0.001 * np.sin(np.arange(REFERENCE_RATE)).astype(np.float32)
    assert np.sqrt(np.mean(levelled(quiet) ** 2)) == pytest.approx(10 ** (-23 / 20), rel=0.01)
    spiky = quiet.copy()
    spiky[100] = 0.9
    assert np.abs(levelled(spiky)).max() == pytest.approx(PEAK, rel=0.001)
    assert not levelled(np.zeros(5, np.float32)).any()


def test_a_voice_on_the_whole_has_length_one() -> None:
    mean = mean_voice(prints(0.0, 0.2))
    assert mean is not None
    assert np.linalg.norm(mean) == pytest.approx(1.0)
    assert mean_voice([]) is None


def test_a_passage_begins_and_ends_silent_and_has_its_pause() -> None:
    samples = np.full(RATE, 0.5, np.float32)
    sound = from_pcm(pcm_of(SynthesizedSpeech(samples, RATE), pause_seconds=0.25))
    assert len(sound) == round(1.25 * RATE)
    assert sound[0] == 0
    assert not sound[RATE:].any()
    assert np.abs(np.diff(sound)).max() < 0.01
    assert samples[0] == 0.5  # what was given is left alone


def test_another_rate_is_brought_to_ours() -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(48_000) / 48_000).astype(np.float32)
    sound = from_pcm(pcm_of(SynthesizedSpeech(tone, 48_000), pause_seconds=0))
    assert len(sound) == RATE
    peak = np.abs(np.fft.rfft(sound)).argmax()
    assert peak == pytest.approx(440, abs=1)
