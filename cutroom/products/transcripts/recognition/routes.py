"""HTTP route that recognizes the speech of a video again."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.products.transcripts.recognition.schemas import RecognitionJob, RecognitionRequest
from cutroom.products.transcripts.recognition.service import RecognitionCaller, recognize_again
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Transcripts"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]


@router.post("/videos/{videoId}/transcript/recognize", status_code=202, summary="Recognize speech again")
@operation(
    scope=Scope.DUBS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.CONFLICT, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    priced=True,
)
async def recognize_transcript(call: CurrentCall, video_id: VideoId, request: RecognitionRequest) -> RecognitionJob:
    """Creates a job that recognizes the speech again, in another language or with engines that were installed since.

    The result is a new revision, in which segments of the same sound keep their ids; until then, the transcript stays
    as it is. The price is that of a transcript of the whole video.
    """
    prices = load_prices(call.runtime.settings.prices_file)
    caller = RecognitionCaller(call.connection, call.principal, prices, call.now)
    return RecognitionJob(job=await recognize_again(caller, video_id, request))
