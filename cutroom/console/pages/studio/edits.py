"""Changes from the studio: each calls an operation of the API, and returns the rows that are different now."""

from collections.abc import Collection
from typing import Any

from starlette.responses import JSONResponse, Response

from cutroom.console.framework.page_context import PageContext, page, parse
from cutroom.console.pages.studio.bodies import read_document
from cutroom.console.pages.studio.loading import chosen, load_changes
from cutroom.console.pages.studio.tracks import StudioChoice
from cutroom.errors import invalid_field, not_found
from cutroom.jobs.ids import DubProduct
from cutroom.products.captions.editing import routes as caption_segments
from cutroom.products.captions.editing.schemas import CaptionEdit, Regeneration
from cutroom.products.dubs.editing import routes as dub_segments
from cutroom.products.dubs.editing.schemas import DubRegenerationRequest, DubSegmentsPatch
from cutroom.products.transcripts.editing import routes as transcripts
from cutroom.products.transcripts.editing.schemas import RevisionGuard, TranscriptEdit
from cutroom.reviews.rules import GuestRole


async def edit_transcript(context: PageContext) -> Response:
    """Applies operations of the API to a revision of the transcript."""
    edit = parse(TranscriptEdit, read_document(context))
    await context.call_operation(transcripts.edit_transcript, _video_id(context), edit)
    return await _changes(context, since=edit.revision)


async def undo(context: PageContext) -> Response:
    guard = parse(RevisionGuard, read_document(context))
    await context.call_operation(transcripts.undo_edit, _video_id(context), guard)
    return await _changes(context, since=guard.revision)


async def redo(context: PageContext) -> Response:
    guard = parse(RevisionGuard, read_document(context))
    await context.call_operation(transcripts.redo_edit, _video_id(context), guard)
    return await _changes(context, since=guard.revision)


async def edit_line(context: PageContext) -> Response:
    """Sets the text of a line. Without a text it returns to the translation; the same text again confirms it."""
    given, choice = read_document(context), await _track(context)
    line_id, text, revision = given.get("id"), given.get("text"), given.get("revision")
    video_id = _video_id(context)
    if choice.kind.is_dub:
        patch = parse(DubSegmentsPatch, {"revision": revision, "changes": [{"id": line_id, "text": text}]})
        product = DubProduct(choice.kind.value)
        await context.call_operation(dub_segments.edit_segments, video_id, choice.language, patch, product)
    else:
        operation = {"op": "setText", "id": line_id, "text": text} if text else {"op": "reset", "ids": [line_id]}
        if given.get("isConfirmed"):
            operation = {"op": "accept", "ids": [line_id]}
        edit = parse(CaptionEdit, {"revision": revision, "operations": [operation]})
        await context.call_operation(caption_segments.edit_caption_segments, video_id, choice.language, edit)
    return await _changes(context, since=_seen(given), choice=choice, line_ids=[str(line_id)])


async def regenerate(context: PageContext) -> Response:
    """Starts the job that the button shows, at its price: a newer revision of either is a conflict."""
    given, choice = read_document(context), await _track(context)
    video_id, body = _video_id(context), {name: given.get(name) for name in ("revision", "transcriptRevision")}
    if choice.kind.is_dub:
        product = DubProduct(choice.kind.value)
        request = parse(DubRegenerationRequest, body)
        await context.call_operation(dub_segments.regenerate, video_id, choice.language, request, product)
    else:
        wanted = parse(Regeneration, body)
        await context.call_operation(caption_segments.regenerate_caption_segments, video_id, choice.language, wanted)
    return await _changes(context, since=_seen(given), choice=choice)


def _video_id(context: PageContext) -> str:
    video_id: str = context.request.path_params["video_id"]
    return video_id


def _seen(given: dict[str, Any]) -> int:
    """The revision of the transcript that the page shows."""
    seen = given.get("transcriptRevision")
    if not isinstance(seen, int) or isinstance(seen, bool) or seen < 1:
        raise invalid_field("transcriptRevision", "The revision that the page shows is required.")
    return seen


async def _track(context: PageContext) -> StudioChoice:
    choice = await chosen(context, _video_id(context))
    if choice is None:
        raise not_found()
    return choice


async def _changes(
    context: PageContext, *, since: int, choice: StudioChoice | None = None, line_ids: Collection[str] = ()
) -> Response:
    video_id = _video_id(context)
    shown = choice or await chosen(context, video_id)
    return JSONResponse(await load_changes(context, video_id, shown, since=since, line_ids=line_ids))


ROUTES = [
    page("/videos/{video_id}/studio/transcript", edit_transcript, method="POST", guests=GuestRole.EDIT),
    page("/videos/{video_id}/studio/undo", undo, method="POST", guests=GuestRole.EDIT),
    page("/videos/{video_id}/studio/redo", redo, method="POST", guests=GuestRole.EDIT),
    page("/videos/{video_id}/studio/line", edit_line, method="POST", guests=GuestRole.EDIT),
    page("/videos/{video_id}/studio/regenerate", regenerate, method="POST"),
]
