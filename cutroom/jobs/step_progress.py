"""Reports the progress of one step of a job: throttled, and estimated between the reports of the step itself."""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from cutroom.jobs.estimates import MARKS, MAX_PACE, MIN_PACE, seconds_until, whole_percent
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.progress import JobProgress, StepChange, record_step, report_progress
from cutroom.platform.clock import Clock
from cutroom.platform.db import DATABASE_ERRORS, Database

ReportProgress = Callable[[float], None]  # takes the completed fraction of a step; can be called from any thread

REPORT_SECONDS = 1.0  # between two writes of a step
UNKNOWN_JOB_SECONDS = 60.0  # assumed for the first job of a kind if the length of its media is not known
MIN_STEP_SECONDS = 1.0
SLOWING = 1.5  # how much slower progress moves on that was shown too early
MIN_PROGRESS = 5.0  # from which the pace of a job says something

_log = logging.getLogger(__name__)


class StepEndedError(Exception):
    """Raised by a progress report of a step that was canceled or has failed, to end the engine's loop."""


class StepPace:
    """The completed fraction of a step: as last reported, and from there at the pace so far, but never to the end.

    What was shown is not taken back: if a report is behind it, it moves on more slowly instead of standing still.
    """

    def __init__(self, expected_seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._expected_seconds = expected_seconds
        self._reported = (0.0, self._started)  # fraction and time, assigned together because threads report
        self._shown = (0.0, self._started)
        self._has_ended = False

    def end(self) -> None:
        """Let further reports raise: a thread cannot be canceled from outside, but reports between its chunks."""
        self._has_ended = True

    def report(self, fraction: float) -> None:
        if self._has_ended:
            raise StepEndedError
        if fraction > self._reported[0]:
            self._reported = (min(fraction, 1.0), self._clock())

    @property
    def reported(self) -> float:
        """The fraction that the step itself has reported."""
        return self._reported[0]

    def fraction(self) -> float:
        """The fraction to show now; called by one thread only."""
        now = self._clock()
        estimated, seconds_left = self._estimate(now)
        shown, at = self._shown
        slowed = 1.0 - (1.0 - shown) * math.exp((at - now) / max(SLOWING * seconds_left, MIN_STEP_SECONDS))
        self._shown = (max(estimated, slowed if shown > estimated else 0.0), now)
        return self._shown[0]

    def _estimate(self, now: float) -> tuple[float, float]:
        """The completed fraction, and the seconds until the end."""
        done, at = self._reported
        left = 1.0 - done
        if left <= 0:
            return 1.0, 0.0
        seconds = max(self._expected_seconds if done == 0 else (at - self._started) / done, MIN_STEP_SECONDS)
        ahead = (now - at) / seconds
        # Slows down as it nears the end, so that a step that takes many times longer than expected still moves.
        fraction = done + left * ahead / (left + ahead)
        return fraction, (1.0 - fraction) * seconds


class StepProgress:
    """Writes the progress of a step to its job, at most once per REPORT_SECONDS and only if the percentage changes."""

    def __init__(
        self, database: Database, clock: Clock, ref: JobRef, stage: str, *, until: float, share: float | None
    ) -> None:
        self._database = database
        self._clock = clock
        self._ref = ref
        self._stage = stage
        self._until = until
        self._share = share
        self._start = 0.0
        self._stored = 0.0  # progress of the job after the last write
        self._written = 0.0  # points of this step in it
        self._points = 0.0  # that this step adds
        self.pace = StepPace(MIN_STEP_SECONDS)

    async def start(self, *, is_retry: bool) -> None:
        """Report the stage, and continue from the stored progress: a retried step never sets it back."""
        job = await self._write(0.0, change=StepChange.RETRIED if is_retry else StepChange.STARTED)
        if job is None:
            return
        self._start = self._stored = job.progress
        left = max(0.0, self._until - self._start)
        self._points = left if self._share is None else min(self._share, left)
        self.pace = StepPace(_expected_seconds(job, self._points))

    @asynccontextmanager
    async def reporting(self) -> AsyncIterator[None]:
        stopped = asyncio.Event()
        task = asyncio.create_task(self._report_until(stopped))
        try:
            yield
        finally:
            stopped.set()  # instead of cancelling: a write is not interrupted
            await task

    async def finish(self, *, fraction: float = 1.0) -> None:
        """Report the end of the step, or of as much of it as was done."""
        await self._write(self._points * fraction, change=StepChange.ENDED)

    async def fail(self, error: str) -> None:
        """Record why the step will be retried, unless the database is what is missing."""
        try:
            await self._write(self._written, change=StepChange.FAILED, error=error)
        except DATABASE_ERRORS as problem:
            _log.warning("step failure not stored", extra={"job_id": self._ref.job_id, "error": str(problem)})

    async def _report_until(self, stopped: asyncio.Event) -> None:
        while True:
            try:
                await asyncio.wait_for(stopped.wait(), REPORT_SECONDS)
            except TimeoutError:
                await self._report()
            else:
                return

    async def _report(self) -> None:
        points = self._points * self.pace.fraction()
        if whole_percent(self._stored + points - self._written) <= whole_percent(self._stored):
            return
        try:
            await self._write(points)
        except DATABASE_ERRORS as error:
            _log.warning("progress not stored", extra={"job_id": self._ref.job_id, "error": str(error)})

    async def _write(
        self, points: float, *, change: StepChange | None = None, error: str | None = None
    ) -> JobProgress | None:
        """Raise the job's progress to what this step has reached, or by its share if other steps run concurrently."""
        is_shared = self._share is not None
        async with self._database.transaction(self._ref.library_id) as connection:
            job = await report_progress(
                connection,
                self._ref,
                stage=self._stage,
                now=self._clock(),
                progress=0.0 if is_shared else self._start + points,
                added=points - self._written if is_shared else 0.0,
                limit=self._until,
            )
            if change is not None:
                await record_step(connection, self._ref, self._stage, change, now=self._clock(), error=error)
        if job is not None:
            self._stored, self._written = job.progress, points
        return job


def portion(report: ReportProgress, start: float, end: float) -> ReportProgress:
    """Maps the completed fraction of a portion of a step to that of the step."""
    return lambda fraction: report(start + (end - start) * fraction)


def _expected_seconds(job: JobProgress, points: float) -> float:
    """How long the next points of a job should take: as in earlier jobs, at the pace of this one so far."""
    unmeasured = job.media_seconds or UNKNOWN_JOB_SECONDS  # as long as the media plays
    marks = job.expected_seconds or [unmeasured * (mark + 1) / MARKS for mark in range(MARKS)]
    done = seconds_until(marks, job.progress)
    seconds = seconds_until(marks, job.progress + points) - done
    if job.progress < MIN_PROGRESS or done <= 0:
        return seconds
    return seconds * min(max(job.elapsed_seconds / done, MIN_PACE), MAX_PACE)
