"""A job's life once its workflow runs: begin, report, finish or fail. Each is one transaction, safe to repeat."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal

from cutroom.credits import escrow
from cutroom.credits.pricing import PriceList
from cutroom.credits.receipts import receipt
from cutroom.credits.rules import Bill
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import InternalJobType, JobType, kind_of, parse_job_id
from cutroom.jobs.service import GET_JOB, job_of, release_dependents, workflow_id
from cutroom.library.schemas import State
from cutroom.library.service import show_progress, video_for_event
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.webhooks.service import announce

MAX_MESSAGE = 500
BILLED = "SELECT error_code, error_details FROM jobs WHERE library_id = $1 AND id = $2 AND bill IS NOT NULL"

# In a result: how many of the works that the job was billed for came to nothing. Their price goes back.
UNDONE = "undone"

# What gives a picture, a sound or subtitles that a player can show.
PLAYED = frozenset({JobType.IMPORT, JobType.TRANSCRIPT, JobType.CAPTIONS, JobType.DUB, InternalJobType.REDUB})

Settle = Callable[..., Awaitable[None]]


@dataclass(frozen=True, slots=True)
class JobRef:
    """One attempt at one job; what every activity of it is told."""

    library_id: str
    job_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job failed."""

    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)


async def begin(connection: Connection, ref: JobRef, *, prices: PriceList, now: datetime) -> dict[str, Any] | None:
    """The job's plan, or nothing when this attempt is not the one to do it (any more), or cannot be paid."""
    row = await connection.fetchrow(
        """UPDATE jobs SET status = 'processing', updated_at = $4
           WHERE library_id = $1 AND id = $2 AND attempt = $3 AND status IN ('queued', 'processing')
           RETURNING plan, video_id, bill""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
        now,
    )
    if row is None:
        return None
    await _show(connection, ref, row["video_id"], state="processing", now=now)
    if row["bill"] is not None:
        refusal = await _pay(connection, ref, Bill.from_json(row["bill"]), row["video_id"], prices=prices, now=now)
        if refusal is not None:
            await fail(connection, ref, failure=refusal, now=now)
            return None
    return {**row["plan"], "video_id": row["video_id"]}


async def _pay(
    connection: Connection, ref: JobRef, bill: Bill, video_id: str | None, *, prices: PriceList, now: datetime
) -> Failure | None:
    """Nothing is begun that is not paid for; why it cannot be, if so."""
    holder = workflow_id(ref.job_id, ref.attempt)
    try:
        async with connection.transaction():
            await escrow.ensure_held(
                connection, ref.library_id, bill, holder=holder, video_id=video_id, prices=prices, now=now
            )
    except CutroomError as error:
        return Failure(error.code, error.message, details=error.details)
    return None


async def report(connection: Connection, ref: JobRef, *, stage: str, progress: int, now: datetime) -> None:
    """What the job is doing, and how far it has come; progress never goes back."""
    await connection.execute(
        """UPDATE jobs SET stage = $4, progress = greatest(progress, least($5, 99)), updated_at = $6
           WHERE library_id = $1 AND id = $2 AND attempt = $3 AND status = 'processing'""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
        stage,
        progress,
        now,
    )


async def finish(connection: Connection, ref: JobRef, *, result: dict[str, Any], now: datetime) -> bool:
    """The job is ready: its result is stored, its price is spent, what waited for it starts, and endpoints are told."""
    row = await connection.fetchrow(
        """UPDATE jobs SET status = 'ready', result = $4, progress = 100, updated_at = $5, finished_at = $5
           WHERE library_id = $1 AND id = $2 AND attempt = $3 AND status = 'processing' RETURNING video_id, plan""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
        result,
        now,
    )
    if row is None:
        return False
    await _show(connection, ref, row["video_id"], state="ready", now=now)
    await release_dependents(connection, ref.library_id, video_id=row["video_id"], prerequisite=ref.job_id, now=now)
    await _publish(connection, ref, row["video_id"] or row["plan"].get("dubbed_video_id"))
    undone = int(result.get(UNDONE, 0))
    await _settle(
        connection, ref, partial(escrow.capture, undone=undone), now=now
    )  # after all jobs: whoever holds money waits for no job
    await _announce_job(connection, ref, type_="job.ready", now=now)
    return True


async def _publish(connection: Connection, ref: JobRef, video_id: str | None) -> None:
    """What was made may be something to play: whoever packages it is told, and finds out by itself."""
    key = parse_job_id(ref.job_id)
    if key is None or key.type not in PLAYED or video_id is None:
        return
    await enqueue(
        connection,
        WorkflowStart(
            library_id=ref.library_id,
            workflow="playback",
            workflow_id=f"playback_{workflow_id(ref.job_id, ref.attempt)}",
            argument={"library_id": ref.library_id, "video_id": video_id},
        ),
    )


async def fail(connection: Connection, ref: JobRef, *, failure: Failure, now: datetime) -> bool:
    """The job failed, and with it all that waited for it; each says why, and each gets its credits back."""
    failed = await _mark_failed(connection, ref, failure=failure, now=now)
    for each, video_id in failed:
        await _show(connection, each, video_id, state="failed", now=now)
    for each, _ in failed:  # after all jobs: whoever holds money waits for no job
        await _settle(connection, each, escrow.release, now=now)
    for each, _ in failed:
        await _announce_job(connection, each, type_="job.failed", now=now)
    return bool(failed)


async def _mark_failed(
    connection: Connection, ref: JobRef, *, failure: Failure, now: datetime
) -> list[tuple[JobRef, str | None]]:
    """The job and all that waited for it, each with its video; nothing when the job had ended already."""
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
    waiting = await connection.fetch(
        """SELECT id, attempt FROM jobs
           WHERE library_id = $1 AND video_id = $2 AND status = 'queued' AND depends_on @> ARRAY[$3] ORDER BY id""",
        ref.library_id,
        row["video_id"],
        ref.job_id,
    )
    because = Failure(Code.FAILED_PRECONDITION, "A job that this one needs has failed.", details={"jobId": ref.job_id})
    for each in waiting:
        next_ref = JobRef(ref.library_id, each["id"], each["attempt"])
        failed += await _mark_failed(connection, next_ref, failure=because, now=now)
    return failed


async def _settle(connection: Connection, ref: JobRef, settle: Settle, *, now: datetime) -> None:
    """Capture or release what the job holds; its result then shows the receipt."""
    holder = workflow_id(ref.job_id, ref.attempt)
    await settle(connection, ref.library_id, holder=holder, now=now)
    billed = await connection.fetchrow(BILLED, ref.library_id, ref.job_id)
    if billed is not None:
        details = billed["error_details"] or {}
        refused = details.get("required") if billed["error_code"] == Code.INSUFFICIENT_CREDITS else None
        await connection.execute(
            "UPDATE jobs SET result = coalesce(result, '{}') || $3 WHERE library_id = $1 AND id = $2",
            ref.library_id,
            ref.job_id,
            {"receipt": await receipt(connection, ref.library_id, holder=holder, refused=refused)},
        )


async def _show(connection: Connection, ref: JobRef, video_id: str | None, *, state: State, now: datetime) -> None:
    """The import and the transcript show on their video; the end of its import is an event of the video."""
    key = parse_job_id(ref.job_id)
    if key is None or video_id is None or key.type not in {JobType.IMPORT, JobType.TRANSCRIPT}:
        return
    of: Literal["import", "transcript"] = "import" if key.type is JobType.IMPORT else "transcript"
    await show_progress(connection, ref.library_id, video_id, of=of, state=state)
    if of == "import" and state in {"ready", "failed"}:
        video = await video_for_event(connection, ref.library_id, video_id)
        data = video.model_dump(mode="json", by_alias=True)
        await announce(connection, ref.library_id, type=f"video.{state}", data=data, now=now)


async def _announce_job(connection: Connection, ref: JobRef, *, type_: str, now: datetime) -> None:
    row = await connection.fetchrow(GET_JOB, ref.library_id, ref.job_id)
    assert row is not None
    if isinstance(kind_of(row["type"]), InternalJobType):
        return
    data = job_of(row).model_dump(mode="json", by_alias=True)
    await announce(connection, ref.library_id, type=type_, data=data, now=now)
