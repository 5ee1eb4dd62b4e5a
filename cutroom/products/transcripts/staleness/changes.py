"""What was said differently in two revisions of a transcript, as spans of time with a reason.

Words are compared, not segments: splitting or merging segments changes nothing, and a word that is deleted leaves the
other words of its segment as they were.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from rapidfuzz.distance import Levenshtein

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument

MAX_COMPARED_WORDS = 4_000  # of a passage; a longer one that differs counts as changed as a whole
EDGE_SECONDS = 0.05  # by which a change may reach into a range without belonging to it


class SourceChange(StrEnum):
    """How a passage of the transcript has changed since a product was made from it."""

    SOURCE_CHANGED = "sourceChanged"  # other words
    ADDED = "added"  # words that were not there, or that were deleted
    REMOVED = "removed"  # words that are deleted now, or no longer there
    TIMES_CHANGED = "timesChanged"
    SPEAKER_CHANGED = "speakerChanged"


@dataclass(frozen=True, slots=True)
class ChangedSpan:
    """A part of the recording in which something else is said now."""

    start_seconds: float
    end_seconds: float
    change: SourceChange


@dataclass(frozen=True, slots=True)
class _Word:
    """A word with its estimated times: in proportion to the characters of its segment."""

    text: str
    start_seconds: float
    end_seconds: float
    speaker: str
    deleted: bool
    segment_seconds: float


def changed_spans(before: TranscriptDocument, after: TranscriptDocument) -> list[ChangedSpan]:
    """The spans that differ, in order. Words that are deleted in both do not count."""
    spans: list[ChangedSpan] = []
    for old, new in _passages(before.segments, after.segments):
        spans += _compare_passage(old, new)
        spans += _moved(old, new)
    return sorted(spans, key=lambda each: (each.start_seconds, each.end_seconds, each.change.value))


def changes_within(
    spans: Iterable[ChangedSpan], ranges: Iterable[tuple[float, float]] | None = None
) -> tuple[SourceChange, ...]:
    """The kinds of changes in some ranges of the recording, or anywhere; in the order in which they are listed."""
    wanted = None if ranges is None else list(ranges)
    found = {each.change for each in spans if wanted is None or any(_overlaps(each, *part) for part in wanted)}
    return tuple(change for change in SourceChange if change in found)


def _overlaps(span: ChangedSpan, start: float, end: float) -> bool:
    low, high = max(span.start_seconds, start), min(span.end_seconds, end)
    return high - low > min(EDGE_SECONDS, (span.end_seconds - span.start_seconds) / 2)


Passage = tuple[list[DocumentSegment], list[DocumentSegment]]


def _passages(before: Sequence[DocumentSegment], after: Sequence[DocumentSegment]) -> Iterator[Passage]:
    """The segments between those that are the same in both."""
    positions = {segment.id: at for at, segment in enumerate(after)}
    start = at = 0
    for number, segment in enumerate(before):
        position = positions.get(segment.id)
        if position is None or position < at or after[position] != segment:
            continue
        if number > start or position > at:
            yield list(before[start:number]), list(after[at:position])
        start, at = number + 1, position + 1
    if start < len(before) or at < len(after):
        yield list(before[start:]), list(after[at:])


def _compare_passage(old: Sequence[DocumentSegment], new: Sequence[DocumentSegment]) -> list[ChangedSpan]:
    """What differs in the words of one passage."""
    words, others = _words(old), _words(new)
    if len(words) + len(others) > MAX_COMPARED_WORDS:
        same = [(each.text, each.deleted, each.speaker) for each in words] == [
            (each.text, each.deleted, each.speaker) for each in others
        ]
        return [] if same else [_span(SourceChange.SOURCE_CHANGED, [*words, *others])]
    spans: list[ChangedSpan] = []
    operations = Levenshtein.opcodes([each.text for each in words], [each.text for each in others])
    for each in operations:
        was, now = words[each.src_start : each.src_end], others[each.dest_start : each.dest_end]
        if each.tag == "equal":
            spans += _compare_equal(was, now)
        else:
            spans += _compare_different(was, now)
    return spans


def _compare_equal(was: Sequence[_Word], now: Sequence[_Word]) -> Iterator[ChangedSpan]:
    """The same words: deleted, restored, or said by another speaker."""
    pairs = zip(was, now, strict=True)
    for change, run in groupby(pairs, key=lambda pair: _change_of(*pair)):
        if change is not None:
            # The times of the shorter segment are the better estimate.
            yield _span(change, [min(pair, key=lambda word: word.segment_seconds) for pair in run])


def _change_of(was: _Word, now: _Word) -> SourceChange | None:
    if was.deleted and now.deleted:
        return None
    if was.deleted != now.deleted:
        return SourceChange.REMOVED if now.deleted else SourceChange.ADDED
    return SourceChange.SPEAKER_CHANGED if was.speaker != now.speaker else None


def _compare_different(was: Sequence[_Word], now: Sequence[_Word]) -> Iterator[ChangedSpan]:
    """Other words in the place of some; on either side there may be none."""
    old, new = [each for each in was if not each.deleted], [each for each in now if not each.deleted]
    if old and new:
        yield _span(SourceChange.SOURCE_CHANGED, [*old, *new])
    elif old:
        yield _span(SourceChange.REMOVED, old)
    elif new:
        yield _span(SourceChange.ADDED, new)


def _moved(old: Sequence[DocumentSegment], new: Sequence[DocumentSegment]) -> Iterator[ChangedSpan]:
    """Segments with the same words at other times."""
    known = {each.id: each for each in old}
    for segment in new:
        was = known.get(segment.id)
        if was is None or segment.deleted or was.deleted or was.text != segment.text:
            continue
        if (was.start_seconds, was.end_seconds) != (segment.start_seconds, segment.end_seconds):
            start = min(was.start_seconds, segment.start_seconds)
            yield ChangedSpan(start, max(was.end_seconds, segment.end_seconds), SourceChange.TIMES_CHANGED)


def _words(segments: Sequence[DocumentSegment]) -> list[_Word]:
    return [word for segment in segments for word in _words_of(segment)]


def _words_of(segment: DocumentSegment) -> Iterator[_Word]:
    seconds = segment.end_seconds - segment.start_seconds
    at, length = 0, max(len(segment.text), 1)
    for text in segment.text.split():
        at = segment.text.index(text, at)
        end = at + len(text)
        start_seconds = segment.start_seconds + seconds * at / length
        end_seconds = segment.start_seconds + seconds * end / length
        yield _Word(text, start_seconds, end_seconds, segment.speaker, segment.deleted, seconds)
        at = end


def _span(change: SourceChange, words: Sequence[_Word]) -> ChangedSpan:
    return ChangedSpan(min(each.start_seconds for each in words), max(each.end_seconds for each in words), change)
