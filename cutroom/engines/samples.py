"""Reads raw 16-bit PCM files as float samples, and resamples audio."""

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
    """Yields consecutive blocks; only one is in memory at a time."""
    block = block_seconds * SAMPLE_RATE
    for start in range(0, path.stat().st_size // SAMPLE_BYTES, block):
        yield _read(path, start, block)


def duration_of(path: Path) -> float:
    return path.stat().st_size / SAMPLE_BYTES / SAMPLE_RATE


def _read(path: Path, start: int, count: int) -> "Samples":
    import numpy as np  # noqa: PLC0415 - a worker without engines imports this module

    raw = np.fromfile(path, dtype="<i2", count=count, offset=start * SAMPLE_BYTES)
    return raw.astype(np.float32) / np.float32(32768)


def resample(audio: "Samples", rate: int, to_rate: int) -> "Samples":
    """FFT resampling per channel; exact except for ringing at ends that are not silent."""
    import numpy as np  # noqa: PLC0415 - a worker without engines imports this module

    if rate == to_rate or not audio.shape[-1]:
        return audio
    count = round(audio.shape[-1] * to_rate / rate)
    channels = []
    for channel in np.atleast_2d(audio):
        spectrum = np.fft.rfft(channel)[: count // 2 + 1]
        channels.append((np.fft.irfft(spectrum, count) * (count / len(channel))).astype(np.float32))
    result: Samples = np.stack(channels) if audio.ndim > 1 else channels[0]
    return result
