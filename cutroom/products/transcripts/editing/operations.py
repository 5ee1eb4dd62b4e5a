"""Edit operations on a transcript document: pure functions that validate and return a new document."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument, rounded, speaker_label
from cutroom.products.transcripts.editing.operation_types import (
    DeleteSegments,
    DeleteWords,
    InsertSegment,
    MergeSegments,
    MergeSpeakers,
    Operation,
    RenameSpeaker,
    ReplaceText,
    RestoreSegments,
    SetSpeaker,
    SetTimes,
    SplitSegment,
)
from cutroom.products.transcripts.editing.splitting import SplitPoint
from cutroom.products.transcripts.text_units import join_words
from cutroom.text.writing_systems import is_unspaced

MAX_OPERATIONS = 200  # of one change
MAX_SEGMENTS = 20_000  # of one transcript
MAX_TEXT = 2_000  # characters of one segment
MAX_SPEAKERS = 100
MAX_LABEL = 100  # characters
MAX_MERGED = 100  # segments of one merge
MAX_SECONDS = 48 * 3600.0  # of a recording whose duration is not known
SPEAKER_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"

_SPEAKER = re.compile(SPEAKER_PATTERN)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_WHITESPACE = re.compile(r"\s+")


class InvalidEditError(ValueError):
    """An operation cannot be applied; `field` names the part of it that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@dataclass(frozen=True, slots=True)
class EditContext:
    """What operations need to know beside the document."""

    language: str
    duration_seconds: float | None
    new_id: Callable[[], str]
    split_point: Callable[[DocumentSegment, int], SplitPoint]  # where a segment is split before a character


def apply_operations(
    document: TranscriptDocument, operations: Sequence[Operation], context: EditContext
) -> TranscriptDocument:
    """Apply operations in order. All or none: an InvalidEditError's field begins with `operations.INDEX`."""
    if len(operations) > MAX_OPERATIONS:
        raise InvalidEditError("operations", f"At most {MAX_OPERATIONS} operations.")
    draft = _Draft(document, context)
    for at, operation in enumerate(operations):
        try:
            draft.apply(operation)
        except InvalidEditError as error:
            raise InvalidEditError(f"operations.{at}.{error.field}", error.message) from error
    return TranscriptDocument(tuple(draft.segments), draft.labels)


def checked_text(text: str, field: str = "text") -> str:
    """The text of a segment on one line, without control characters."""
    if not (checked := _on_one_line(text, field, limit=MAX_TEXT)):
        raise InvalidEditError(field, "Text is required. Delete the segment to leave it out.")
    return checked


def _on_one_line(text: str, field: str, *, limit: int) -> str:
    if _CONTROL.search(text):
        raise InvalidEditError(field, "Control characters are not allowed.")
    checked = _WHITESPACE.sub(" ", text).strip()
    if len(checked) > limit:
        raise InvalidEditError(field, f"At most {limit} characters.")
    return checked


class _Draft:
    """The segments and labels while operations are applied to them."""

    def __init__(self, document: TranscriptDocument, context: EditContext) -> None:
        self.segments = list(document.segments)
        self.labels = dict(document.labels)
        self.context = context
        self._positions: dict[str, int] | None = None

    def apply(self, operation: Operation) -> None:
        match operation:
            case ReplaceText(segment_id, text):
                self._replace(self._find(segment_id), text=checked_text(text))
            case SplitSegment():
                self._split(operation)
            case MergeSegments(segment_ids):
                self._merge(segment_ids)
            case SetSpeaker() | RenameSpeaker() | MergeSpeakers():
                self._change_speakers(operation)
            case SetTimes():
                self._set_times(operation)
            case DeleteSegments(segment_ids) | RestoreSegments(segment_ids):
                for at in self._find_all(segment_ids):
                    self._replace(at, deleted=isinstance(operation, DeleteSegments))
            case InsertSegment():
                self._insert(operation)
            case DeleteWords():
                self._delete_words(operation)

    def _find(self, segment_id: str, field: str = "id") -> int:
        if self._positions is None:
            self._positions = {segment.id: at for at, segment in enumerate(self.segments)}
        at = self._positions.get(segment_id)
        if at is None:
            raise InvalidEditError(field, "There is no such segment in this revision.")
        return at

    def _find_all(self, segment_ids: Sequence[str]) -> list[int]:
        if not segment_ids:
            raise InvalidEditError("ids", "At least one segment is required.")
        if len(set(segment_ids)) != len(segment_ids):
            raise InvalidEditError("ids", "A segment is listed twice.")
        return [self._find(each, f"ids.{number}") for number, each in enumerate(segment_ids)]

    def _replace(self, at: int, **changes: object) -> None:
        self.segments[at] = replace(self.segments[at], **changes)  # type: ignore[arg-type]

    def _splice(self, at: int, until: int, segments: Sequence[DocumentSegment]) -> None:
        self.segments[at:until] = segments
        self._positions = None
        if len(self.segments) > MAX_SEGMENTS:
            raise InvalidEditError("op", f"A transcript has at most {MAX_SEGMENTS} segments.")

    def _split(self, operation: SplitSegment) -> None:
        at = self._find(operation.segment_id)
        segment = self.segments[at]
        if not 0 < operation.at < len(segment.text):
            raise InvalidEditError("at", f"Between 1 and {len(segment.text) - 1}, inside of the text.")
        first, second = segment.text[: operation.at].rstrip(), segment.text[operation.at :].lstrip()
        if not first or not second:
            raise InvalidEditError("at", "Both segments need text.")
        found = self.context.split_point(segment, operation.at)
        if operation.at_seconds is not None:
            seconds = rounded(_finite(operation.at_seconds, "seconds"))
            found = SplitPoint(seconds, seconds)
        if not segment.start_seconds < found.end_seconds <= found.start_seconds < segment.end_seconds:
            raise InvalidEditError("seconds", "The time of a split is inside of the segment.")
        self._splice(
            at,
            at + 1,
            [
                replace(segment, text=first, end_seconds=found.end_seconds),
                replace(segment, id=self.context.new_id(), text=second, start_seconds=found.start_seconds),
            ],
        )

    def _delete_words(self, operation: DeleteWords) -> None:
        """Split the segment around each range, from the last to the first, so that positions stay those of the text."""
        at = self._find(operation.segment_id)
        text, until = self.segments[at].text, len(self.segments[at].text)
        if not operation.ranges:
            raise InvalidEditError("ranges", "At least one range is required.")
        for number, (start, end) in reversed(list(enumerate(operation.ranges))):
            if not 0 <= start < end <= until:
                raise InvalidEditError(f"ranges.{number}", "Ranges are inside of the text, in order and apart.")
            if not text[start:end].strip():
                raise InvalidEditError(f"ranges.{number}", "There is no word in this range.")
            for edge in (start, end):
                if _is_inside_word(text, edge):
                    raise InvalidEditError(f"ranges.{number}", "A range begins and ends between words.")
            edges = [edge for edge, beside in ((end, text[end:until]), (start, text[:start])) if beside.strip()]
            try:
                for edge in edges:
                    self._split(SplitSegment(operation.segment_id, edge))
            except InvalidEditError as error:
                message = "These words have no times of their own. They may have some when the segment is aligned."
                raise InvalidEditError(f"ranges.{number}", message) from error
            self._replace(at + 1 if start in edges else at, deleted=True)
            until = start

    def _merge(self, segment_ids: Sequence[str]) -> None:
        if not 2 <= len(segment_ids) <= MAX_MERGED:
            raise InvalidEditError("ids", f"Between 2 and {MAX_MERGED} segments.")
        found = sorted(self._find_all(segment_ids))
        first, last = found[0], found[-1]
        if found != list(range(first, last + 1)):
            raise InvalidEditError("ids", "Only neighboring segments can be merged.")
        merged = self.segments[first : last + 1]
        if len({segment.deleted for segment in merged}) > 1:
            raise InvalidEditError("ids", "Deleted segments cannot be merged with others. Restore them first.")
        text = checked_text(join_words([segment.text for segment in merged], language=self.context.language), "ids")
        end = max(segment.end_seconds for segment in merged)
        self._splice(first, last + 1, [replace(merged[0], text=text, end_seconds=end)])

    def _change_speakers(self, operation: SetSpeaker | RenameSpeaker | MergeSpeakers) -> None:
        match operation:
            case SetSpeaker(segment_ids, speaker):
                self._set_speaker(segment_ids, speaker)
            case RenameSpeaker(speaker, label):
                self._rename_speaker(speaker, label)
            case MergeSpeakers(speakers, into):
                self._merge_speakers(speakers, into)

    def _set_speaker(self, segment_ids: Sequence[str], speaker: str) -> None:
        self._require_speaker(speaker)
        for at in self._find_all(segment_ids):
            self._replace(at, speaker=speaker)

    def _rename_speaker(self, speaker: str, label: str) -> None:
        self._find_speaker(speaker, "speaker")
        if not (checked := _on_one_line(label, "label", limit=MAX_LABEL)):
            raise InvalidEditError("label", "A label is required.")
        self.labels[speaker] = checked

    def _merge_speakers(self, speakers: Sequence[str], into: str) -> None:
        for number, speaker in enumerate(speakers):
            self._find_speaker(speaker, f"speakers.{number}")
        merged = set(speakers)
        if not merged:
            raise InvalidEditError("speakers", "At least one speaker is required.")
        self.labels = {speaker: label for speaker, label in self.labels.items() if speaker not in merged - {into}}
        self._require_speaker(into, "into")
        for at, segment in enumerate(self.segments):
            if segment.speaker in merged:
                self._replace(at, speaker=into)

    def _find_speaker(self, speaker: str, field: str) -> None:
        if speaker not in self.labels:
            raise InvalidEditError(field, "There is no such speaker in this revision.")

    def _set_times(self, operation: SetTimes) -> None:
        at = self._find(operation.segment_id)
        segment = self.segments[at]
        start, end = self._span(operation.start_seconds, operation.end_seconds)
        # Segments that were recognized with an overlap may keep it.
        earliest = min(self._end_before(at), segment.start_seconds)
        latest = max(self._start_at(at + 1), segment.end_seconds)
        self._require_between(start, end, earliest=earliest, latest=latest)
        self._replace(at, start_seconds=start, end_seconds=end)

    def _insert(self, operation: InsertSegment) -> None:
        start, end = self._span(operation.start_seconds, operation.end_seconds)
        text = checked_text(operation.text)
        self._require_speaker(operation.speaker)
        following = (at for at, segment in enumerate(self.segments) if segment.start_seconds >= start)
        at = next(following, len(self.segments))
        self._require_between(start, end, earliest=self._end_before(at), latest=self._start_at(at))
        self._splice(at, at, [DocumentSegment(self.context.new_id(), start, end, text, operation.speaker)])

    def _span(self, start_seconds: float, end_seconds: float) -> tuple[float, float]:
        start, end = rounded(_finite(start_seconds, "start")), rounded(_finite(end_seconds, "end"))
        limit = self.context.duration_seconds or MAX_SECONDS
        if start < 0:
            raise InvalidEditError("start", "At least 0.")
        if end <= start:
            raise InvalidEditError("end", "After the start.")
        if end > limit:
            raise InvalidEditError("end", f"At most {rounded(limit)}, the end of the recording.")
        return start, end

    def _end_before(self, at: int) -> float:
        return self.segments[at - 1].end_seconds if at > 0 else 0.0

    def _start_at(self, at: int) -> float:
        return self.segments[at].start_seconds if at < len(self.segments) else math.inf

    def _require_between(self, start: float, end: float, *, earliest: float, latest: float) -> None:
        if start < earliest:
            raise InvalidEditError("start", f"This overlaps the segment before, which ends at {earliest}.")
        if end > latest:
            raise InvalidEditError("end", f"This overlaps the next segment, which starts at {latest}.")

    def _require_speaker(self, speaker: str, field: str = "speaker") -> None:
        """Adds the speaker if there is none of this id."""
        if not _SPEAKER.fullmatch(speaker):
            raise InvalidEditError(field, "Letters, digits, dots, dashes and underscores, at most 64.")
        self.labels.setdefault(speaker, speaker_label(speaker))
        if len(self.labels) > MAX_SPEAKERS:
            raise InvalidEditError(field, f"At most {MAX_SPEAKERS} speakers.")


def _is_inside_word(text: str, at: int) -> bool:
    """Whether a position is between letters or digits of a word; scripts without spaces have no such words."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return before.isalnum() and after.isalnum() and not (is_unspaced(before) or is_unspaced(after))


def _finite(seconds: float, field: str) -> float:
    if not math.isfinite(seconds):
        raise InvalidEditError(field, "This must be a finite number.")
    return seconds
