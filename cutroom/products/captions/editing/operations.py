"""Edits of a caption track: pure functions that validate and return the changed segments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cutroom.products.captions.editing.segments import CaptionSegment, EngineTranslation
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.products.transcripts.editing.operations import InvalidEditError, checked_text

MAX_OPERATIONS = 200  # of one change
MAX_IDS = 500  # segments of one operation
NOT_IN_TRANSCRIPT = "The transcript has no such segment."
NOT_IN_CAPTIONS = "The captions have no such segment."


@dataclass(frozen=True, slots=True)
class SetText:
    """Sets the text of a segment by hand."""

    segment_id: str
    text: str


@dataclass(frozen=True, slots=True)
class AcceptSegments:
    """Says that the texts of segments are right for what is said now."""

    segment_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResetSegments:
    """Returns segments to the translation of the engine."""

    segment_ids: tuple[str, ...]


Operation = SetText | AcceptSegments | ResetSegments


@dataclass(frozen=True, slots=True)
class SeenTranscript:
    """The segments of the revision that the editor has seen, without deleted ones."""

    revision: int
    segments: Mapping[str, DocumentSegment]


def apply_operations(
    captions: Mapping[str, CaptionSegment], operations: Sequence[Operation], transcript: SeenTranscript
) -> dict[str, CaptionSegment]:
    """Apply operations in order. All or none: an InvalidEditError's field begins with `operations.INDEX`."""
    edited = dict(captions)
    for at, operation in enumerate(operations):
        try:
            _apply(edited, operation, transcript)
        except InvalidEditError as error:
            raise InvalidEditError(f"operations.{at}.{error.field}", error.message) from error
    return edited


def _apply(edited: dict[str, CaptionSegment], operation: Operation, transcript: SeenTranscript) -> None:
    match operation:
        case SetText(segment_id, text):
            edited[segment_id] = _with_text(edited.get(segment_id), checked_text(text), segment_id, transcript)
        case AcceptSegments(segment_ids):
            for number, segment_id in enumerate(segment_ids):
                field = f"ids.{number}"
                segment = _require(edited, segment_id, field)
                source = _source(transcript, segment_id, field)
                edited[segment_id] = replace(
                    segment, source=source.text, transcript_revision=transcript.revision, reasons=()
                )
        case ResetSegments(segment_ids):
            for number, segment_id in enumerate(segment_ids):
                segment = _require(edited, segment_id, f"ids.{number}")
                if segment.edited and segment.translation is None:
                    del edited[segment_id]  # a segment that was never translated
                elif segment.translation is not None:
                    made = segment.translation
                    edited[segment_id] = replace(
                        segment, text=made.text, source=made.source, edited=False, translation=None
                    )


def _with_text(
    segment: CaptionSegment | None, text: str, segment_id: str, transcript: SeenTranscript
) -> CaptionSegment:
    source = _source(transcript, segment_id, "id")
    if segment is None:
        return CaptionSegment(
            segment_id,
            source.start_seconds,
            source.end_seconds,
            source.speaker,
            text,
            source.text,
            transcript.revision,
            edited=True,
        )
    made = segment.translation if segment.edited else EngineTranslation(segment.text, segment.source)
    return replace(
        segment, text=text, source=source.text, transcript_revision=transcript.revision, edited=True, translation=made
    )


def _require(edited: Mapping[str, CaptionSegment], segment_id: str, field: str) -> CaptionSegment:
    if (segment := edited.get(segment_id)) is None:
        raise InvalidEditError(field, NOT_IN_CAPTIONS)
    return segment


def _source(transcript: SeenTranscript, segment_id: str, field: str) -> DocumentSegment:
    if (segment := transcript.segments.get(segment_id)) is None:
        raise InvalidEditError(field, NOT_IN_TRANSCRIPT)
    return segment


@dataclass(frozen=True, slots=True)
class ChangedCaption:
    """A segment that differs; None where there is none."""

    id: str
    before: CaptionSegment | None
    after: CaptionSegment | None


def changes_between(before: Mapping[str, CaptionSegment], after: Mapping[str, CaptionSegment]) -> list[ChangedCaption]:
    ids = dict.fromkeys([*before, *after])
    found = (ChangedCaption(each, before.get(each), after.get(each)) for each in ids)
    return [change for change in found if change.before != change.after]
