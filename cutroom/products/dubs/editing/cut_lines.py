"""Follows lines through deleted words: which remains belong to a line, and what of its time is cut.

Deleting words splits a segment. What remains of it stays in its line, so that it is translated and spoken as one.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from cutroom.media.cutting.spans import Span, merge_spans, subtract_spans
from cutroom.products.dubs.editing.lines import PublishedLine
from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument, rounded

TOLERANCE_SECONDS = 0.002  # of rounded times
MAX_OVERLAPPING = 16  # published segments that begin before a remainder and may contain it


@dataclass(frozen=True)
class CutLines:
    """Published lines, and the transcript that words were deleted from."""

    published: Sequence[PublishedLine]
    document: TranscriptDocument
    silent: frozenset[str] = frozenset()  # segments that are not deleted, but that the dub leaves out

    @cached_property
    def owners(self) -> Mapping[str, str]:
        """The line of each segment that was in one, and of each remainder beside deleted words of one."""
        lines = {each.id: each for each in self.published}
        owners = {segment: each.id for each in self.published for segment in each.source.segment_ids}
        before: DocumentSegment | None = None
        for segment in self.document.segments:
            line = self._line_at(segment) if segment.id not in owners and not segment.deleted else None
            if line is not None and line.source.speaker == segment.speaker:
                is_restored = any(_contains(cut, segment) for cut in line.source.cuts)
                follows_cut = (
                    before is not None and self._is_cut(before) and self._line_of(before, lines, owners) == line
                )
                if is_restored or follows_cut:
                    owners[segment.id] = line.id
            before = segment
        return owners

    def cuts_between(self, segments: Sequence[DocumentSegment]) -> tuple[Span, ...]:
        """When words were deleted between the segments of a line."""
        if len(segments) < 2:
            return ()
        start, end = segments[0].start_seconds, max(each.end_seconds for each in segments)
        first = bisect_left(self._deleted, (start, start))
        inside = []
        for at in range(first, len(self._deleted)):
            if self._deleted[at][0] >= end:
                break
            inside.append((self._deleted[at][0], min(self._deleted[at][1], end)))
        kept = merge_spans((each.start_seconds, each.end_seconds) for each in segments)
        return tuple((rounded(first), rounded(last)) for first, last in subtract_spans(merge_spans(inside), kept))

    def has_lost_words(self, line: PublishedLine) -> bool:
        """Whether words that the line was made of are deleted now."""
        return any(self._is_cut(each) for each in self._said_in(line))

    def differs_by_cuts_only(self, line: PublishedLine) -> bool:
        """Whether the source of a line is what it was when deleted words are counted."""
        source, said = line.source, self._said_in(line)
        if not said or {each.speaker for each in said} != {source.speaker}:
            return False
        times = (said[0].start_seconds, max(each.end_seconds for each in said))
        is_in_place = all(
            abs(now - then) <= TOLERANCE_SECONDS
            for now, then in zip(times, (source.start_seconds, source.end_seconds), strict=True)
        )
        return is_in_place and _letters(each.text for each in said) == _letters([source.text])

    def _is_cut(self, segment: DocumentSegment) -> bool:
        return segment.deleted and segment.id not in self.silent

    def _said_in(self, line: PublishedLine) -> list[DocumentSegment]:
        """The segments of the line and the remainders of them, deleted ones included, in order."""
        segments, positions, found = self.document.segments, self.document.positions, set[int]()
        for id_ in line.source.segment_ids:
            if (at := positions.get(id_)) is None:
                continue
            found.add(at)
            while at + 1 < len(segments) and any(_contains(span, segments[at + 1]) for span in line.segment_spans):
                at += 1
                found.add(at)
        return [segments[at] for at in sorted(found)]

    @cached_property
    def _deleted(self) -> list[Span]:
        return merge_spans(
            (each.start_seconds, each.end_seconds) for each in self.document.segments if self._is_cut(each)
        )

    @cached_property
    def _spans(self) -> list[tuple[float, float, int]]:
        return sorted((*span, at) for at, line in enumerate(self.published) for span in line.segment_spans)

    def _line_at(self, segment: DocumentSegment) -> PublishedLine | None:
        """The line of the published segment in whose time a segment is, or in whose cut."""
        last = bisect_right(self._spans, (segment.start_seconds + TOLERANCE_SECONDS, float("inf"), 0))
        for start, end, at in reversed(self._spans[max(0, last - MAX_OVERLAPPING) : last]):
            line = self.published[at]
            inside = (start, end), *line.source.cuts
            if line.source.speaker == segment.speaker and any(_contains(span, segment) for span in inside):
                return line
        return None

    def _line_of(
        self, segment: DocumentSegment, lines: Mapping[str, PublishedLine], owners: Mapping[str, str]
    ) -> PublishedLine | None:
        owner = owners.get(segment.id)
        return lines[owner] if owner is not None else self._line_at(segment)


def _contains(span: Span, segment: DocumentSegment) -> bool:
    start, end = span
    return start - TOLERANCE_SECONDS <= segment.start_seconds and segment.end_seconds <= end + TOLERANCE_SECONDS


def _letters(texts: Iterable[str]) -> str:
    return "".join("".join(texts).split())
