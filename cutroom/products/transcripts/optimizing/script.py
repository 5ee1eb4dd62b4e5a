"""An optimized script: what voices say instead of the transcript, by segment, and what each text was made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from cutroom.products.transcripts.document import DocumentSegment, TranscriptDocument

RULES = "rules"  # the engine that only removes disfluencies


@dataclass(frozen=True, slots=True)
class MadeWording:
    """What an engine made of a segment, kept while a text by hand replaces it."""

    text: str
    source: str
    engine: str


@dataclass(frozen=True, slots=True)
class ScriptSegment:
    """The text of one segment; an empty one is silent."""

    id: str
    text: str
    source: str  # the text of the transcript that it was made from, or that its editor has seen
    engine: str | None  # None if no engine has made one
    edited: bool = False
    made: MadeWording | None = None  # of an edited segment

    def to_row(self) -> dict[str, Any]:
        """The segment as a script stores it."""
        row: dict[str, Any] = {"id": self.id, "text": self.text, "source": self.source, "engine": self.engine}
        if self.edited:
            row["edited"] = True
        if self.made is not None:
            row["made"] = {"text": self.made.text, "source": self.made.source, "engine": self.made.engine}
        return row

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "ScriptSegment":
        made = MadeWording(**row["made"]) if "made" in row else None
        return cls(row["id"], row["text"], row["source"], row["engine"], bool(row.get("edited", False)), made)


@dataclass(frozen=True, slots=True)
class OptimizedScript:
    """All segments that were optimized, in any order; revision 0 is a script that does not exist yet."""

    revision: int = 0
    segments: Mapping[str, ScriptSegment] = field(default_factory=dict)

    def to_row(self) -> dict[str, Any]:
        """The script as its transcript stores it."""
        return {"revision": self.revision, "segments": [each.to_row() for each in self.segments.values()]}

    @classmethod
    def from_row(cls, row: Mapping[str, Any] | None) -> "OptimizedScript":
        if row is None:
            return cls()
        return cls(row["revision"], {each["id"]: ScriptSegment.from_row(each) for each in row["segments"]})


class ScriptStaleReason(StrEnum):
    """Why a segment of a script no longer belongs to the transcript."""

    SOURCE_CHANGED = "sourceChanged"
    ADDED = "added"  # to the transcript
    REMOVED = "removed"  # from it, or deleted in it


@dataclass(frozen=True, slots=True)
class ScriptStatus:
    """A segment in the transcript, in the script, or in both."""

    id: str
    source: DocumentSegment | None
    segment: ScriptSegment | None
    stale: tuple[ScriptStaleReason, ...] = ()
    needs_review: bool = False  # edited by hand, before the transcript changed

    @property
    def spoken_text(self) -> str:
        """What voices say: what is stale is said as the transcript has it."""
        if self.source is None:
            return ""
        return self.segment.text if self.segment is not None and not self.stale else self.source.text


def compare_script(script: OptimizedScript, transcript: Sequence[DocumentSegment]) -> list[ScriptStatus]:
    """The segments of the transcript, which has no deleted ones, in its order, then those that it lacks."""
    removed = removed_segments(script, transcript)
    return [
        *(_status(each, script.segments.get(each.id)) for each in transcript),
        *(ScriptStatus(id_, None, each, (ScriptStaleReason.REMOVED,)) for id_, each in removed.items()),
    ]


def _status(source: DocumentSegment, segment: ScriptSegment | None) -> ScriptStatus:
    if segment is None:
        return ScriptStatus(source.id, source, None, (ScriptStaleReason.ADDED,))
    is_changed = segment.source != source.text
    stale = (ScriptStaleReason.SOURCE_CHANGED,) if is_changed and not segment.edited else ()
    return ScriptStatus(source.id, source, segment, stale, needs_review=is_changed and segment.edited)


def spoken_texts(transcript: Sequence[DocumentSegment], script: OptimizedScript) -> dict[str, str]:
    """What voices say of each segment of the transcript, which has no deleted ones."""
    return {each.id: each.spoken_text for each in compare_script(script, transcript) if each.source is not None}


def spoken_document(document: TranscriptDocument, script: OptimizedScript) -> TranscriptDocument:
    """The transcript as voices say it: with the texts of the script, and silent segments as deleted ones."""
    texts = spoken_texts(document.kept, script)

    def spoken(segment: DocumentSegment) -> DocumentSegment:
        text = texts.get(segment.id)
        if segment.deleted or text is None:
            return segment
        return replace(segment, text=text) if text else replace(segment, deleted=True)

    return TranscriptDocument(tuple(spoken(each) for each in document.segments), document.labels)


@dataclass(frozen=True, slots=True)
class ScriptEdit:
    """A text that a person sets for a segment; None returns to what the engine made."""

    segment_id: str
    text: str | None


def apply_edits(
    script: OptimizedScript, edits: Sequence[ScriptEdit], sources: Mapping[str, DocumentSegment]
) -> OptimizedScript:
    """The script with edits of segments of the transcript, as a new revision if any text has changed."""
    segments = dict(script.segments)
    for edit in edits:
        segment = segments.get(edit.segment_id)
        if edit.text is None:
            if segment is None or not segment.edited:
                continue
            if segment.made is None:
                del segments[edit.segment_id]
            else:
                made = segment.made
                segments[edit.segment_id] = ScriptSegment(edit.segment_id, made.text, made.source, made.engine)
            continue
        source = sources[edit.segment_id].text
        engine = segment.engine if segment is not None else None
        segments[edit.segment_id] = ScriptSegment(
            edit.segment_id, edit.text, source, engine, edited=True, made=_made(segment)
        )
    return script if segments == script.segments else OptimizedScript(script.revision + 1, segments)


def _made(segment: ScriptSegment | None) -> MadeWording | None:
    """What the engine has made of a segment."""
    if segment is None or segment.edited or segment.engine is None:
        return segment.made if segment is not None else None
    return MadeWording(segment.text, segment.source, segment.engine)


def stale_segments(script: OptimizedScript, transcript: Sequence[DocumentSegment]) -> list[DocumentSegment]:
    """The segments of the transcript for which an engine has to make a text."""
    return [each.source for each in compare_script(script, transcript) if each.stale and each.source is not None]


def has_stale(script: OptimizedScript, transcript: Sequence[DocumentSegment]) -> bool:
    """Whether anything in the script does not belong to the transcript."""
    return any(each.stale for each in compare_script(script, transcript))


def merge_made(
    script: OptimizedScript, made: Sequence[ScriptSegment], removed: Mapping[str, ScriptSegment]
) -> OptimizedScript:
    """The script with what an engine made, without removed segments; texts that were set meanwhile are kept."""
    kept = {id_: each for id_, each in script.segments.items() if removed.get(id_) != each}
    for each in made:
        current = kept.get(each.id)
        if current is None or not current.edited:
            kept[each.id] = each
    if kept == script.segments and script.revision:
        return script
    return OptimizedScript(script.revision + 1, kept)


def removed_segments(script: OptimizedScript, transcript: Sequence[DocumentSegment]) -> dict[str, ScriptSegment]:
    """The segments of the script that the transcript no longer has."""
    known = {each.id for each in transcript}
    return {id_: each for id_, each in script.segments.items() if id_ not in known}
