"""Waits for jobs: by the stream of events, and by long polling where the stream is not available."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

from cutroom_client._async import runtime
from cutroom_client._async.operations import AsyncOperations
from cutroom_client._async.transport import STREAM_SILENCE, AsyncTransport
from cutroom_client.calls import Call
from cutroom_client.errors import (
    ApiError,
    ConnectionFailedError,
    JobCancelledError,
    JobFailedError,
    UnexpectedResponseError,
    WaitTimeoutError,
    api_error,
)
from cutroom_client.models import Job
from cutroom_client.server_events import ServerEvent

JobProgress = Callable[[Job], object]
TERMINAL = frozenset({"ready", "failed"})
EVENT_TYPES = "job.ready,job.failed,job.progress"
STREAM_ATTEMPTS = 2  # connections that fail before an event came; then long polling
POLL_SECONDS = 30
SHORTEST_SILENCE = 1.0


class AsyncJobWaiter:
    """Waits for one job."""

    def __init__(
        self, transport: AsyncTransport, job_id: str, timeout: float | None, progress: JobProgress | None
    ) -> None:
        self._transport = transport
        self._operations = AsyncOperations(transport)
        self._job_id = job_id
        self._progress = progress
        self._deadline = None if timeout is None else runtime.monotonic() + timeout

    async def finished(self) -> Job:
        """The job once it is ready; raises JobFailedError if it fails, and WaitTimeoutError if it takes too long."""
        job = await self._operations.get_job(self._job_id)
        failures = 0
        while job.status not in TERMINAL:
            self._report(job)
            if failures < STREAM_ATTEMPTS:
                try:
                    await self._follow()
                except (ConnectionFailedError, UnexpectedResponseError, ApiError):
                    failures += 1
                job = await self._operations.get_job(self._job_id)
            else:
                job = await self._operations.get_job(self._job_id, wait=int(min(POLL_SECONDS, self._remaining())))
            if job.status not in TERMINAL and self._remaining() <= 0:
                raise WaitTimeoutError(f"{self._job_id} is still {job.status}")
        self._report(job)
        return checked(job)

    async def _follow(self) -> None:
        """Reads one connection of the stream until the job has ended, or the connection or the time has."""
        call = Call("streamEvents", "GET", "/v1/events/stream", query={"types": EVENT_TYPES})
        silence = max(min(STREAM_SILENCE, self._remaining()), SHORTEST_SILENCE)
        async with self._transport.opened_stream(call, silence=silence) as events:
            # It may have ended before the stream began, which tells only what comes next.
            if (await self._operations.get_job(self._job_id)).status in TERMINAL:
                return
            async for event in events:
                if event.data.get("id") == self._job_id or event.data.get("data", {}).get("id") == self._job_id:
                    if event.type in {"job.ready", "job.failed"}:
                        return
                    self._report_event(event)
                if self._remaining() <= 0:
                    return

    def _report_event(self, event: ServerEvent) -> None:
        try:
            job = Job.model_validate(event.data.get("data"))
        except ValidationError:
            return
        self._report(job)

    def _report(self, job: Job) -> None:
        if self._progress is not None:
            self._progress(job)

    def _remaining(self) -> float:
        return float("inf") if self._deadline is None else self._deadline - runtime.monotonic()


def checked(job: Job) -> Job:
    """The job; raises JobFailedError if it has failed."""
    if job.status != "failed":
        return job
    error = api_error(job.error.to_wire() if job.error is not None else {}, status=200)
    kind = JobCancelledError if error.code == "CANCELLED" else JobFailedError
    raise kind(job, error)
