"""Wraps activities of a job with progress reporting, heartbeats and error translation."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

from temporalio import activity
from temporalio.exceptions import ApplicationError

from cutroom.engines.errors import EngineError, EngineUnavailableError, NoRouteError
from cutroom.errors import Code, CutroomError
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import JobRef
from cutroom.media.process import RETRYABLE, MediaError
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database

ReportProgress = Callable[[int], Awaitable[None]]  # takes the progress in percent

_log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0
MAX_ATTEMPTS = (
    4  # for transient errors other than unavailable infrastructure, which Temporal retries without this limit
)
PROGRAMMING_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError)


@asynccontextmanager
async def job_step(
    database: Database, clock: Clock, ref: JobRef, stage: str, *, progress: int
) -> AsyncIterator[ReportProgress]:
    """Report the stage, heartbeat while the body runs, and report `progress` when it completes.

    Yields a function to report intermediate progress, on the same scale as `progress`. Media and engine errors are
    translated to job failures.
    """
    report_progress = partial(_report_progress, database, clock, ref, stage)
    await report_progress(0)
    async with heartbeating():
        yield report_progress
    await report_progress(progress)


@asynccontextmanager
async def heartbeating() -> AsyncIterator[None]:
    """Heartbeat while the body runs and translate its errors, without reporting job progress."""
    heartbeats = asyncio.create_task(_send_heartbeats())
    try:
        yield
    except MediaError as error:
        raise media_failure(error) from error
    except EngineError as error:
        raise engine_failure(error) from error
    except CutroomError as error:
        raise failure(error.code, error.message, reason=error.code, retry=False) from error
    except PROGRAMMING_ERRORS as error:
        _log.exception("activity failed unexpectedly", extra={"activity": activity.info().activity_type})
        message = "The job could not be completed."
        raise failure(Code.INTERNAL, message, reason="UNFORESEEN", retry=True) from error
    finally:
        heartbeats.cancel()


async def _report_progress(database: Database, clock: Clock, ref: JobRef, stage: str, progress: int) -> None:
    async with database.transaction(ref.library_id) as connection:
        await lifecycle.report_progress(connection, ref, stage=stage, progress=progress, now=clock())


async def _send_heartbeats() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(HEARTBEAT_SECONDS)


def failure(code: Code, message: str, *, reason: str, retry: bool) -> ApplicationError:
    """Build the error that fails the job: immediately, or after MAX_ATTEMPTS if it is worth retrying."""
    last = activity.info().attempt >= MAX_ATTEMPTS
    return ApplicationError(message, {"reason": str(reason)}, type=code.value, non_retryable=last or not retry)


def media_failure(error: MediaError) -> ApplicationError:
    """Faults of the media are final; faults of the machine are retried."""
    retry = error.reason in RETRYABLE
    code = Code.INTERNAL if retry else Code.UNSUPPORTED_SOURCE
    return failure(code, str(error.message), reason=error.reason, retry=retry)


def engine_failure(error: EngineError) -> ApplicationError:
    """Unavailable engines are retried; other engine errors are final."""
    if isinstance(error, NoRouteError):
        return failure(Code.INVALID_ARGUMENT, str(error), reason="NO_ROUTE", retry=False)
    if isinstance(error, EngineUnavailableError):
        return failure(Code.FAILED_PRECONDITION, str(error), reason="ENGINE_UNAVAILABLE", retry=True)
    return failure(Code.INTERNAL, str(error), reason="ENGINE_FAILED", retry=False)
