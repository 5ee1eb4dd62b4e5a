"""The rows of the studio: segments of a transcript, with the line of a dub or of captions beside each."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cutroom.products.captions.editing.schemas import CaptionSegmentView
from cutroom.products.dubs.editing.schemas import DubSegment
from cutroom.products.transcripts.editing.schemas import EditableSegment

_DUB_REASONS = {
    "edited": "Changed, not spoken yet",
    "sourceChanged": "Original changed",
    "added": "Not spoken yet",
    "removed": "No longer in the transcript",
    "cut": "Words deleted, not spoken again yet",
    "captionsChanged": "Captions changed, not spoken yet",
}
_CAPTION_REASONS = {
    "sourceChanged": "Original changed",
    "added": "Not translated yet",
    "timesChanged": "Times changed",
    "speakerChanged": "Speaker changed",
    "removed": "No longer in the transcript",
}
_REVIEW = "Review: the original changed after this text was written"
ORPHAN = "line-"  # begins the id of a row whose line has no segment any more


@dataclass(frozen=True, slots=True)
class StudioMark:
    """Why a line needs attention, in words."""

    kind: Literal["stale", "review"]
    text: str


@dataclass(frozen=True, slots=True)
class StudioLine:
    """A line of a dub, or a segment of captions."""

    id: str
    segment_ids: tuple[str, ...]
    start_seconds: float
    end_seconds: float
    speaker: str
    text: str | None
    source: str
    is_edited: bool
    marks: tuple[StudioMark, ...] = ()
    spoken: tuple[float, float] | None = None  # when the published audio says it
    heard: str | None = None  # what the published audio says, if the text has yet to be translated
    fit: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        shown = {
            "id": self.id,
            "text": self.text,
            "edited": self.is_edited,
            "marks": [{"kind": each.kind, "text": each.text} for each in self.marks],
        }
        optional = {"spoken": list(self.spoken) if self.spoken else None, "heard": self.heard, "fit": self.fit}
        return shown | {name: value for name, value in optional.items() if value is not None}


def dub_line(segment: DubSegment) -> StudioLine:
    published = segment.published
    return StudioLine(
        segment.id,
        tuple(segment.segment_ids),
        segment.start,
        segment.end,
        segment.speaker,
        segment.text,
        segment.source,
        segment.edits.text is not None,
        _marks(segment.stale, _DUB_REASONS, needs_review=segment.review),
        (published.start, round(published.start + published.duration, 3)) if published else None,
        published.text if published and segment.text is None else None,
        segment.fit.model_dump(mode="json", by_alias=True) if segment.fit else None,
    )


def caption_line(segment: CaptionSegmentView) -> StudioLine:
    return StudioLine(
        segment.id,
        (segment.id,),
        segment.start,
        segment.end,
        segment.speaker,
        segment.text,
        segment.source or "",
        segment.edited,
        _marks(segment.stale, _CAPTION_REASONS, needs_review=segment.review),
    )


def _marks(stale: Sequence[str], words: Mapping[str, str], *, needs_review: bool) -> tuple[StudioMark, ...]:
    found = [StudioMark("stale", words[each]) for each in stale]
    return (*found, StudioMark("review", _REVIEW)) if needs_review else tuple(found)


def studio_rows(segments: Iterable[EditableSegment], lines: Sequence[StudioLine]) -> list[dict[str, Any]]:
    """Every segment in order, its line at the first of its segments. A line without segments has a row of its own."""
    rows: list[dict[str, Any]] = [each.model_dump(mode="json", by_alias=True) for each in segments]
    by_id = {row["id"]: row for row in rows}
    orphans = []
    for line in lines:
        known = [by_id[each] for each in line.segment_ids if each in by_id]
        if not known:
            orphans.append(_orphan_row(line))
            continue
        known[0]["line"] = line.to_json()
        for row in known[1:]:
            row["continues"] = line.id
    return _placed(rows, orphans) if orphans else rows


def _orphan_row(line: StudioLine) -> dict[str, Any]:
    return {
        "id": f"{ORPHAN}{line.id}",
        "start": line.start_seconds,
        "end": line.end_seconds,
        "speaker": line.speaker,
        "text": "",
        "deleted": False,
        "removed": True,
        "line": line.to_json(),
    }


def _placed(rows: list[dict[str, Any]], orphans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Orphans go before the first segment that starts later; segments keep their order, as they may overlap."""
    placed: list[dict[str, Any]] = []
    waiting = sorted(orphans, key=lambda row: row["start"])
    for row in rows:
        while waiting and waiting[0]["start"] < row["start"]:
            placed.append(waiting.pop(0))
        placed.append(row)
    return placed + waiting


def changed_rows(
    rows: Sequence[Mapping[str, Any]],
    lines: Iterable[StudioLine],
    *,
    segment_ids: Collection[str],
    line_ids: Collection[str] = (),
) -> dict[str, Any]:
    """The rows that changed segments or lines are in, each with the row before it, and the ids of rows that went."""
    changed = set(segment_ids)
    for line in lines:
        if line.id in line_ids or not changed.isdisjoint(line.segment_ids):
            changed.update(line.segment_ids, [f"{ORPHAN}{line.id}"])
    found, previous, seen = [], None, set()
    for row in rows:
        if row["id"] in changed:
            found.append({**row, "previous": previous})
            seen.add(row["id"])
        previous = row["id"]
    return {"rows": found, "removed": sorted(changed - seen)}
