"""What every separator must do: each adapter's test class inherits this one and says what its separator is."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.separation.port import Separator
from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import clips_folder, sentences, two_cities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.types import Samples, Stereo

RATE = 44_100
SECONDS = 20
MIN_REST_DB = 8.0
MIN_SPEECH_GAIN_DB = 6.0
MAX_CPU_PER_SECOND = 0.5  # measured: 0.12, on a machine that does nothing else


def spread(samples: "Samples") -> "Stereo":
    """A clip of speech in the middle, at the rate of separators: what lies above 8 kHz stays empty."""
    count = round(len(samples) * RATE / SAMPLE_RATE)
    spectrum = np.fft.rfft(samples)
    wide = np.zeros(count // 2 + 1, np.complex128)
    wide[: len(spectrum)] = spectrum
    sound = np.fft.irfft(wide, count) * (count / len(samples))
    return np.stack([sound, sound]).astype(np.float32)


@cache
def spoken(name: str) -> "Stereo":
    folder = clips_folder()
    joined = np.concatenate([clip.samples for clip in sentences(folder)])
    return spread({"dickens": two_cities(folder).samples, "austen": joined}[name][: SECONDS * SAMPLE_RATE])


@cache
def band(seconds: float = SECONDS) -> "Stereo":
    """Chords of eight overtones from left to right, a bass, a drum in the middle, a snare and cymbals aside."""
    random = np.random.default_rng(0)
    at = np.arange(round(seconds * RATE)) / RATE
    sound = np.zeros((2, len(at)))

    def play(samples: "NDArray[np.floating]", side: float) -> None:
        sound[0] += samples * np.cos(side * np.pi / 2)
        sound[1] += samples * np.sin(side * np.pi / 2)

    for number, chord in enumerate(((60, 64, 67, 71), (57, 60, 64, 69), (53, 57, 60, 65), (55, 59, 62, 67))):
        since = (at - 2.0 * number) % 8.0
        heard = since < 2.0
        for place, note in enumerate(chord):
            wave = sum(np.sin(2 * np.pi * _hertz(note) * order * at + order) / order**1.2 for order in range(1, 9))
            play(0.08 * heard * np.exp(-0.6 * since) * np.minimum(1.0, since / 0.01) * wave, 0.2 + 0.2 * place)
        low = sum(np.sin(2 * np.pi * _hertz(chord[0] - 24) * order * at) / order for order in (1, 2, 3))
        play(0.25 * heard * np.exp(-3 * (at % 0.5)) * low, 0.5)
    beat = at % 0.5
    play(0.4 * np.sin(2 * np.pi * 55 * beat) * np.exp(-18 * beat), 0.5)
    play(0.15 * random.standard_normal(len(at)) * np.exp(-25 * ((at + 0.5) % 1.0)), 0.45)
    play(0.06 * random.standard_normal(len(at)) * np.exp(-60 * ((at + 0.125) % 0.25)), 0.7)
    return sound.astype(np.float32)


def _hertz(note: int) -> float:
    return float(440 * 2 ** ((note - 69) / 12))


def mixed(name: str, *, level: float = 1.0) -> tuple["Stereo", "Stereo"]:
    """Speech and as loud a music under it."""
    speech = spoken(name)
    music = band()[:, : speech.shape[1]]
    music = music * np.float32(np.sqrt(np.square(speech).mean() / np.square(music).mean()))
    return speech * np.float32(level), music * np.float32(level)


def mix(name: str) -> "Stereo":
    speech, music = mixed(name)
    return speech + music


def clearness(truth: "Stereo", found: "Stereo") -> float:
    """SI-SDR in dB: how far what is not the truth lies below what is."""
    wanted, got = truth.ravel().astype(np.float64), found.ravel().astype(np.float64)
    share = (wanted @ got) / (wanted @ wanted) * wanted
    return float(10 * np.log10(np.square(share).sum() / np.square(got - share).sum()))


def likeness(left: "Stereo", right: "Stereo") -> float:
    return float(np.corrcoef(left.ravel(), right.ravel())[0, 1])


def high(stereo: "Stereo") -> "Stereo":
    """What lies above 11.2 kHz."""
    spectrum = np.fft.rfft(stereo)
    spectrum[:, : round(11_200 * stereo.shape[1] / RATE)] = 0
    return np.fft.irfft(spectrum, stereo.shape[1]).astype(np.float32)


class SeparatorSuite:
    """Speech goes one way, everything else the other, and nothing is lost."""

    @pytest.fixture(scope="class")
    @classmethod
    def separator(cls) -> Separator:
        raise NotImplementedError

    @pytest.mark.parametrize("name", ["dickens", "austen"])
    def test_speech_and_music_are_taken_apart(self, separator: Separator, name: str) -> None:
        speech, music = mixed(name)
        voice, rest = separator.separate(speech + music)
        assert clearness(music, rest) >= MIN_REST_DB
        assert clearness(speech, voice) >= clearness(speech, speech + music) + MIN_SPEECH_GAIN_DB

    @pytest.mark.parametrize("level", [0.02, 0.3, 4.0])
    def test_loudness_matters_little(self, separator: Separator, level: float) -> None:
        speech, music = mixed("dickens", level=level)
        _, rest = separator.separate(speech + music)
        assert clearness(music, rest) >= MIN_REST_DB

    def test_both_together_are_what_was_given(self, separator: Separator) -> None:
        given = mix("austen")
        voice, rest = separator.separate(given)
        assert voice.dtype == rest.dtype == np.float32
        assert np.abs(voice + rest - given).max() <= 1e-6

    @pytest.mark.parametrize("count", [0, 1, 500, 1024, 4096, 100_001, 13 * RATE + 7])
    def test_the_length_is_kept(self, separator: Separator, count: int) -> None:
        given = mix("dickens")[:, :count]
        voice, rest = separator.separate(given)
        assert voice.shape == rest.shape == (2, count)
        assert np.isfinite(voice).all()

    def test_silence_stays_silence(self, separator: Separator) -> None:
        voice, rest = separator.separate(np.zeros((2, 3 * RATE), np.float32))
        assert not voice.any()
        assert not rest.any()

    def test_silence_before_and_after_stays_silence(self, separator: Separator) -> None:
        given = np.pad(band(4.0), ((0, 0), (RATE, RATE)))
        for part in separator.separate(given):
            assert np.abs(part[:, : RATE // 2]).max() < 1e-6
            assert np.abs(part[:, -RATE // 2 :]).max() < 1e-6

    def test_music_alone_is_kept(self, separator: Separator) -> None:
        voice, rest = separator.separate(band())
        assert likeness(band(), rest) >= 0.95
        assert np.square(voice).mean() <= 0.01 * np.square(band()).mean()

    def test_noise_alone_is_kept(self, separator: Separator) -> None:
        given = (0.05 * np.random.default_rng(3).standard_normal((2, 6 * RATE))).astype(np.float32)
        _, rest = separator.separate(given)
        assert likeness(given, rest) >= 0.95

    def test_speech_alone_leaves_next_to_nothing(self, separator: Separator) -> None:
        _, rest = separator.separate(spoken("dickens"))
        assert np.square(rest).mean() <= 0.01 * np.square(spoken("dickens")).mean()

    def test_music_keeps_its_highs_under_speech(self, separator: Separator) -> None:
        speech, music = mixed("dickens")
        _, rest = separator.separate(speech + music)
        assert likeness(high(music), high(rest)) >= 0.95

    def test_sides_stay_sides(self, separator: Separator) -> None:
        given = band(6.0) * np.array([[1.0], [0.0]], np.float32)
        for part in separator.separate(given):
            assert not part[1].any()

    def test_there_is_no_gap_between_parts_of_a_long_recording(self, separator: Separator) -> None:
        speech, music = mixed("dickens")
        _, rest = separator.separate(speech + music)
        stretches = [slice(at, at + 2 * RATE) for at in range(0, rest.shape[1] - 2 * RATE, RATE)]
        assert min(clearness(music[:, each], rest[:, each]) for each in stretches) >= MIN_REST_DB - 4

    def test_the_same_sound_gives_the_same_parts(self, separator: Separator) -> None:
        given = mix("austen")[:, : 5 * RATE]

        def separate(_: int) -> bytes:
            return separator.separate(given)[0].tobytes()

        with ThreadPoolExecutor(2) as threads:
            assert len(set(threads.map(separate, range(3)))) == 1

    def test_the_given_sound_is_left_as_it_was(self, separator: Separator) -> None:
        given = band(3.0).copy()
        given.setflags(write=False)
        separator.separate(given)
        assert given.tobytes() == band(3.0).tobytes()

    def test_it_is_quick(self, separator: Separator) -> None:
        given = mix("dickens")
        started = time.process_time()
        separator.separate(given)
        assert time.process_time() - started <= MAX_CPU_PER_SECOND * given.shape[1] / RATE

    @pytest.mark.parametrize(
        "stereo",
        [
            pytest.param(np.full((2, RATE), np.nan, np.float32), id="no numbers"),
            pytest.param(np.full((2, RATE), np.inf, np.float32), id="without end"),
            pytest.param(np.zeros((2, RATE), np.int16), id="integers"),
            pytest.param(np.zeros(RATE, np.float32), id="mono"),
            pytest.param(np.zeros((6, RATE), np.float32), id="surround"),
        ],
    )
    def test_what_is_no_stereo_is_refused(self, separator: Separator, stereo: "Stereo") -> None:
        with pytest.raises(EngineError):
            separator.separate(stereo)
