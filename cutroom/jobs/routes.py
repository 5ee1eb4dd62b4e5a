"""Routes for reading, canceling and retrying jobs, and for the summary of a library."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.errors import Code
from cutroom.jobs import service
from cutroom.jobs.cancellation import cancel_job as cancel
from cutroom.jobs.library_summary import summarize_library
from cutroom.jobs.retries import retry_job as retry
from cutroom.jobs.schemas import Job, JobList
from cutroom.jobs.timeline.schemas import JobTimeline
from cutroom.jobs.timeline.service import get_timeline
from cutroom.jobs.waiting import wait_for_job
from cutroom.library.schemas import LibrarySummary
from cutroom.library.service import get_video
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation
from cutroom.web.waiting import MAX_WAIT_SECONDS

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Jobs"])

library_router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Library"])

VideoId = Annotated[str, Path(alias="videoId", min_length=1, description="The video's id.")]
JobId = Annotated[str, Path(alias="jobId", min_length=1, description="The job's id.")]


@router.get("/videos/{videoId}/jobs", summary="List a video's jobs")
@operation(scope=Scope.JOBS_READ, access=Access.READ)
async def list_video_jobs(call: CurrentCall, video_id: VideoId) -> JobList:
    """Returns the jobs of a video, newest first."""
    await get_video(call.connection, call.principal, video_id)
    return JobList(jobs=await service.list_jobs(call.connection, call.principal.library_id, video_id))


@router.get("/jobs/{jobId}", summary="Get a job", response_model=Job)
@operation(scope=Scope.JOBS_READ, access=Access.READ, errors=(Code.INVALID_ARGUMENT,))
async def get_job(
    call: CurrentCall,
    job_id: JobId,
    wait: Annotated[
        int,
        Query(
            ge=0,
            le=MAX_WAIT_SECONDS,
            description="Seconds to wait for the end of an unfinished job; then it is returned as it is.",
        ),
    ] = 0,
) -> Job | Response:
    """Retrieves a job: at once, or with `wait` when it has become `ready` or `failed`, or when the time is up.

    A request that waits does not count as a concurrent request. Webhooks and events tell of many jobs at once.
    """
    if wait == 0:
        return await service.get_job(call.connection, call.principal.library_id, job_id)
    return await wait_for_job(call, job_id, seconds=wait)


@router.get("/jobs/{jobId}/timeline", summary="Get the timeline of a job")
@operation(scope=Scope.JOBS_READ, access=Access.READ)
async def get_job_timeline(call: CurrentCall, job_id: JobId) -> JobTimeline:
    """Returns what happened to a job, when, in which step, for how long, what was repeated and what it cost.

    The texts are meant to be read and forwarded; branch on `kind` and `code`.
    """
    return await get_timeline(call.connection, call.principal.library_id, job_id, now=call.now)


@router.post("/jobs/{jobId}/cancel", summary="Cancel a job")
@operation(scope=Scope.VIDEOS_WRITE, access=Access.WRITE, errors=(Code.FAILED_PRECONDITION,))
async def cancel_job(call: CurrentCall, job_id: JobId) -> Job:
    """Ends a queued or running job as `failed` with the error code `CANCELLED`, and returns its price in full.

    What it has published so far is removed, and its work stops within seconds. Queued jobs that depend on it fail;
    other jobs of the same request are not affected. Canceling a canceled job again has no effect.
    """
    return await cancel(call.connection, call.principal, job_id, hooks=call.runtime.job_hooks, now=call.now)


@router.post("/jobs/{jobId}/retry", status_code=202, summary="Retry a job")
@operation(
    scope=Scope.VIDEOS_WRITE,
    access=Access.PRODUCE,
    errors=(Code.ALREADY_EXISTS, Code.FAILED_PRECONDITION, Code.INSUFFICIENT_CREDITS),
    free_work=True,
    priced=True,
)
async def retry_job(call: CurrentCall, job_id: JobId) -> Job:
    """Runs a failed or canceled job again under the same id, and charges it at the current price.

    The key also needs the scope that creates such a job. Steps whose outputs are stored are not repeated. A job that
    is queued or processing is returned unchanged and uncharged.
    """
    hooks = call.runtime.job_hooks
    prices = load_prices(call.runtime.settings.prices_file)
    return await retry(call.connection, call.principal, job_id, hooks=hooks, prices=prices, now=call.now)


@library_router.get("/library", summary="Get the library")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ, while_suspended=True)
async def get_library(call: CurrentCall) -> LibrarySummary:
    """Returns the library that the API key is bound to: its plan and limits, and its use of storage and credits."""
    return await summarize_library(call.connection, call.principal)
