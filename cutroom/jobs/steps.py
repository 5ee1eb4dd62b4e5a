"""Around one step of a job, inside its activity: the stage it shows, its heartbeat, and how it fails."""

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

ReportProgress = Callable[[int], Awaitable[None]]  # how far a job is, in per cent

_log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0
TRIES = 4  # of what may go better next time but is not our own parts being away
# What code does wrong, and does wrong again next time; a part that is away fails in other ways, and comes back.
OWN_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError)


@asynccontextmanager
async def job_step(
    database: Database, clock: Clock, ref: JobRef, stage: str, *, progress: int
) -> AsyncIterator[ReportProgress]:
    """Show the stage, beat while the work goes on, and show the progress once it is done.

    A step that takes long can tell how far it has come meanwhile; a step's share is given in the same per cent as its
    end. What media programs and engines fail with is told in the job's own words.
    """
    tell = partial(_report, database, clock, ref, stage)
    await tell(0)
    async with heartbeating():
        yield tell
    await tell(progress)


@asynccontextmanager
async def heartbeating() -> AsyncIterator[None]:
    """Beat while work goes on that no job shows, and tell its failures in the same words."""
    beats = asyncio.create_task(_beat())
    try:
        yield
    except MediaError as error:
        raise media_failure(error) from error
    except EngineError as error:
        raise engine_failure(error) from error
    except CutroomError as error:
        raise failure(error.code, error.message, reason=error.code, retry=False) from error
    except OWN_FAULTS as error:
        _log.exception("a step failed in a way that nobody foresaw", extra={"step": activity.info().activity_type})
        sentence = "The work could not be finished."
        raise failure(Code.INTERNAL, sentence, reason="UNFORESEEN", retry=True) from error
    finally:
        beats.cancel()


async def _report(database: Database, clock: Clock, ref: JobRef, stage: str, progress: int) -> None:
    async with database.transaction(ref.library_id) as connection:
        await lifecycle.report(connection, ref, stage=stage, progress=progress, now=clock())


async def _beat() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(HEARTBEAT_SECONDS)


def failure(code: Code, sentence: str, *, reason: str, retry: bool) -> ApplicationError:
    """What ends the job with these words: at once, or after a few tries where another may go better."""
    last = activity.info().attempt >= TRIES
    return ApplicationError(sentence, {"reason": str(reason)}, type=code.value, non_retryable=last or not retry)


def media_failure(error: MediaError) -> ApplicationError:
    """A file's own fault is final; a machine's may pass."""
    ours = error.reason in RETRYABLE
    code = Code.INTERNAL if ours else Code.UNSUPPORTED_SOURCE
    return failure(code, str(error.sentence), reason=error.reason, retry=ours)


def engine_failure(error: EngineError) -> ApplicationError:
    """An engine that is away may come back; what it could not do, it will not do next time either."""
    if isinstance(error, NoRouteError):
        return failure(Code.INVALID_ARGUMENT, str(error), reason="NO_ROUTE", retry=False)
    if isinstance(error, EngineUnavailableError):
        return failure(Code.FAILED_PRECONDITION, str(error), reason="ENGINE_UNAVAILABLE", retry=True)
    return failure(Code.INTERNAL, str(error), reason="ENGINE_FAILED", retry=False)
