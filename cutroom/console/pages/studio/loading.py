"""Reads what the studio shows: the current revision, its rows, and the lines beside them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.console.framework.page_context import PageContext
from cutroom.console.pages.studio.rows import changed_rows, studio_rows
from cutroom.console.pages.studio.tracks import StudioChoice, StudioTrack, choose, load_choices, load_track
from cutroom.errors import Code, CutroomError
from cutroom.products.transcripts.editing import routes as transcripts
from cutroom.products.transcripts.editing.schemas import RevisionDocument


@dataclass(frozen=True, slots=True)
class StudioView:
    """The current transcript of a video with one translation."""

    document: RevisionDocument
    track: StudioTrack | None
    rows: Sequence[dict[str, Any]]

    def head(self) -> dict[str, Any]:
        """What every response of the studio says."""
        return {
            "revision": self.document.revision,
            "total": len(self.rows),
            "speakers": {each.id: each.label for each in self.document.speakers},
            "track": self.track.to_json() if self.track else None,
        }


async def load_view(context: PageContext, video_id: str, choice: StudioChoice | None) -> StudioView:
    """Raises FAILED_PRECONDITION if there is no finished transcript."""
    revision = (await context.call_operation(transcripts.list_revisions, video_id, limit=1)).revision
    document = await context.call_operation(transcripts.get_revision, video_id, revision)
    track = await load_track(context, video_id, choice) if choice else None
    return StudioView(document, track, studio_rows(document.segments, track.lines if track else ()))


async def chosen(context: PageContext, video_id: str) -> StudioChoice | None:
    """The translation that the query names."""
    wanted = context.request.query_params.get("lang", "")
    return choose(await load_choices(context, video_id), wanted) if wanted else None


async def load_changes(
    context: PageContext, video_id: str, choice: StudioChoice | None, *, since: int, line_ids: Collection[str] = ()
) -> dict[str, Any]:
    """What a page that has seen a revision does not show yet; `isComplete` is false if it has to read every row."""
    view = await load_view(context, video_id, choice)
    changed = await _changed_segments(context, video_id, since, view.document.revision)
    lines = view.track.lines if view.track else ()
    found = changed_rows(view.rows, lines, segment_ids=changed or (), line_ids=line_ids)
    return {**view.head(), **found, "isComplete": changed is not None}


async def _changed_segments(context: PageContext, video_id: str, since: int, revision: int) -> list[str] | None:
    """The ids of the segments that differ; None if they are too many to list, or the revision is not kept any more."""
    if since == revision:
        return []
    try:
        found = await context.call_operation(transcripts.compare_revisions, video_id, since, revision)
    except CutroomError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        return None
    return [each.id for each in found.changes] if len(found.changes) == found.total_changes else None
