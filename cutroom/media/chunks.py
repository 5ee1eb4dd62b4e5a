"""Cuts long work into pieces that are made one by one, so that a crash costs one piece and not the whole."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from cutroom.media.process import OnFraction

LIST_NAME = "pieces.txt"


@dataclass(frozen=True, slots=True)
class MediaChunk:
    """A span of the source in whole units (frames or samples), so that nothing is lost to rounding at a joint."""

    index: int
    start: int
    count: int
    rate: Fraction  # units a second

    @property
    def start_seconds(self) -> float:
        return float(self.start / self.rate)

    @property
    def seconds(self) -> float:
        return float(self.count / self.rate)


def plan_pieces(
    duration_seconds: float, *, rate: Fraction, piece_seconds: float, multiple_of: int = 1, round_up: bool = False
) -> list[MediaChunk]:
    """Pieces of equal length, a multiple of so many units; the last one takes the rest and may be up to half longer."""
    exact = Fraction(duration_seconds) * rate
    total = max(1, math.ceil(exact) if round_up else round(exact))
    size = max(1, round(piece_seconds * rate / multiple_of)) * multiple_of
    starts = list(range(0, total, size))
    if len(starts) > 1 and total - starts[-1] < size / 2:
        starts.pop()
    ends = [*starts[1:], total]
    return [MediaChunk(i, start, end - start, rate) for i, (start, end) in enumerate(zip(starts, ends, strict=True))]


def write_list(paths: Sequence[Path], folder: Path) -> Path:
    """The list that ffmpeg's concat demuxer reads; our own names only, which need no quoting."""
    path = folder / LIST_NAME
    path.write_text("ffconcat version 1.0\n" + "".join(f"file {each.name}\n" for each in paths))
    return path


def part_of(piece: MediaChunk, pieces: Sequence[MediaChunk], on_fraction: OnFraction | None) -> OnFraction | None:
    """Progress within one piece as progress of the whole."""
    if on_fraction is None:
        return None
    whole = sum(each.count for each in pieces)

    async def tell(fraction: float) -> None:
        await on_fraction((piece.start + fraction * piece.count) / whole)

    return tell
