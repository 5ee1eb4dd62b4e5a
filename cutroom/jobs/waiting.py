"""Waits for the end of a job."""

import time

from starlette.responses import Response

from cutroom.events.hub import Subscription
from cutroom.events.service import read_bounds
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import get_job
from cutroom.jobs.states import TERMINAL
from cutroom.web.middleware import RequestCall
from cutroom.web.waiting import WaitingResponse, wait_limit

ENDS = ("job.ready", "job.failed")


async def wait_for_job(call: RequestCall, job_id: str, *, seconds: float) -> Job | Response:
    """Return a finished job, or a response that waits for its end. The log is read first, so that no end is missed."""
    library_id, database = call.principal.library_id, call.runtime.database
    position = (await read_bounds(call.connection, library_id)).last
    job = await get_job(call.connection, library_id, job_id)
    if job.status in TERMINAL:
        return job

    async def respond() -> Response:
        async with (
            wait_limit(call.runtime, call.principal),
            call.runtime.events.subscribe(library_id, after=position, types=ENDS) as subscription,
        ):
            await _wait_for_end(subscription, job.id, seconds=seconds)
        async with database.transaction(library_id) as connection:
            return _response(await get_job(connection, library_id, job.id))

    return WaitingResponse(respond, at_once=_response(job))


async def _wait_for_end(subscription: Subscription, job_id: str, *, seconds: float) -> None:
    ends_at = time.monotonic() + seconds
    while batch := await subscription.next(max(0.0, ends_at - time.monotonic())):
        if any(event.data.get("id") == job_id for event in batch.events):
            return


def _response(job: Job) -> Response:
    return Response(job.model_dump_json(by_alias=True), media_type="application/json")
