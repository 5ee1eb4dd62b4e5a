"""HTTP routes of optimized scripts."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.products.transcripts.optimizing.schemas import (
    OptimizationRequest,
    OptimizedTranscript,
    ScriptPatch,
    ScriptRevision,
    StartedOptimization,
)
from cutroom.products.transcripts.optimizing.service import ScriptEditor
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Transcripts"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.post("/videos/{videoId}/transcript/optimize", status_code=202, summary="Optimize a transcript for voices")
@operation(
    scope=Scope.DUBS_WRITE, access=Access.PRODUCE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION), free_work=True
)
async def optimize_transcript(
    call: CurrentCall, video_id: VideoId, request: OptimizationRequest
) -> StartedOptimization:
    """Creates a job that removes hesitations and repeated words, and tightens the wording if a language model is
    configured. Texts that were set by hand are kept. This costs no credits; requests are limited per day.

    Repeating the request for the same revision of the transcript returns the same job.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    return await _editor(call, video_id).optimize(request, prices=prices)


@router.get("/videos/{videoId}/transcript/optimized", summary="Get the optimized script")
@operation(scope=Scope.TRANSCRIPTS_READ, access=Access.READ, errors=(Code.FAILED_PRECONDITION,))
async def get_optimized_transcript(call: CurrentCall, video_id: VideoId) -> OptimizedTranscript:
    """Returns the text of each segment for dubs of the optimized voiceover, and which are stale because the transcript
    has changed.
    """
    return await _editor(call, video_id).read()


@router.patch("/videos/{videoId}/transcript/optimized", summary="Edit the optimized script")
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.CONFLICT, Code.FAILED_PRECONDITION))
async def edit_optimized_transcript(call: CurrentCall, video_id: VideoId, patch: ScriptPatch) -> ScriptRevision:
    """Sets texts by hand, all or none, and returns the new revision. This costs no credits.

    If there is a newer revision than the given one, nothing is changed (409 `CONFLICT`): `details.revision` is the
    current one.
    """
    changed = await _editor(call, video_id).edit(patch)
    call.record_change(before={"revision": patch.revision}, after={"revision": changed.revision})
    return changed


def _editor(call: RequestCall, video_id: str) -> ScriptEditor:
    return ScriptEditor(call.connection, call.principal, video_id, call.now)
