"""Generates royalty-free background music: pad chords, an arpeggio and a soft beat, deterministic per duration."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Audio = NDArray[np.float32]

RATE = 48_000
BEATS_PER_MINUTE = 96
BEATS_PER_CHORD = 4
LOUDNESS = 0.06  # root mean square of full scale
# A minor, F, C, G, in semitones above A2 (110 Hz).
CHORDS = ((0, 3, 7, 12), (-4, 0, 3, 8), (3, 7, 10, 15), (-2, 2, 5, 10))
ARPEGGIO = (0, 2, 1, 3, 2, 1, 3, 2)  # chord note plucked on each eighth note
ROOT_HZ = 110.0
SEED = 1


def generate_music(seconds: float) -> "Audio":
    """Stereo samples of shape (2, count) at RATE."""
    import numpy as np  # noqa: PLC0415 - a worker without engines imports this module

    count = round(seconds * RATE)
    beat = round(60 / BEATS_PER_MINUTE * RATE)
    left, right = np.zeros(count + 2 * RATE, np.float32), np.zeros(count + 2 * RATE, np.float32)
    for number, start in enumerate(range(0, count, beat * BEATS_PER_CHORD)):
        chord = CHORDS[number % len(CHORDS)]
        length = beat * BEATS_PER_CHORD
        for side, detune in ((left, 0.997), (right, 1.003)):
            _add(side, start, _pad(chord, length, detune))
        for at, note in enumerate(ARPEGGIO):
            plucked = _pluck(chord[note] + 24, beat)
            _add(left if at % 2 else right, start + at * beat // 2, plucked)
            _add(right if at % 2 else left, start + at * beat // 2, plucked * np.float32(0.5))
        for at in range(BEATS_PER_CHORD):
            drum = _drum(beat) if at % 2 == 0 else _brush(beat)
            for side in (left, right):
                _add(side, start + at * beat, drum)
    audio = np.stack([left[:count], right[:count]])
    level = float(np.sqrt(np.mean(audio**2))) or 1.0
    return audio * np.float32(LOUDNESS / level)


def _add(track: "Audio", start: int, audio: "Audio") -> None:
    end = min(len(track), start + len(audio))
    track[start:end] += audio[: end - start]


def _hertz(semitones: float) -> float:
    return float(ROOT_HZ * 2 ** (semitones / 12))


def _pad(chord: tuple[int, ...], length: int, detune: float) -> "Audio":
    """Sustained chord with few overtones and a slow attack."""
    import numpy as np  # noqa: PLC0415 - as above

    time = np.arange(length, dtype=np.float32) / RATE
    audio = np.zeros(length, np.float32)
    for note in chord:
        for harmonic, gain in ((1, 1.0), (2, 0.35), (3, 0.12)):
            phase = np.float32(2 * np.pi * _hertz(note) * detune * harmonic)
            audio += np.float32(gain) * np.sin(phase * time)
    envelope = np.minimum(1, np.minimum(time / 0.6, time[::-1] / 0.5))
    return (0.18 * audio * envelope).astype(np.float32)


def _pluck(semitones: int, length: int) -> "Audio":
    import numpy as np  # noqa: PLC0415 - as above

    time = np.arange(length, dtype=np.float32) / RATE
    phase = np.float32(2 * np.pi * _hertz(semitones))
    audio = np.sin(phase * time) + 0.4 * np.sin(2 * phase * time) * np.exp(-12 * time)
    return (0.35 * audio * np.exp(-7 * time) * np.minimum(1, time / 0.004)).astype(np.float32)


def _drum(length: int) -> "Audio":
    import numpy as np  # noqa: PLC0415 - as above

    time = np.arange(min(length, RATE // 3), dtype=np.float32) / RATE
    sweep = 2 * np.pi * (48 * time + 3.2 * (1 - np.exp(-28 * time)))
    return (0.9 * np.sin(sweep) * np.exp(-11 * time) * np.minimum(1, time / 0.003)).astype(np.float32)


def _brush(length: int) -> "Audio":
    import numpy as np  # noqa: PLC0415 - as above

    time = np.arange(min(length, RATE // 5), dtype=np.float32) / RATE
    noise = np.random.default_rng(SEED).standard_normal(len(time)).astype(np.float32)
    bright = np.diff(noise, prepend=np.float32(0))
    return (0.05 * bright * np.exp(-30 * time)).astype(np.float32)
