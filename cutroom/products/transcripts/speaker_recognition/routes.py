"""Route that adds a speaker of a transcript to a member of the cast."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.cast.schemas import CastAppearance
from cutroom.errors import Code
from cutroom.products.transcripts.speaker_recognition import service
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Cast"])

MemberId = Annotated[str, Path(alias="memberId", min_length=1, description="The id of the member of the cast.")]
VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
SpeakerId = Annotated[str, Path(alias="speakerId", min_length=1, description="The id of a speaker of its transcript.")]


@router.post(
    "/cast/members/{memberId}/videos/{videoId}/speakers/{speakerId}",
    status_code=201,
    summary="Add a speaker to a member of the cast",
)
@operation(scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,), free_work=True)
async def create_cast_appearance(
    call: CurrentCall, member_id: MemberId, video_id: VideoId, speaker_id: SpeakerId
) -> CastAppearance:
    """Confirms that a speaker of a transcript is this member, in place of any other member.

    Where speakers are recognized, a voice print is made from the speaker's segments in the background. A speaker who
    is this member already is returned unchanged; a voice print that failed is made again.
    """
    found = await service.add_appearance(
        call.connection, call.principal, member_id, video_id, speaker=speaker_id, now=call.now
    )
    call.record_change(after=found.model_dump(mode="json", by_alias=True, include={"source", "embedding_status"}))
    return found
