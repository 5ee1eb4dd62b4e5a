"""HTTP routes of transcripts and subtitles."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code
from cutroom.products.transcripts import published_subtitles, service
from cutroom.products.transcripts.schemas import Subtitles, Transcript
from cutroom.products.transcripts.service import SubtitleFormat
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Transcripts"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.get("/videos/{videoId}/transcript", summary="Get a transcript")
@operation(scope=Scope.TRANSCRIPTS_READ, access=Access.READ)
async def get_transcript(call: CurrentCall, video_id: VideoId) -> Transcript:
    """Returns the transcript with speakers and timing, or its status while it is processing: poll, or use a webhook."""
    return await service.get_transcript(call.connection, call.principal, video_id, storage=call.runtime.storage)


@router.get("/videos/{videoId}/subtitles/{lang}", summary="Get subtitles")
@operation(scope=Scope.TRANSCRIPTS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def get_subtitles(
    call: CurrentCall,
    video_id: VideoId,
    lang: Annotated[str, Path(min_length=1, description="The language of the transcript or of translated captions.")],
    format_: Annotated[
        SubtitleFormat,
        Query(
            alias="format",
            description="SubRip, WebVTT, TTML (IMSC 1.1 Text Profile), or a plain script with the names of speakers.",
        ),
    ] = "srt",
) -> Subtitles:
    """Returns a temporary URL of a subtitle file in one language."""
    return await published_subtitles.get_subtitles(
        call.connection, call.principal, video_id, language=lang, format_=format_, storage=call.runtime.storage
    )
