"""Music of our own for under speech: soft chords, a plucked figure and a quiet beat, the same for the same length."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sound = NDArray[np.float32]

RATE = 48_000
BEATS_PER_MINUTE = 96
BEATS_PER_CHORD = 4
LOUDNESS = 0.06  # root mean square of full scale
# Four chords that everybody knows, as half tones above the A of 110 Hz: a minor, F, C, G.
CHORDS = ((0, 3, 7, 12), (-4, 0, 3, 8), (3, 7, 10, 15), (-2, 2, 5, 10))
FIGURE = (0, 2, 1, 3, 2, 1, 3, 2)  # which note of the chord is plucked on each half beat
ROOT_HZ = 110.0
SEED = 1


def make_music(seconds: float) -> "Sound":
    """Stereo, a row for each side, at RATE."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    count = round(seconds * RATE)
    beat = round(60 / BEATS_PER_MINUTE * RATE)
    left, right = np.zeros(count + 2 * RATE, np.float32), np.zeros(count + 2 * RATE, np.float32)
    for number, start in enumerate(range(0, count, beat * BEATS_PER_CHORD)):
        chord = CHORDS[number % len(CHORDS)]
        length = beat * BEATS_PER_CHORD
        for side, detune in ((left, 0.997), (right, 1.003)):
            _add(side, start, _pad(chord, length, detune))
        for at, note in enumerate(FIGURE):
            plucked = _pluck(chord[note] + 24, beat)
            _add(left if at % 2 else right, start + at * beat // 2, plucked)
            _add(right if at % 2 else left, start + at * beat // 2, plucked * np.float32(0.5))
        for at in range(BEATS_PER_CHORD):
            drum = _drum(beat) if at % 2 == 0 else _brush(beat)
            for side in (left, right):
                _add(side, start + at * beat, drum)
    sound = np.stack([left[:count], right[:count]])
    level = float(np.sqrt(np.mean(sound**2))) or 1.0
    return sound * np.float32(LOUDNESS / level)


def _add(track: "Sound", start: int, sound: "Sound") -> None:
    end = min(len(track), start + len(sound))
    track[start:end] += sound[: end - start]


def _hertz(half_tones: float) -> float:
    return float(ROOT_HZ * 2 ** (half_tones / 12))


def _pad(chord: tuple[int, ...], length: int, detune: float) -> "Sound":
    """Few overtones and a slow start: a ground, not a melody."""
    import numpy as np  # noqa: PLC0415 - as above

    time = np.arange(length, dtype=np.float32) / RATE
    sound = np.zeros(length, np.float32)
    for note in chord:
        for overtone, share in ((1, 1.0), (2, 0.35), (3, 0.12)):
            phase = np.float32(2 * np.pi * _hertz(note) * detune * overtone)
            sound += np.float32(share) * np.sin(phase * time)
    edge = np.minimum(1, np.minimum(time / 0.6, time[::-1] / 0.5))
    return (0.18 * sound * edge).astype(np.float32)


def _pluck(half_tones: int, length: int) -> "Sound":
    import numpy as np  # noqa: PLC0415 - as above

    time = np.arange(length, dtype=np.float32) / RATE
    phase = np.float32(2 * np.pi * _hertz(half_tones))
    sound = np.sin(phase * time) + 0.4 * np.sin(2 * phase * time) * np.exp(-12 * time)
    return (0.35 * sound * np.exp(-7 * time) * np.minimum(1, time / 0.004)).astype(np.float32)


def _drum(length: int) -> "Sound":
    import numpy as np  # noqa: PLC0415 - as above

    time = np.arange(min(length, RATE // 3), dtype=np.float32) / RATE
    sweep = 2 * np.pi * (48 * time + 3.2 * (1 - np.exp(-28 * time)))
    return (0.9 * np.sin(sweep) * np.exp(-11 * time) * np.minimum(1, time / 0.003)).astype(np.float32)


def _brush(length: int) -> "Sound":
    import numpy as np  # noqa: PLC0415 - as above

    time = np.arange(min(length, RATE // 5), dtype=np.float32) / RATE
    noise = np.random.default_rng(SEED).standard_normal(len(time)).astype(np.float32)
    bright = np.diff(noise, prepend=np.float32(0))
    return (0.05 * bright * np.exp(-30 * time)).astype(np.float32)
