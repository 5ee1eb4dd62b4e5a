"""Requests jobs that recognize the speech of a video again, as a new revision of its transcript."""

from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.credits.rules import Charge
from cutroom.credits.service import is_subscriber
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob, get_job, request_jobs
from cutroom.jobs.settlement import TRANSCRIPT
from cutroom.jobs.states import JobState
from cutroom.library.trash import keep_video
from cutroom.platform.db import Connection
from cutroom.products.transcripts.editing.service import require_state
from cutroom.products.transcripts.recognition.schemas import RecognitionRequest
from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE

_UNFINISHED = """SELECT id FROM jobs WHERE library_id = $1 AND video_id = $2 AND type = 'transcript'
    AND status IN ('queued', 'processing') LIMIT 1"""
_HAS_CAPTIONS = """SELECT EXISTS (SELECT FROM jobs
    WHERE library_id = $1 AND id = $2 AND status <> 'failed' AND output_deleted_at IS NULL)"""


@dataclass(frozen=True, slots=True)
class RecognitionCaller:
    """A caller who requests a recognition now."""

    connection: Connection
    principal: Principal
    prices: PriceList
    now: datetime


async def recognize_again(caller: RecognitionCaller, video_id: str, request: RecognitionRequest) -> Job:
    """Create the job, or return the one that was created for this revision before.

    The row of the transcript is locked until the transaction ends, so that a revision is never charged twice.
    """
    connection, library_id = caller.connection, caller.principal.library_id
    await keep_video(connection, library_id, video_id)
    state = await require_state(connection, caller.principal, video_id, lock=True)
    key = JobKey(JobType.TRANSCRIPT, video_id, revision=request.revision)
    language = request.language or (state.language if state.language != UNKNOWN_LANGUAGE else None)
    job = await _find(connection, library_id, key, language)
    if job is not None:
        return job
    if state.revision != request.revision:
        message = "The transcript was changed in the meantime. Get its current revision, then repeat the request."
        raise CutroomError(Code.CONFLICT, message=message, details={"revision": state.revision})
    running: str | None = await connection.fetchval(_UNFINISHED, library_id, video_id)
    if running is not None:
        message = "The speech of this video is being recognized. Wait until the job has ended, or cancel it."
        raise CutroomError(
            Code.FAILED_PRECONDITION, message=message, details={"reason": "recognizing", "jobId": running}
        )
    if language is not None and language != state.language:
        await _refuse_captions(connection, library_id, JobKey(JobType.CAPTIONS, video_id, language=language))
    charge = Charge(items=(TRANSCRIPT,), is_subscriber=is_subscriber(caller.principal))
    # A ready job of this revision has recognized another language, and changed nothing.
    new_job = NewJob(key, video_id, plan={"language": language}, charge=charge, rerun=True)
    ((created, _),) = await request_jobs(connection, caller.principal, [new_job], prices=caller.prices, now=caller.now)
    return created


async def _find(connection: Connection, library_id: str, key: JobKey, language: str | None) -> Job | None:
    """The job of an equal request that has not failed."""
    row = await connection.fetchrow(
        "SELECT status, plan FROM jobs WHERE library_id = $1 AND id = $2", library_id, key.id
    )
    if row is None or row["status"] == JobState.FAILED or row["plan"]["language"] != language:
        return None
    return await get_job(connection, library_id, key.id)


async def _refuse_captions(connection: Connection, library_id: str, captions: JobKey) -> None:
    """Raises FAILED_PRECONDITION if there are translated captions in what becomes the language of the transcript."""
    if await connection.fetchval(_HAS_CAPTIONS, library_id, captions.id):
        message = "This video has captions in that language. Delete them first."
        raise CutroomError(
            Code.FAILED_PRECONDITION, message=message, details={"reason": "captions", "jobId": captions.id}
        )
