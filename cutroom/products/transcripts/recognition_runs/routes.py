"""Routes that compare existing transcripts with the cast."""

from fastapi import APIRouter

from cutroom.accounts.scopes import Scope
from cutroom.cast import runs
from cutroom.cast.schemas import CastRecognitionRun, NewCastRecognitionRun
from cutroom.errors import Code
from cutroom.products.transcripts.recognition_runs import service
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Cast"])


@router.post("/cast/recognition/run", status_code=202, summary="Compare existing transcripts with the cast")
@operation(
    scope=Scope.DUBS_WRITE, access=Access.WRITE, errors=(Code.NOT_FOUND, Code.FAILED_PRECONDITION), free_work=True
)
async def run_cast_recognition(call: CurrentCall, wanted: NewCastRecognitionRun) -> CastRecognitionRun:
    """Compares the speakers of existing transcripts with the voice prints of the cast, in the background.

    Only videos in which speakers are recognized are compared. Speakers who are a member already stay as they are, and
    so do their names and those that people have set. If the same videos are being compared, that comparison is
    returned.
    """
    run = await service.start_run(call.connection, call.principal, folder_id=wanted.folder_id, now=call.now)
    call.record_change(after=run.model_dump(mode="json", by_alias=True, include={"id", "folder_id"}))
    return run


@router.get("/cast/recognition/run", summary="Get the latest comparison with the cast")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, errors=(Code.NOT_FOUND,))
async def get_cast_recognition_run(call: CurrentCall) -> CastRecognitionRun:
    """Returns how far the latest comparison of existing transcripts with the cast is."""
    return await runs.get_run(call.connection, call.principal.library_id)
