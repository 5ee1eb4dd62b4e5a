"""Keeps the ids of segments when the same sound is recognized again."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from difflib import SequenceMatcher

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument

MIN_OVERLAP = 0.5  # of the longer of two segments, if their texts say nothing
MIN_SIMILARITY = 0.5  # of their words, if they overlap at all
MAX_SEGMENT_SECONDS = 60.0  # of those that are compared; longer ones are found by their start


def keep_ids(
    before: TranscriptDocument, recognized: TranscriptDocument, *, new_id: Callable[[], str]
) -> TranscriptDocument:
    """The recognized document with the ids of segments that it has in common with the one before.

    Pairs are matched from the best to the worst, each segment once. A matched segment stays deleted if it was.
    """
    pairs: list[tuple[float, int, int]] = []
    order = sorted(range(len(before.segments)), key=lambda at: before.segments[at].start_seconds)
    starts = [before.segments[at].start_seconds for at in order]
    for at, segment in enumerate(recognized.segments):
        first = bisect_left(starts, segment.start_seconds - MAX_SEGMENT_SECONDS)
        last = bisect_left(starts, segment.end_seconds)
        for old in order[first:last]:
            score = _score(before.segments[old], segment)
            if score > 0:
                pairs.append((-score, at, old))
    matched: dict[int, int] = {}
    taken: set[int] = set()
    for _, at, old in sorted(pairs):
        if at not in matched and old not in taken:
            matched[at] = old
            taken.add(old)

    def identified(at: int, segment: DocumentSegment) -> DocumentSegment:
        if at not in matched:
            return replace(segment, id=new_id())
        known = before.segments[matched[at]]
        return replace(segment, id=known.id, deleted=known.deleted)

    return replace(
        recognized, segments=tuple(identified(at, segment) for at, segment in enumerate(recognized.segments))
    )


def _score(old: DocumentSegment, new: DocumentSegment) -> float:
    """How surely two segments are the same sound: 0 if not, up to 2 for equal times and equal words."""
    shared = min(old.end_seconds, new.end_seconds) - max(old.start_seconds, new.start_seconds)
    if shared <= 0:
        return 0.0
    overlap = shared / max(old.end_seconds - old.start_seconds, new.end_seconds - new.start_seconds)
    similarity = _similarity(old.text, new.text)
    return overlap + similarity if overlap >= MIN_OVERLAP or similarity >= MIN_SIMILARITY else 0.0


def _similarity(old: str, new: str) -> float:
    if old == new:
        return 1.0
    return SequenceMatcher(None, old.casefold().split(), new.casefold().split(), autojunk=False).ratio()
