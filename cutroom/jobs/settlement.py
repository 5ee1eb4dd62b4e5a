"""Settles the escrow of jobs, and lets a reserved transcript pay for the transcript's job."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from cutroom.credits import escrow
from cutroom.credits.pricing import Action, BillableItem
from cutroom.credits.receipts import receipt
from cutroom.credits.reserved_lines import claim_unused_line, reservations_of
from cutroom.credits.rules import Charge
from cutroom.credits.spending import OVER_LIMIT
from cutroom.errors import Code
from cutroom.jobs.ids import JobKey, JobType, parse_job_id, workflow_id
from cutroom.platform.db import Connection

TRANSCRIPT = BillableItem(Action.TRANSCRIPT, "transcript")
GET_CHARGED_JOB = "SELECT error_code, error_details FROM jobs WHERE library_id = $1 AND id = $2 AND charge IS NOT NULL"

Settle = Callable[..., Awaitable[None]]


async def settle_job(
    connection: Connection, library_id: str, job_id: str, *, holder: str, settle: Settle, now: datetime
) -> None:
    """Capture or release the job's escrow and add the receipt to its result."""
    await settle(connection, library_id, holder=holder, now=now)
    charged = await connection.fetchrow(GET_CHARGED_JOB, library_id, job_id)
    if charged is not None:
        details = charged["error_details"] or {}
        is_refused = charged["error_code"] == Code.INSUFFICIENT_CREDITS
        refused_price = details.get("required") if is_refused else _price_over_limit(details)
        await connection.execute(
            "UPDATE jobs SET result = coalesce(result, '{}') || $3 WHERE library_id = $1 AND id = $2",
            library_id,
            job_id,
            {"receipt": await receipt(connection, library_id, holder=holder, refused_price=refused_price)},
        )


def _price_over_limit(error_details: Mapping[str, Any]) -> float | None:
    return error_details.get("price") if error_details.get("reason") == OVER_LIMIT else None


async def claim_transcript_line(
    connection: Connection,
    library_id: str,
    job_id: str,
    *,
    video_id: str | None,
    holder: str,
    reservation_id: str | None = None,
    now: datetime,
) -> bool:
    """Charge a transcript to an unused line that was reserved for it, of one reservation or of any.

    Imports create transcripts for free, so without such a line there is nothing to charge. A repeated recognition
    was charged when it was requested.
    """
    key = parse_job_id(job_id)
    if key is None or key != JobKey(JobType.TRANSCRIPT, key.subject) or video_id is None:
        return False
    line = await claim_unused_line(
        connection, library_id, TRANSCRIPT, video_id=video_id, reservation_id=reservation_id, holder=holder, now=now
    )
    if line is None:
        return False
    charge = Charge((TRANSCRIPT,), is_subscriber=False, reservation_id=line.reservation_id, line_ids=(line.id,))
    await connection.execute(
        "UPDATE jobs SET charge = $3 WHERE library_id = $1 AND id = $2", library_id, job_id, charge.as_json()
    )
    return True


async def charge_ready_transcripts(
    connection: Connection, library_id: str, holders: Sequence[str], *, now: datetime
) -> None:
    """Charge ready transcripts to the reservations that pay for jobs which need them.

    An unfinished transcript claims its line when it ends. Only this function locks the job of a ready transcript, so
    locking it after lines cannot deadlock.
    """
    for reservation_id, video_id in await reservations_of(connection, library_id, holders):
        job_id = JobKey(JobType.TRANSCRIPT, video_id).id
        attempt: int | None = await connection.fetchval(
            """SELECT attempt FROM jobs WHERE library_id = $1 AND id = $2 AND status = 'ready' AND charge IS NULL
               FOR UPDATE""",
            library_id,
            job_id,
        )
        if attempt is None:
            continue
        holder = workflow_id(job_id, attempt)
        if await claim_transcript_line(
            connection,
            library_id,
            job_id,
            video_id=video_id,
            holder=holder,
            reservation_id=reservation_id,
            now=now,
        ):
            await settle_job(connection, library_id, job_id, holder=holder, settle=escrow.capture, now=now)
