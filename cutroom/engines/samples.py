"""Samples from files of raw 16-bit sound, all at once or a block at a time, and sound at another rate."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.types import SAMPLE_RATE

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

SAMPLE_BYTES = 2
BLOCK_SECONDS = 30


def read_samples(path: Path) -> "Samples":
    return _read(path, 0, -1)


def read_blocks(path: Path, *, block_seconds: int = BLOCK_SECONDS) -> Iterator["Samples"]:
    """One block after the other; memory holds one of them."""
    block = block_seconds * SAMPLE_RATE
    for start in range(0, path.stat().st_size // SAMPLE_BYTES, block):
        yield _read(path, start, block)


def seconds_of(path: Path) -> float:
    return path.stat().st_size / SAMPLE_BYTES / SAMPLE_RATE


def _read(path: Path, start: int, count: int) -> "Samples":
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    raw = np.fromfile(path, dtype="<i2", count=count, offset=start * SAMPLE_BYTES)
    return raw.astype(np.float32) / np.float32(32768)


def resampled(sound: "Samples", rate: int, to_rate: int) -> "Samples":
    """At another rate, by way of the spectrum; of several channels each. Exact but at ends that are not silent."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    if rate == to_rate or not sound.shape[-1]:
        return sound
    count = round(sound.shape[-1] * to_rate / rate)
    channels = []
    for channel in np.atleast_2d(sound):
        spectrum = np.fft.rfft(channel)[: count // 2 + 1]
        channels.append((np.fft.irfft(spectrum, count) * (count / len(channel))).astype(np.float32))
    made: Samples = np.stack(channels) if sound.ndim > 1 else channels[0]
    return made
