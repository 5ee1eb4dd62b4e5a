"""Job state transitions made by its workflow. Each is one transaction and idempotent."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal

import asyncpg

from cutroom.credits import escrow
from cutroom.credits.pricing import PriceList
from cutroom.credits.rules import Charge
from cutroom.engines.translation.port import Quality
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import InternalJobType, JobKey, JobType, parse_job_id, parse_job_kind, workflow_id
from cutroom.jobs.service import GET_JOB, job_from_row, release_dependents
from cutroom.jobs.settlement import Settle, claim_transcript_line, settle_job
from cutroom.jobs.states import CANCELLED, JobState
from cutroom.library.schemas import State
from cutroom.library.service import load_video, set_stage_status
from cutroom.library.usage import Usage, add_usage
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.webhooks.publishing import publish_event

MAX_MESSAGE = 500

# Result key: how many of the charged items produced no output. Their price is refunded.
FAILED_ITEMS = "failedItems"

# Job types whose output changes what a player can show.
PLAYABLE_JOB_TYPES = frozenset(
    {JobType.IMPORT, JobType.TRANSCRIPT, JobType.CAPTIONS, JobType.DUB, InternalJobType.REDUB}
)

# Job types that process the media from start to end, and count as processed minutes.
PROCESSING_JOB_TYPES = frozenset({JobType.TRANSCRIPT, JobType.CAPTIONS, JobType.DUB})


@dataclass(frozen=True, slots=True)
class JobRef:
    """Identifies one attempt at a job; passed to each of its activities."""

    library_id: str
    job_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class StartingJob:
    """A job whose dependencies are ready, before its price is held."""

    library_id: str
    key: JobKey
    video_id: str | None
    plan: Mapping[str, Any]


# Raises the error with which a job ends uncharged if it turns out, once its dependencies are ready, to be impossible.
StartCheck = Callable[[Connection, StartingJob, datetime], Awaitable[None]]

# Starts what follows a ready job, in the transaction that completes it.
ReadyHook = Callable[[Connection, JobRef, datetime], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job failed."""

    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)


async def start(
    connection: Connection, ref: JobRef, *, prices: PriceList, now: datetime, check: StartCheck | None = None
) -> dict[str, Any] | None:
    """Mark the job as processing and return its plan; None if the attempt is superseded, impossible or not paid for."""
    row = await connection.fetchrow(
        """UPDATE jobs SET status = 'processing', updated_at = $4, started_at = coalesce(started_at, $4)
           WHERE library_id = $1 AND id = $2 AND attempt = $3 AND status IN ('queued', 'processing')
           RETURNING plan, video_id, charge""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
        now,
    )
    if row is None:
        return None
    await _update_video(connection, ref, row["video_id"], state="processing", now=now)
    video_id, key = row["video_id"], parse_job_id(ref.job_id)
    charge = Charge.from_json(row["charge"]) if row["charge"] is not None else None
    try:
        async with connection.transaction():
            if check is not None and key is not None:
                await check(connection, StartingJob(ref.library_id, key, video_id, row["plan"]), now)
            if charge is not None:
                holder = workflow_id(ref.job_id, ref.attempt)
                await escrow.ensure_held(
                    connection, ref.library_id, charge, holder=holder, video_id=video_id, prices=prices, now=now
                )
    except CutroomError as error:
        failure = Failure(error.code, error.message, details=error.details)
        await fail(connection, ref, failure=failure, now=now)
        return None
    return {**row["plan"], "video_id": video_id}


async def complete(
    connection: Connection, ref: JobRef, *, result: dict[str, Any], now: datetime, prices: PriceList | None = None
) -> bool:
    """Store the result, capture the escrow, release dependent jobs and publish `job.ready`.

    With `prices`, a result of draft quality is charged at the draft rate, whatever was held for it.
    """
    row = await connection.fetchrow(
        """UPDATE jobs SET status = 'ready', result = $4, progress = 100, updated_at = $5, finished_at = $5,
               reached_seconds = with_marks(reached_seconds, 100, extract(epoch FROM $5 - started_at)),
               media_seconds = coalesce(media_seconds, (
                   SELECT duration_seconds FROM videos v WHERE v.library_id = $1 AND v.id = jobs.video_id))
           WHERE library_id = $1 AND id = $2 AND attempt = $3 AND status = 'processing'
           RETURNING video_id, plan, media_seconds""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
        result,
        now,
    )
    if row is None:
        return False
    await _update_video(connection, ref, row["video_id"], state="ready", now=now)
    await release_dependents(connection, ref.library_id, video_id=row["video_id"], prerequisite=ref.job_id, now=now)
    await _start_playback(connection, ref, row["video_id"] or row["plan"].get("dubbed_video_id"))
    await _count_processed(connection, ref, row["media_seconds"])
    failed_items = int(result.get(FAILED_ITEMS, 0))
    # Ledger locks are taken after all job locks, so that transactions cannot deadlock.
    draft_prices = prices if result.get("quality") == Quality.DRAFT else None
    capture = partial(escrow.capture, failed_items=failed_items, draft_prices=draft_prices)
    await _settle(connection, ref, row["video_id"], settle=capture, now=now)
    await _publish_job_event(connection, ref, type_="job.ready", now=now)
    return True


async def require_running(connection: Connection, ref: JobRef) -> None:
    """Lock the job until the transaction ends; raise if this attempt is superseded or has ended.

    Called before an output is published, so that a canceled job publishes nothing more.
    """
    is_running = await connection.fetchval(
        """SELECT true FROM jobs WHERE library_id = $1 AND id = $2 AND attempt = $3 AND status = 'processing'
           FOR SHARE""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
    )
    if not is_running:
        raise CutroomError(Code.CONFLICT, message="This attempt of the job has ended.")


async def _count_processed(connection: Connection, ref: JobRef, media_seconds: float | None) -> None:
    key = parse_job_id(ref.job_id)
    is_whole = key is not None and key.type in PROCESSING_JOB_TYPES and key.revision is None
    if is_whole and media_seconds is not None:
        await add_usage(connection, ref.library_id, Usage(processed_milliseconds=round(media_seconds * 1000)))


async def _start_playback(connection: Connection, ref: JobRef, video_id: str | None) -> None:
    """Start the playback workflow if the job's output is playable; it determines by itself what is missing."""
    key = parse_job_id(ref.job_id)
    if key is not None and key.type in PLAYABLE_JOB_TYPES and video_id is not None:
        await start_playback(connection, ref.library_id, video_id, cause=workflow_id(ref.job_id, ref.attempt))


async def start_playback(connection: Connection, library_id: str, video_id: str, *, cause: str) -> None:
    """Start the playback workflow, once per cause."""
    await enqueue(
        connection,
        WorkflowStart(
            library_id=library_id,
            workflow="playback",
            workflow_id=f"playback_{cause}",
            argument={"library_id": library_id, "video_id": video_id},
        ),
    )


async def fail(connection: Connection, ref: JobRef, *, failure: Failure, now: datetime) -> bool:
    """Fail the job and its dependents, release their escrow and publish `job.failed` for each, then `job.cancelled`."""
    failed = await _mark_failed(connection, ref, failure=failure, now=now)
    for each, video_id in failed:
        await _update_video(connection, each, video_id, state="failed", now=now)
    if failed and failure.code != Code.INTERNAL:  # which is not the caller's doing
        await add_usage(connection, ref.library_id, Usage(failed_jobs=1))
    for each, video_id in failed:  # ledger locks after all job locks, so that transactions cannot deadlock
        await _settle(connection, each, video_id, settle=escrow.release, now=now)
    for each, _ in failed:
        await _publish_job_event(connection, each, type_="job.failed", now=now)
    if failed and failure.code == CANCELLED:
        await _publish_job_event(connection, ref, type_="job.cancelled", now=now)
    return bool(failed)


async def _mark_failed(
    connection: Connection, ref: JobRef, *, failure: Failure, now: datetime
) -> list[tuple[JobRef, str | None]]:
    """Mark the job and its dependents as failed; return each with its video, or nothing if it had already finished."""
    row = await connection.fetchrow(
        """UPDATE jobs SET status = 'failed', error_code = $4, error_message = $5, error_details = $6,
               updated_at = $7, finished_at = $7
           WHERE library_id = $1 AND id = $2 AND attempt = $3 AND status IN ('queued', 'processing')
           RETURNING video_id""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
        failure.code,
        failure.message[:MAX_MESSAGE],
        failure.details,
        now,
    )
    if row is None:
        return []
    failed = [(ref, row["video_id"])]
    dependents = await connection.fetch(
        """SELECT id, attempt FROM jobs
           WHERE library_id = $1 AND video_id = $2 AND status = 'queued' AND depends_on @> ARRAY[$3] ORDER BY id""",
        ref.library_id,
        row["video_id"],
        ref.job_id,
    )
    verb = "was canceled" if failure.code == CANCELLED else "has failed"
    message = f"A job that this one depends on {verb}."
    cause = Failure(Code.FAILED_PRECONDITION, message, details={"jobId": ref.job_id})
    for each in dependents:
        next_ref = JobRef(ref.library_id, each["id"], each["attempt"])
        failed += await _mark_failed(connection, next_ref, failure=cause, now=now)
    return failed


async def _settle(connection: Connection, ref: JobRef, video_id: str | None, *, settle: Settle, now: datetime) -> None:
    """Capture or release the job's escrow, with a line that was reserved for a transcript."""
    holder = workflow_id(ref.job_id, ref.attempt)
    await claim_transcript_line(connection, ref.library_id, ref.job_id, video_id=video_id, holder=holder, now=now)
    await settle_job(connection, ref.library_id, ref.job_id, holder=holder, settle=settle, now=now)


async def _update_video(
    connection: Connection, ref: JobRef, video_id: str | None, *, state: State, now: datetime
) -> None:
    """Copy import and transcript states to the video; publish `video.ready` or `video.failed` when the import ends."""
    key = parse_job_id(ref.job_id)
    if key is None or video_id is None:
        return
    await update_video_stage(connection, ref.library_id, key, video_id, state=state)
    if key.type is JobType.IMPORT and state in {"ready", "failed"}:
        video = await load_video(connection, ref.library_id, video_id)
        data = video.model_dump(mode="json", by_alias=True)
        await publish_event(connection, ref.library_id, type=f"video.{state}", data=data, now=now)


async def update_video_stage(
    connection: Connection, library_id: str, key: JobKey, video_id: str | None, *, state: State
) -> None:
    """Copy the state of an import or transcript to its video; a repeated recognition leaves the video as it is."""
    if video_id is None or key.revision is not None or key.type not in {JobType.IMPORT, JobType.TRANSCRIPT}:
        return
    stage: Literal["import", "transcript"] = "import" if key.type is JobType.IMPORT else "transcript"
    await set_stage_status(connection, library_id, video_id, stage=stage, state=state)


async def _publish_job_event(connection: Connection, ref: JobRef, *, type_: str, now: datetime) -> None:
    row = await connection.fetchrow(GET_JOB, ref.library_id, ref.job_id)
    assert row is not None
    kind = parse_job_kind(row["type"])
    if kind is InternalJobType.REDUB and type_ != "job.cancelled":  # which follows a failure
        await _publish_redub_event(connection, ref, row, now=now)
    if isinstance(kind, InternalJobType):
        return
    data = job_from_row(row).model_dump(mode="json", by_alias=True)
    await publish_event(connection, ref.library_id, type=type_, data=data, now=now)


async def _publish_redub_event(connection: Connection, ref: JobRef, job: asyncpg.Record, *, now: datetime) -> None:
    """Publish that lines of a dub were regenerated, or that this failed; a redub is not exposed as a job."""
    plan = await connection.fetchval(
        "SELECT plan FROM jobs WHERE library_id = $1 AND id = $2", ref.library_id, ref.job_id
    )
    has_failed = job["status"] == JobState.FAILED
    data = {
        "videoId": plan["dubbed_video_id"],
        "language": plan["language"],
        "product": plan["product"],
        "jobId": ref.job_id,
        "segmentIds": plan.get("lines", []),
    }
    if has_failed:
        data["error"] = {"code": job["error_code"], "message": job["error_message"]}
    type_ = "dub.regeneration_failed" if has_failed else "dub.regenerated"
    await publish_event(connection, ref.library_id, type=type_, data=data, now=now)
