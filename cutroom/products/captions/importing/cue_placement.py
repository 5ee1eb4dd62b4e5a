"""Puts the cues of translated subtitles into the segments of a transcript.

A translation shares no words with its source, so only times say what belongs together. Cues of one segment are joined,
and a cue over several segments is divided between them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from cutroom.products.transcripts.document import DocumentSegment
from cutroom.products.transcripts.editing.read_cues import ReadCue
from cutroom.products.transcripts.text_units import join_words
from cutroom.text.writing_systems import is_unspaced

GAP_SECONDS = 0.5  # between a cue and the segment that it belongs to, if it overlaps none
# A cue that is in a segment for less than these shares of both is not divided for it.
MIN_CUE_SHARE = 0.25
MIN_SEGMENT_SHARE = 0.5
MAX_CONCURRENT_SHARE = 0.5  # segments that share more of the shorter one are said at once
CLAUSE_REACH = 0.15  # of the text: how far from its share a cue is divided at a comma instead of a space
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]»]*\s+(?=\S)|[。！？।](?=\S)")  # noqa: RUF001 (marks of several scripts)
_CLAUSE_END = re.compile(r"[,;:]\s+(?=\S)|[、，；](?=\S)")  # noqa: RUF001
_SPACE = re.compile(r"\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class PlacedCues:
    """The text of each segment that has any, and how many cues belong to none."""

    texts: Mapping[str, str]
    unplaced: int


def place_cues(cues: Sequence[ReadCue], segments: Sequence[DocumentSegment], *, language: str) -> PlacedCues:
    """Place cues into segments, none of which is deleted."""
    index = _SegmentIndex(segments)
    pieces: dict[str, list[str]] = {}
    unplaced = 0
    for cue in sorted(cues, key=lambda each: (each.start_seconds, each.end_seconds)):
        owners = index.owners(cue, taken=pieces)
        if not owners:
            unplaced += 1
            continue
        shares = [_overlap(cue, each) for each in owners]
        for owner, piece in zip(owners, divide_text(cue.text, shares), strict=True):
            if piece:
                pieces.setdefault(owner.id, []).append(piece)
    return PlacedCues({id_: join_words(found, language=language) for id_, found in pieces.items()}, unplaced)


class _SegmentIndex:
    """Finds the segments around a time; segments may overlap."""

    def __init__(self, segments: Sequence[DocumentSegment]) -> None:
        self._segments = sorted(segments, key=lambda each: each.start_seconds)
        self._starts = [each.start_seconds for each in self._segments]
        self._ends = list(accumulate((each.end_seconds for each in self._segments), max))  # the latest so far

    def owners(self, cue: ReadCue, *, taken: Mapping[str, object]) -> list[DocumentSegment]:
        """The segments that a cue belongs to, in order."""
        first = bisect_left(self._ends, cue.start_seconds - GAP_SECONDS)
        last = bisect_right(self._starts, cue.end_seconds + GAP_SECONDS)
        near = self._segments[first:last]
        found = [each for each in near if _overlap(cue, each) > 0]
        if not found:
            close = [each for each in near if _distance(cue, each) <= GAP_SECONDS]
            return [min(close, key=lambda each: _distance(cue, each))] if close else []
        apart: list[DocumentSegment] = []
        for each in sorted(found, key=lambda one: (-_likeness(cue, one), one.id in taken, one.start_seconds)):
            if not any(_is_concurrent(each, other) for other in apart):
                apart.append(each)
        wanted = [each for each in apart if _is_substantial(cue, each)]
        wanted = wanted or [max(apart, key=lambda each: _overlap(cue, each))]
        return sorted(wanted, key=lambda each: each.start_seconds)


def _overlap(cue: ReadCue, segment: DocumentSegment) -> float:
    start, end = max(cue.start_seconds, segment.start_seconds), min(cue.end_seconds, segment.end_seconds)
    return max(0.0, end - start)


def _distance(cue: ReadCue, segment: DocumentSegment) -> float:
    return max(segment.start_seconds - cue.end_seconds, cue.start_seconds - segment.end_seconds)


def _likeness(cue: ReadCue, segment: DocumentSegment) -> float:
    """The time that both have in common, of the time of either."""
    start, end = min(cue.start_seconds, segment.start_seconds), max(cue.end_seconds, segment.end_seconds)
    return round(_overlap(cue, segment) / max(end - start, 0.001), 3)


def _is_concurrent(one: DocumentSegment, other: DocumentSegment) -> bool:
    shared = min(one.end_seconds, other.end_seconds) - max(one.start_seconds, other.start_seconds)
    shorter = min(one.end_seconds - one.start_seconds, other.end_seconds - other.start_seconds)
    return shared > MAX_CONCURRENT_SHARE * shorter


def _is_substantial(cue: ReadCue, segment: DocumentSegment) -> bool:
    overlap = _overlap(cue, segment)
    of_cue = overlap / max(cue.end_seconds - cue.start_seconds, 0.001)
    of_segment = overlap / max(segment.end_seconds - segment.start_seconds, 0.001)
    return of_cue >= MIN_CUE_SHARE or of_segment >= MIN_SEGMENT_SHARE


def divide_text(text: str, shares: Sequence[float]) -> list[str]:
    """One piece for each share, of about its length: divided between sentences, else between clauses or words.

    A text with too few words leaves the smallest shares empty.
    """
    total = sum(shares) or 1.0
    if len(shares) == 1:
        return [text]
    targets = [round(each / total * len(text)) for each in accumulate(shares)][:-1]
    places = _places(text, targets)
    if places is None:
        least = min(range(len(shares)), key=lambda at: shares[at])
        pieces = divide_text(text, [each for at, each in enumerate(shares) if at != least])
        return [*pieces[:least], "", *pieces[least:]]
    bounds = [0, *places, len(text)]
    return [text[start:end].strip() for start, end in pairwise(bounds)]


def _places(text: str, targets: Sequence[int]) -> list[int] | None:
    """Where a text is divided; None if it cannot be divided so often."""
    sentences = [found.end() for found in _SENTENCE_END.finditer(text)]
    if len(sentences) >= len(targets):
        return _nearest(sentences, targets)
    words = [found.end() for found in _SPACE.finditer(text)]
    words += [at for at in range(1, len(text)) if is_unspaced(text[at]) and is_unspaced(text[at - 1])]
    words = sorted({*words, *sentences})
    if len(words) < len(targets):
        return None
    clauses = sorted({*sentences, *(found.end() for found in _CLAUSE_END.finditer(text))})
    return _nearest(words, [_at_clause(clauses, target, reach=CLAUSE_REACH * len(text)) for target in targets])


def _at_clause(clauses: Sequence[int], target: int, *, reach: float) -> int:
    """The end of a clause near the target, or the target."""
    near = [each for each in clauses if abs(each - target) <= reach]
    return min(near, key=lambda each: abs(each - target), default=target)


def _nearest(places: Sequence[int], targets: Sequence[int]) -> list[int]:
    """For each target, in order, the nearest place after the one before that leaves enough for the others."""
    chosen: list[int] = []
    first = 0
    for at, target in enumerate(targets):
        last = len(places) - (len(targets) - at)
        best = min(range(first, last + 1), key=lambda place: abs(places[place] - target))
        chosen.append(places[best])
        first = best + 1
    return chosen
