"""Conformance suite of source separators; each adapter's test class inherits it and provides the fixture."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.separation.port import SourceSeparator
from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import clips_folder, sentences, two_cities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.types import Samples, Stereo

RATE = 44_100
SECONDS = 20
MIN_REST_DB = 8.0
MIN_SPEECH_GAIN_DB = 6.0
MAX_CPU_PER_SECOND = 0.5  # measured 0.12 on an idle machine


def to_stereo(samples: "Samples") -> "Stereo":
    """Speech centered in stereo at RATE; the band above 8 kHz stays empty."""
    count = round(len(samples) * RATE / SAMPLE_RATE)
    spectrum = np.fft.rfft(samples)
    wide = np.zeros(count // 2 + 1, np.complex128)
    wide[: len(spectrum)] = spectrum
    audio = np.fft.irfft(wide, count) * (count / len(samples))
    return np.stack([audio, audio]).astype(np.float32)


@cache
def speech_clip(name: str) -> "Stereo":
    folder = clips_folder()
    joined = np.concatenate([clip.samples for clip in sentences(folder)])
    return to_stereo({"dickens": two_cities(folder).samples, "austen": joined}[name][: SECONDS * SAMPLE_RATE])


@cache
def band(seconds: float = SECONDS) -> "Stereo":
    """Music: panned chords with eight harmonics, bass, centered kick, off-center snare and hi-hat."""
    random = np.random.default_rng(0)
    at = np.arange(round(seconds * RATE)) / RATE
    audio = np.zeros((2, len(at)))

    def play(samples: "NDArray[np.floating]", side: float) -> None:
        audio[0] += samples * np.cos(side * np.pi / 2)
        audio[1] += samples * np.sin(side * np.pi / 2)

    for number, chord in enumerate(((60, 64, 67, 71), (57, 60, 64, 69), (53, 57, 60, 65), (55, 59, 62, 67))):
        since = (at - 2.0 * number) % 8.0
        active = since < 2.0
        for place, note in enumerate(chord):
            wave = sum(np.sin(2 * np.pi * _hertz(note) * order * at + order) / order**1.2 for order in range(1, 9))
            play(0.08 * active * np.exp(-0.6 * since) * np.minimum(1.0, since / 0.01) * wave, 0.2 + 0.2 * place)
        low = sum(np.sin(2 * np.pi * _hertz(chord[0] - 24) * order * at) / order for order in (1, 2, 3))
        play(0.25 * active * np.exp(-3 * (at % 0.5)) * low, 0.5)
    beat = at % 0.5
    play(0.4 * np.sin(2 * np.pi * 55 * beat) * np.exp(-18 * beat), 0.5)
    play(0.15 * random.standard_normal(len(at)) * np.exp(-25 * ((at + 0.5) % 1.0)), 0.45)
    play(0.06 * random.standard_normal(len(at)) * np.exp(-60 * ((at + 0.125) % 0.25)), 0.7)
    return audio.astype(np.float32)


def _hertz(note: int) -> float:
    return float(440 * 2 ** ((note - 69) / 12))


def speech_and_music(name: str, *, level: float = 1.0) -> tuple["Stereo", "Stereo"]:
    """Speech and music of equal power."""
    speech = speech_clip(name)
    music = band()[:, : speech.shape[1]]
    music = music * np.float32(np.sqrt(np.square(speech).mean() / np.square(music).mean()))
    return speech * np.float32(level), music * np.float32(level)


def mix(name: str) -> "Stereo":
    speech, music = speech_and_music(name)
    return speech + music


def si_sdr(truth: "Stereo", found: "Stereo") -> float:
    """Scale-invariant signal-to-distortion ratio in dB."""
    reference, estimate = truth.ravel().astype(np.float64), found.ravel().astype(np.float64)
    share = (reference @ estimate) / (reference @ reference) * reference
    return float(10 * np.log10(np.square(share).sum() / np.square(estimate - share).sum()))


def correlation(left: "Stereo", right: "Stereo") -> float:
    return float(np.corrcoef(left.ravel(), right.ravel())[0, 1])


def high(stereo: "Stereo") -> "Stereo":
    """The band above 11.2 kHz."""
    spectrum = np.fft.rfft(stereo)
    spectrum[:, : round(11_200 * stereo.shape[1] / RATE)] = 0
    return np.fft.irfft(spectrum, stereo.shape[1]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class SeparatedMix:
    """The stems of a mix, and the CPU time that they took."""

    voice: "Stereo"
    rest: "Stereo"
    cpu_seconds: float


SeparateMix = Callable[[str], SeparatedMix]


class SourceSeparatorSuite:
    """Speech and background are separated without loss."""

    @pytest.fixture(scope="class")
    @classmethod
    def separator(cls) -> SourceSeparator:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def separate_mix(cls, separator: SourceSeparator) -> SeparateMix:
        """Separates the mix with a named speaker, once."""

        @cache
        def separate(name: str) -> SeparatedMix:
            audio_in = mix(name)
            started = time.process_time()
            voice, rest = separator.separate(audio_in)
            return SeparatedMix(voice, rest, time.process_time() - started)

        return separate

    @pytest.mark.parametrize("name", ["dickens", "austen"])
    def test_speech_and_music_are_separated(self, separate_mix: SeparateMix, name: str) -> None:
        speech, music = speech_and_music(name)
        found = separate_mix(name)
        assert si_sdr(music, found.rest) >= MIN_REST_DB
        assert si_sdr(speech, found.voice) >= si_sdr(speech, speech + music) + MIN_SPEECH_GAIN_DB

    @pytest.mark.parametrize("level", [0.02, 4.0])
    def test_separation_is_robust_to_level(self, separator: SourceSeparator, level: float) -> None:
        speech, music = speech_and_music("dickens", level=level)
        _, rest = separator.separate(speech + music)
        assert si_sdr(music, rest) >= MIN_REST_DB

    def test_stems_sum_to_the_input(self, separate_mix: SeparateMix) -> None:
        found = separate_mix("austen")
        assert found.voice.dtype == found.rest.dtype == np.float32
        assert np.abs(found.voice + found.rest - mix("austen")).max() <= 1e-6

    @pytest.mark.parametrize("count", [0, 1, 500, 1024, 4096, 100_001, 13 * RATE + 7])
    def test_length_is_kept(self, separator: SourceSeparator, count: int) -> None:
        audio_in = mix("dickens")[:, :count]
        voice, rest = separator.separate(audio_in)
        assert voice.shape == rest.shape == (2, count)
        assert np.isfinite(voice).all()

    def test_silence_stays_silent(self, separator: SourceSeparator) -> None:
        voice, rest = separator.separate(np.zeros((2, 3 * RATE), np.float32))
        assert not voice.any()
        assert not rest.any()

    def test_leading_and_trailing_silence_stays_silent(self, separator: SourceSeparator) -> None:
        audio_in = np.pad(band(4.0), ((0, 0), (RATE, RATE)))
        for stem in separator.separate(audio_in):
            assert np.abs(stem[:, : RATE // 2]).max() < 1e-6
            assert np.abs(stem[:, -RATE // 2 :]).max() < 1e-6

    def test_music_alone_is_kept(self, separator: SourceSeparator) -> None:
        voice, rest = separator.separate(band())
        assert correlation(band(), rest) >= 0.95
        assert np.square(voice).mean() <= 0.01 * np.square(band()).mean()

    def test_noise_alone_is_kept(self, separator: SourceSeparator) -> None:
        audio_in = (0.05 * np.random.default_rng(3).standard_normal((2, 6 * RATE))).astype(np.float32)
        _, rest = separator.separate(audio_in)
        assert correlation(audio_in, rest) >= 0.95

    def test_speech_alone_leaves_no_background(self, separator: SourceSeparator) -> None:
        _, rest = separator.separate(speech_clip("dickens"))
        assert np.square(rest).mean() <= 0.01 * np.square(speech_clip("dickens")).mean()

    def test_music_keeps_high_frequencies(self, separate_mix: SeparateMix) -> None:
        _, music = speech_and_music("dickens")
        assert correlation(high(music), high(separate_mix("dickens").rest)) >= 0.95

    def test_channels_stay_separate(self, separator: SourceSeparator) -> None:
        audio_in = band(6.0) * np.array([[1.0], [0.0]], np.float32)
        for stem in separator.separate(audio_in):
            assert not stem[1].any()

    def test_quality_is_constant_across_windows(self, separate_mix: SeparateMix) -> None:
        _, music = speech_and_music("dickens")
        rest = separate_mix("dickens").rest
        windows = [slice(at, at + 2 * RATE) for at in range(0, rest.shape[1] - 2 * RATE, RATE)]
        assert min(si_sdr(music[:, each], rest[:, each]) for each in windows) >= MIN_REST_DB - 4

    def test_separation_is_deterministic(self, separator: SourceSeparator) -> None:
        audio_in = mix("austen")[:, : 5 * RATE]

        def separate(_: int) -> bytes:
            return separator.separate(audio_in)[0].tobytes()

        with ThreadPoolExecutor(2) as threads:
            assert len(set(threads.map(separate, range(3)))) == 1

    def test_input_is_not_modified(self, separator: SourceSeparator) -> None:
        audio_in = band(3.0).copy()
        audio_in.setflags(write=False)
        separator.separate(audio_in)
        assert audio_in.tobytes() == band(3.0).tobytes()

    def test_separation_is_faster_than_real_time(self, separate_mix: SeparateMix) -> None:
        found = separate_mix("dickens")
        assert found.cpu_seconds <= MAX_CPU_PER_SECOND * found.rest.shape[1] / RATE

    @pytest.mark.parametrize(
        "stereo",
        [
            pytest.param(np.full((2, RATE), np.nan, np.float32), id="NaN"),
            pytest.param(np.full((2, RATE), np.inf, np.float32), id="infinite"),
            pytest.param(np.zeros((2, RATE), np.int16), id="integers"),
            pytest.param(np.zeros(RATE, np.float32), id="mono"),
            pytest.param(np.zeros((6, RATE), np.float32), id="surround"),
        ],
    )
    def test_invalid_audio_is_rejected(self, separator: SourceSeparator, stereo: "Stereo") -> None:
        with pytest.raises(EngineError):
            separator.separate(stereo)
