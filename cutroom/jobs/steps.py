"""Wraps activities of a job with progress reporting, heartbeats and error translation."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from temporalio import activity
from temporalio.exceptions import ApplicationError, FailureError

from cutroom.capabilities.rules import LanguageFault
from cutroom.engines.errors import EngineError, EngineUnavailableError, NoRouteError, UnsuitableInputError
from cutroom.errors import Code, CutroomError
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.step_progress import ReportProgress, StepProgress
from cutroom.media.process import RETRYABLE, MediaError
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.transient import is_transient

_log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0  # the SDK sends one every 6 seconds
FIRST_HEARTBEAT_SECONDS = 5.0  # shorter activities send none, because each heartbeat is a state transition
MISSING_FILE = "A file of this video no longer exists."
UNEXPECTED = "The job could not be completed."
MAX_ATTEMPTS = 4  # for errors that may pass; those of unavailable infrastructure are retried without this limit


@asynccontextmanager
async def job_step(
    database: Database,
    clock: Clock,
    ref: JobRef,
    stage: str,
    *,
    progress: float,
    share: float | None = None,
    is_partial: bool = False,
) -> AsyncIterator[ReportProgress]:
    """Report the stage, heartbeat and report progress while the body runs, and report `progress` when it completes.

    Yields a function to report the completed fraction of this step; between such reports, the fraction is estimated.
    Of several concurrent steps, each adds its `share` in percent of the job, up to `progress`. A step that may be
    partial adds what it has reported when it ends. Media and engine errors are translated to job failures.
    """
    step = StepProgress(database, clock, ref, stage, until=progress, share=share)
    await step.start(is_retry=activity.info().attempt > 1)
    try:
        async with heartbeating(), step.reporting():
            try:
                yield step.pace.report
            finally:
                step.pace.end()
    except ApplicationError as error:
        if not error.non_retryable and error.type in set(Code):  # others may name what is internal
            await step.fail(error.message)
        raise
    await step.finish(fraction=step.pace.reported if is_partial else 1.0)


@asynccontextmanager
async def heartbeating(details: Callable[[], Sequence[object]] = tuple) -> AsyncIterator[None]:
    """Heartbeat while the body runs and translate its errors, without reporting job progress.

    The next attempt of the activity finds the last `details`.
    """
    heartbeats = asyncio.create_task(_send_heartbeats(details))
    try:
        yield
    except MediaError as error:
        raise media_failure(error) from error
    except EngineError as error:
        raise engine_failure(error) from error
    except CutroomError as error:
        raise failure(error.code, error.message, reason=error.details.get("reason", error.code), retry=False) from error
    except FileNotFoundError as error:
        _log.warning("file is missing", extra={"activity": activity.info().activity_type, "error": str(error)})
        raise failure(Code.FAILED_PRECONDITION, MISSING_FILE, reason="NO_FILE", retry=True) from error
    except FailureError:
        raise
    except Exception as error:
        if is_transient(error):
            raise
        _log.exception("activity failed unexpectedly", extra={"activity": activity.info().activity_type})
        raise failure(Code.INTERNAL, UNEXPECTED, reason="UNFORESEEN", retry=True) from error
    finally:
        heartbeats.cancel()


async def _send_heartbeats(details: Callable[[], Sequence[object]]) -> None:
    await asyncio.sleep(FIRST_HEARTBEAT_SECONDS)
    while True:
        activity.heartbeat(*details())
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
    """Facts of the input are reported; other messages are only logged, because they name programs and models.

    Unavailable engines are retried; other errors are final.
    """
    if isinstance(error, UnsuitableInputError):
        return failure(Code.FAILED_PRECONDITION, str(error), reason=error.reason, retry=False)
    if isinstance(error, NoRouteError):
        fault = LanguageFault.NO_ROUTE
        return failure(Code.FAILED_PRECONDITION, fault.message, reason=fault.value, retry=False)
    _log.warning("engine failed", extra={"activity": activity.info().activity_type, "error": str(error)})
    if isinstance(error, EngineUnavailableError):
        message = "This installation cannot do this at the moment."
        return failure(Code.FAILED_PRECONDITION, message, reason="ENGINE_UNAVAILABLE", retry=True)
    return failure(Code.INTERNAL, UNEXPECTED, reason="ENGINE_FAILED", retry=False)
