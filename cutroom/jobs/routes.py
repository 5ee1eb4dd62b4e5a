"""Routes for reading jobs and the summary of a library."""

from typing import Annotated

from fastapi import APIRouter, Path

from cutroom.accounts.scopes import Scope
from cutroom.jobs import service
from cutroom.jobs.library_summary import summarize_library
from cutroom.jobs.schemas import Job, JobList
from cutroom.library.schemas import LibrarySummary
from cutroom.library.service import get_video
from cutroom.web.middleware import CurrentCall, OperationRoute
from cutroom.web.operation import Access, operation

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


@router.get("/jobs/{jobId}", summary="Get a job")
@operation(scope=Scope.JOBS_READ, access=Access.READ)
async def get_job(call: CurrentCall, job_id: JobId) -> Job:
    """Retrieves a job. Poll it until its status is `ready` or `failed`, or subscribe to webhooks."""
    return await service.get_job(call.connection, call.principal.library_id, job_id)


@library_router.get("/library", summary="Get the library")
@operation(scope=Scope.VIDEOS_READ, access=Access.READ)
async def get_library(call: CurrentCall) -> LibrarySummary:
    """Returns the library that the API key is bound to: its plan and limits, and its use of storage and credits."""
    return await summarize_library(call.connection, call.principal)
