"""Generates what is heard under the voices: music, a street, a stadium, a telephone line."""

from typing import TYPE_CHECKING

import numpy as np

from dev.fixtures.generated_audio import RATE, SPEECH_LEVEL, make_music, rms_level
from eval.talks import Background

if TYPE_CHECKING:
    from numpy.typing import NDArray

    AudioSamples = NDArray[np.float32]

# Level below SPEECH_LEVEL; both are RMS, speech without its pauses.
BELOW_SPEECH_DB = {Background.MUSIC: 12.0, Background.STREET: 12.0, Background.STADIUM: 10.0, Background.PHONE: 30.0}
PHONE_BAND_HZ = (300.0, 3400.0)
MAINS_HZ = 60.0
_LOOP_SECONDS = 20  # noise made in the frequency domain is periodic, and repeats without a click


def make_background(background: Background, length: int) -> "AudioSamples":
    """Stereo samples at RATE, of shape (length, 2), at the level of BELOW_SPEECH_DB."""
    if background == Background.NONE or length == 0:
        return np.zeros((length, 2), np.float32)
    level = SPEECH_LEVEL * 10 ** (-BELOW_SPEECH_DB[background] / 20)
    if background == Background.MUSIC:
        return make_music(length, level=level)
    rng = np.random.default_rng(11)
    if background == Background.STREET:
        samples = _street(length, rng)
    elif background == Background.STADIUM:
        samples = _stadium(length, rng)
    else:
        samples = _telephone_line(length, rng)
    return np.asarray(samples * (level / rms_level(samples)), np.float32)


def telephone_band(samples: "AudioSamples") -> "AudioSamples":
    """Removes what a telephone line does not carry from mono samples."""
    spectrum = np.fft.rfft(samples)
    spectrum *= _band(len(samples), *PHONE_BAND_HZ)
    return np.asarray(np.fft.irfft(spectrum, len(samples)), np.float32)


def _street(length: int, rng: np.random.Generator) -> "AudioSamples":
    """Traffic rumble, and a car that passes from one side to the other every few seconds."""
    output = _noise(length, rng, band=(40.0, 900.0), slope=1.0)
    tires = _noise(length, rng, band=(200.0, 3000.0), slope=0.5)
    time = np.arange(length) / RATE
    for passing in np.arange(2.0, length / RATE, 7.0) + rng.uniform(-1.5, 1.5):
        loudness = 2.0 * np.exp(-(((time - passing) / 1.2) ** 2))
        side = 1 / (1 + np.exp(-(time - passing) * 2))
        output += tires * (loudness[:, None] * np.stack([1 - side, side], axis=1)).astype(np.float32)
    return output


def _stadium(length: int, rng: np.random.Generator) -> "AudioSamples":
    """A crowd whose noise swells and falls, with clapping."""
    crowd = _noise(length, rng, band=(150.0, 4000.0), slope=0.5)
    time = np.arange(length) / RATE
    swell = 1 + 0.5 * np.sin(2 * np.pi * time / 9.0) + 0.3 * np.sin(2 * np.pi * time / 3.7)
    claps = _noise(length, rng, band=(800.0, 6000.0), slope=0.0)
    beat = np.exp(-(time % 0.4) * 30) * (np.sin(2 * np.pi * time / 13.0) > 0.3)
    return np.asarray(crowd * swell[:, None] + 0.8 * claps * beat[:, None], np.float32)


def _telephone_line(length: int, rng: np.random.Generator) -> "AudioSamples":
    """Hiss and the harmonics of the mains frequency; the same on both channels."""
    time = np.arange(length) / RATE
    hum = sum(np.sin(2 * np.pi * MAINS_HZ * harmonic * time) / harmonic for harmonic in (5, 6, 7, 9))
    hiss = _noise(length, rng, band=PHONE_BAND_HZ, slope=0.0)[:, :1]
    return np.asarray(np.repeat(hiss + 0.5 * np.asarray(hum)[:, None], 2, axis=1), np.float32)


def _noise(length: int, rng: np.random.Generator, *, band: tuple[float, float], slope: float) -> "AudioSamples":
    """Stereo noise of RMS 1 whose amplitude falls with frequency to the power of `slope`."""
    count = _LOOP_SECONDS * RATE
    frequencies = np.maximum(np.fft.rfftfreq(count, 1 / RATE), 1.0)
    shape = _band(count, *band) / frequencies**slope
    loops = [np.fft.irfft(shape * np.exp(2j * np.pi * rng.random(len(shape))), count) for _ in range(2)]
    stereo = np.stack([loop / np.sqrt(np.mean(loop**2)) for loop in loops], axis=1)
    return np.asarray(np.resize(stereo, (length, 2)), np.float32)


def _band(count: int, low: float, high: float) -> "NDArray[np.float64]":
    """A second-order band-pass gain for each frequency of a real FFT."""
    frequencies = np.maximum(np.fft.rfftfreq(count, 1 / RATE), 1e-3)
    return np.asarray(1 / np.sqrt((1 + (low / frequencies) ** 4) * (1 + (frequencies / high) ** 4)), np.float64)
