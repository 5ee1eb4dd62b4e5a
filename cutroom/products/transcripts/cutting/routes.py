"""HTTP routes of edit lists."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.products.transcripts.cutting.editor_files import EditorFormat
from cutroom.products.transcripts.cutting.schemas import CutSuggestions, FrameRateName, TranscriptEditList
from cutroom.products.transcripts.cutting.service import CutOptions, get_edit_list, get_suggestions
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Transcripts"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.get("/videos/{videoId}/transcript/edit-list", summary="Get the edit list of a transcript")
@operation(scope=Scope.TRANSCRIPTS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION))
async def get_transcript_edit_list(
    call: CurrentCall,
    video_id: VideoId,
    frame_rate: Annotated[
        FrameRateName, Query(alias="frameRate", description="Frames per second; cuts are on the edges of frames.")
    ] = "25",
    max_silence: Annotated[
        float | None,
        Query(alias="maxSilence", ge=0.2, le=60, description="Shorten longer silences to this many seconds."),
    ] = None,
    file_format: Annotated[
        EditorFormat | None, Query(alias="format", description="Return a file for an editing program as well.")
    ] = None,
) -> TranscriptEditList:
    """Returns what remains of the recording without its deleted words.

    Cuts are in the silence beside the deleted words, never inside of a word that is kept.
    """
    options = CutOptions(frame_rate, max_silence, file_format)
    return await get_edit_list(call.connection, call.principal, call.runtime.storage, video_id, options)


@router.get("/videos/{videoId}/transcript/cut-suggestions", summary="Suggest words to cut")
@operation(scope=Scope.TRANSCRIPTS_READ, access=Access.READ, errors=(Code.FAILED_PRECONDITION,))
async def suggest_transcript_cuts(call: CurrentCall, video_id: VideoId) -> CutSuggestions:
    """Returns sounds of hesitation and words that were said twice. Delete them by the operation `deleteWords`."""
    return await get_suggestions(call.connection, call.principal, video_id)
