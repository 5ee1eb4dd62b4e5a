"""Splits long media work into chunks that are processed, stored and retried separately."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from cutroom.media.process import OnFraction

LIST_NAME = "chunks.txt"


@dataclass(frozen=True, slots=True)
class MediaChunk:
    """A span of the source in whole frames or samples, so that chunk boundaries have no rounding error."""

    index: int
    start: int
    count: int
    rate: Fraction  # frames or samples per second

    @property
    def start_seconds(self) -> float:
        return float(self.start / self.rate)

    @property
    def seconds(self) -> float:
        return float(self.count / self.rate)


def plan_chunks(
    duration_seconds: float, *, rate: Fraction, chunk_seconds: float, multiple_of: int = 1, round_up: bool = False
) -> list[MediaChunk]:
    """Equal chunks, each a multiple of `multiple_of` units; the last absorbs a remainder of up to half a chunk."""
    exact = Fraction(duration_seconds) * rate
    total = max(1, math.ceil(exact) if round_up else round(exact))
    size = max(1, round(chunk_seconds * rate / multiple_of)) * multiple_of
    starts = list(range(0, total, size))
    if len(starts) > 1 and total - starts[-1] < size / 2:
        starts.pop()
    ends = [*starts[1:], total]
    return [MediaChunk(i, start, end - start, rate) for i, (start, end) in enumerate(zip(starts, ends, strict=True))]


def write_concat_list(paths: Sequence[Path], folder: Path) -> Path:
    """Writes the list for ffmpeg's concat demuxer; our own generated file names need no quoting."""
    path = folder / LIST_NAME
    path.write_text("ffconcat version 1.0\n" + "".join(f"file {each.name}\n" for each in paths))
    return path


def chunk_progress(
    chunk: MediaChunk, chunks: Sequence[MediaChunk], on_fraction: OnFraction | None
) -> OnFraction | None:
    """Maps progress within one chunk to progress of the whole."""
    if on_fraction is None:
        return None
    total = sum(each.count for each in chunks)

    def report(fraction: float) -> None:
        on_fraction((chunk.start + fraction * chunk.count) / total)

    return report
