"""The edit list of a transcript: which parts of the recording remain when its deleted words are cut.

Cuts are in the silence beside the deleted words, on the edges of frames, and never inside of a word that is kept.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Protocol

from cutroom.media.cutting.spans import Span, merge_spans, subtract_spans
from cutroom.media.cutting.timeline import FrameSpan

PAD_SECONDS = 0.1  # of the silence beside deleted words, at most half of it
JOINED_SECONDS = 1.0  # a shorter silence between deleted words is cut with them
MIN_FRAMES = 2  # of a cut, and of what remains between two


class HeardWord(Protocol):
    """A word with its times."""

    @property
    def start_seconds(self) -> float: ...
    @property
    def end_seconds(self) -> float: ...


class HeardSegment(Protocol):
    """A segment whose words are known."""

    @property
    def start_seconds(self) -> float: ...
    @property
    def end_seconds(self) -> float: ...
    @property
    def words(self) -> Sequence[HeardWord]: ...
    @property
    def deleted(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class EditList:
    """What remains of a recording, in order, at a frame rate."""

    frame_rate: Fraction
    total_frames: int
    kept: tuple[FrameSpan, ...]

    @property
    def cuts(self) -> tuple[FrameSpan, ...]:
        """What is left out."""
        edges = [0, *(edge for each in self.kept for edge in (each.start, each.end)), self.total_frames]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return tuple(FrameSpan(start, end) for start, end in pairs if start < end)

    def seconds(self, frame: int) -> float:
        """The time of a frame, to the microsecond."""
        return round(float(frame / self.frame_rate), 6)


def make_edit_list(
    segments: Iterable[HeardSegment],
    *,
    duration_seconds: float,
    frame_rate: Fraction,
    max_silence_seconds: float | None = None,
) -> EditList:
    """Cut deleted words; with `max_silence_seconds`, longer silences between words and at both ends are shortened."""
    kept, deleted = _spans(segments, duration_seconds)
    wanted = [_padded(each, kept) for each in _joined(deleted, JOINED_SECONDS, kept)]
    if max_silence_seconds is not None:
        wanted += _silences([*kept, *deleted], duration_seconds, max_silence_seconds)
    total = floor(duration_seconds * frame_rate)
    cuts = _whole_frames(subtract_spans(merge_spans(wanted), kept), frame_rate, total)
    return EditList(frame_rate, total, _remaining(cuts, total))


def _spans(segments: Iterable[HeardSegment], duration: float) -> tuple[list[Span], list[Span]]:
    """The spans of kept and of deleted words, each in order and without overlaps."""
    found: dict[bool, list[Span]] = {False: [], True: []}
    for segment in segments:
        spoken = segment.words or (segment,)
        for word in spoken:
            start, end = max(0.0, word.start_seconds), min(word.end_seconds, duration)
            if start < end:
                found[segment.deleted].append((start, end))
    return merge_spans(found[False]), merge_spans(found[True])


def _joined(deleted: Sequence[Span], gap: float, kept: Sequence[Span]) -> list[Span]:
    """Deleted spans with a short silence between them as one; kept words between them are taken out later."""
    return subtract_spans(merge_spans(deleted, gap_seconds=gap), kept)


def _padded(span: Span, kept: Sequence[Span]) -> Span:
    """A span with a part of the silence on both sides."""
    start, end = span
    at = bisect_left(kept, end, key=lambda each: each[0])  # the first kept span after it; the one before ends earlier
    before = kept[at - 1][1] if at else 0.0
    after = kept[at][0] if at < len(kept) else end + 2 * PAD_SECONDS
    return start - min(PAD_SECONDS, (start - before) / 2), end + min(PAD_SECONDS, (after - end) / 2)


def _silences(spoken: Iterable[Span], duration: float, limit: float) -> list[Span]:
    """The middle of each silence that is longer than the limit."""
    edges = [(0.0, 0.0), *merge_spans(spoken), (duration, duration)]
    return [
        (left[1] + limit / 2, right[0] - limit / 2) for left, right in pairwise(edges) if right[0] - left[1] > limit
    ]


def _whole_frames(spans: Sequence[Span], rate: Fraction, total: int) -> list[FrameSpan]:
    """Cuts on the edges of frames inside of their spans; what would remain between two for an instant is cut, too."""
    cuts: list[FrameSpan] = []
    for start, end in spans:
        # Times have microseconds, so that a cut on the edge of a frame is not moved by a rounding error.
        first, last = max(0, ceil(_exact(start) * rate)), min(floor(_exact(end) * rate), total)
        if last - first >= MIN_FRAMES:
            cuts.append(FrameSpan(first, last))
    return cuts


def _exact(seconds: float) -> Fraction:
    return Fraction(round(seconds * 1_000_000), 1_000_000)


def _remaining(cuts: Sequence[FrameSpan], total: int) -> tuple[FrameSpan, ...]:
    kept, at = [], 0
    for cut in cuts:
        if cut.start > at:
            kept.append(FrameSpan(at, cut.start))
        at = cut.end
    if at < total:
        kept.append(FrameSpan(at, total))
    return tuple(kept)
