"""What remains of a recording whose parts are cut out: its frames, its samples and its times.

Every cut is on the edge of a frame. Pieces of sound begin and end at the sample that belongs to the frame, counted on
the timeline of the output, so that picture and sound do not drift apart, however many cuts there are.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import inf
from typing import Any

from cutroom.media.cutting.spans import Span

CROSSFADE_SECONDS = 0.015  # of sound at a joint


@dataclass(frozen=True, slots=True)
class FrameSpan:
    """Frames of the recording, without the one at `end`."""

    start: int
    end: int

    @property
    def frames(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class SoundPiece:
    """Samples of the recording that stay, and how many of them fade in and out: over the piece before and after it."""

    start: int
    end: int
    fade: int


@dataclass(frozen=True)
class CutTimeline:
    """What remains of a recording, in order, at a frame rate."""

    rate: Fraction
    kept: tuple[FrameSpan, ...]
    deleted: tuple[Span, ...] = ()  # when the words were said that are cut, in order and apart, if that is known

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The frame of the output at which each part begins, and the one after the last."""
        return tuple(accumulate((each.frames for each in self.kept), initial=0))

    @property
    def frames(self) -> int:
        return self.starts[-1]

    @property
    def seconds(self) -> float:
        return float(self.frames / self.rate)

    @cached_property
    def cut_spans(self) -> tuple[Span, ...]:
        """What is cut out, up to the end of time, in seconds of the recording."""
        ends = [0.0, *(float(each.end / self.rate) for each in self.kept)]
        starts = [*(float(each.start / self.rate) for each in self.kept), inf]
        return tuple((end, start) for end, start in zip(ends, starts, strict=True) if end < start)

    def source_spans(self, start: int, count: int) -> list[FrameSpan]:
        """The frames of the recording that are these frames of the output."""
        spans, end = [], min(start + count, self.frames)
        at = max(0, bisect_right(self.starts, start) - 1)
        while at < len(self.kept) and self.starts[at] < end:
            part, offset = self.kept[at], self.starts[at]
            first, last = max(start, offset), min(end, offset + part.frames)
            if first < last:
                spans.append(FrameSpan(part.start + first - offset, part.start + last - offset))
            at += 1
        return spans

    def output_seconds(self, seconds: float) -> float:
        """The time in the output; of what is cut out, that of the joint."""
        frame = Fraction(seconds) * self.rate
        at = bisect_right([each.start for each in self.kept], frame) - 1
        if at < 0:
            return 0.0
        part = self.kept[at]
        return float((self.starts[at] + min(frame - part.start, Fraction(part.frames))) / self.rate)

    def sound_pieces(self, sample_rate: int) -> list[SoundPiece]:
        """The samples of each part. At a joint, half of the crossfade is taken from what is cut out on each side.

        At both ends of the output, the sound fades from and to silence.
        """
        edges = [round(frame * sample_rate / self.rate) for frame in self.starts]
        half = round(CROSSFADE_SECONDS * sample_rate / 2)
        pieces, last = [], len(self.kept) - 1
        for at, part in enumerate(self.kept):
            start = round(part.start * sample_rate / self.rate)
            length = edges[at + 1] - edges[at]
            before, after = half if at else 0, half if at < last else 0
            pieces.append(SoundPiece(start - before, start + length + after, 2 * half))
        return pieces

    def as_json(self) -> dict[str, Any]:
        deleted = {"deleted": [list(span) for span in self.deleted]} if self.deleted else {}
        return {"rate": str(self.rate), "kept": [[each.start, each.end] for each in self.kept], **deleted}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "CutTimeline":
        kept = tuple(FrameSpan(start, end) for start, end in document["kept"])
        return cls(Fraction(document["rate"]), kept, tuple((start, end) for start, end in document.get("deleted", ())))


def select_frames(spans: Sequence[FrameSpan], *, rate: Fraction, first: int = 0) -> str:
    """Filters that drop all other frames of a constant frame rate; the input begins with the frame `first`."""
    # Frames are numbered in a time base of one frame: `fps` instead would lose the last one.
    chosen = "+".join(f"between(n,{each.start - first},{each.end - first - 1})" for each in spans)
    return f"select='{chosen}',settb={rate.denominator}/{rate.numerator},setpts=N"


def kept_ranges(timeline: CutTimeline) -> Iterator[tuple[float, float]]:
    """The parts of the recording that remain, in seconds."""
    for each in timeline.kept:
        yield round(float(each.start / timeline.rate), 6), round(float(each.end / timeline.rate), 6)
