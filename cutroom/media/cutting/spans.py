"""Spans of time: joins, subtracts and measures them."""

from collections.abc import Iterable, Sequence

Span = tuple[float, float]  # start and end in seconds


def merge_spans(spans: Iterable[Span], *, gap_seconds: float = 0.0) -> list[Span]:
    """The spans in order and apart; those that overlap, touch or are at most a gap apart are one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start - merged[-1][1] <= gap_seconds:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def subtract_spans(spans: Sequence[Span], taken: Sequence[Span]) -> list[Span]:
    """Spans without the parts that are taken; both are in order and without overlaps."""
    rest: list[Span] = []
    first = 0
    for start, end in spans:
        while first < len(taken) and taken[first][1] <= start:
            first += 1
        begin = start
        for at in range(first, len(taken)):
            low, high = taken[at]
            if low >= end:
                break
            if low > begin:
                rest.append((begin, low))
            begin = max(begin, high)
        if begin < end:
            rest.append((begin, end))
    return rest


def clip_spans(spans: Iterable[Span], start: float, end: float) -> list[Span]:
    """The parts of spans that are in a range of time."""
    clipped = [(max(start, first), min(end, last)) for first, last in spans]
    return [(first, last) for first, last in clipped if first < last]


def total_seconds(spans: Iterable[Span]) -> float:
    return sum(end - start for start, end in spans)
