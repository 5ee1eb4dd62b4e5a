"""The optimized script of a video beside its transcript: make it, edit it, and use it for a dub."""

from typing import Any

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.console.framework.states import StateLabel
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.library import routes as library
from cutroom.products.transcripts import routes as transcripts
from cutroom.products.transcripts.optimizing import routes as scripts
from cutroom.products.transcripts.optimizing.schemas import (
    MAX_EDITS,
    OptimizationRequest,
    OptimizedSegment,
    OptimizedTranscript,
    ScriptPatch,
)
from cutroom.products.transcripts.optimizing.script import ScriptStaleReason

PAGE_SEGMENTS = 100
MAX_DIGITS = 9  # of a revision, or of the number of a segment
_STALE = {
    ScriptStaleReason.ADDED: "New in the transcript",
    ScriptStaleReason.SOURCE_CHANGED: "The transcript has changed",
    ScriptStaleReason.REMOVED: "No longer in the transcript",
}


async def show_script(context: PageContext) -> Response:
    return await _page(context)


async def _page(context: PageContext, *, error: str | None = None, status: int = 200) -> Response:
    """With an error, the texts that were sent are shown again."""
    video_id = context.request.path_params["video_id"]
    video = await context.call_operation(library.get_video, video_id)
    transcript = await context.call_operation(transcripts.get_transcript, video_id)
    script = await _load(context, video_id)
    start = _start(context)
    shown = script.segments[start : start + PAGE_SEGMENTS] if script else []
    values: dict[str, Any] = {
        "video": video,
        "script": script,
        "label": _label(script) if script else None,
        "segments": shown,
        "stale_text": stale_text,
        "typed": _typed(context) if error else {},
        "start": start,
        "next_start": start + PAGE_SEGMENTS if script and start + PAGE_SEGMENTS < len(script.segments) else None,
        "labels": {each.id: each.label for each in transcript.speakers or []},
        "may_write": context.me.principal.may_write,
        "error": error,
    }
    return context.page("studio/script.html", status=status, **values)


async def _load(context: PageContext, video_id: str) -> OptimizedTranscript | None:
    """None without a finished transcript."""
    try:
        return await context.call_operation(scripts.get_optimized_transcript, video_id)
    except CutroomError as error:
        if error.code is not Code.FAILED_PRECONDITION:
            raise
        return None


def _label(script: OptimizedTranscript) -> StateLabel:
    job = script.job
    if job is not None and job.status in {"queued", "processing"}:
        words = "Queued" if job.status == "queued" else f"Processing {job.progress} %"
        return StateLabel("queued" if job.status == "queued" else "processing", words)
    if job is not None and job.status == "failed":
        return StateLabel("failed", f"Failed: {(job.error or {}).get('message', 'the script could not be made.')}")
    if not script.revision:
        return StateLabel("queued", "Not made yet")
    if script.stale_segments:
        return StateLabel("queued", f"{script.stale_segments} outdated: dubs say the transcript's text there")
    return StateLabel("ready", "Ready")


def stale_text(segment: OptimizedSegment) -> str:
    return ", ".join(_STALE[each] for each in segment.stale)


def _start(context: PageContext) -> int:
    return _number(context.request.query_params.get("from", "0"), "from")


def _number(given: str, field: str) -> int:
    if not given.isascii() or not given.isdecimal() or len(given) > MAX_DIGITS:
        raise invalid_field(field, "This must be a number.")
    return int(given)


def _typed(context: PageContext) -> dict[str, str]:
    """The texts of a form by segment."""
    pairs = context.form.pairs
    return {name.removeprefix("text-"): _plain(value) for name, value in pairs if name.startswith("text-")}


def _plain(text: str) -> str:
    return " ".join(text.split())


async def make(context: PageContext) -> Response:
    video_id = context.request.path_params["video_id"]
    await context.call_operation(scripts.optimize_transcript, video_id, OptimizationRequest())
    return redirect(f"/videos/{video_id}/script")


async def edit(context: PageContext) -> Response:
    """Saves the texts that differ from those that the page has shown; an empty one returns to the engine's."""
    video_id, typed = context.request.path_params["video_id"], _typed(context)
    script = await _load(context, video_id)
    known = {each.id: each.text or "" for each in script.segments} if script else {}
    shown = {name.removeprefix("was-"): _plain(value) for name, value in context.form.pairs if name.startswith("was-")}
    changes = [
        {"id": each, "text": text or None}
        for each, text in typed.items()
        if text != shown.get(each) and text != known.get(each)
    ][:MAX_EDITS]
    if changes:
        try:
            async with context.call.connection.transaction():
                patch = parse(
                    ScriptPatch, {"revision": _number(context.form.text("revision"), "revision"), "changes": changes}
                )
                await context.call_operation(scripts.edit_optimized_transcript, video_id, patch)
        except CutroomError as error:
            return await _page(context, error=error_text(error), status=error.status)
    return redirect(f"/videos/{video_id}/script", notice="saved")


ROUTES = [
    page("/videos/{video_id}/script", show_script),
    page("/videos/{video_id}/script", edit, method="POST"),
    page("/videos/{video_id}/script/make", make, method="POST"),
]
