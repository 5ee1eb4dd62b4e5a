"""Asking for shorts, promos and clips, reading them, and writing down what is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList, credits_of
from cutroom.credits.receipts import receipt
from cutroom.credits.rules import Bill
from cutroom.credits.schemas import CreditBundle, ShortsWork
from cutroom.credits.service import balance_of, is_subscriber, works_of
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.jobs.states import JobState
from cutroom.library.rules import video_path
from cutroom.library.service import get_video
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.shorts.rules import MAX_SHOWN, Kind, parse_options
from cutroom.products.shorts.schemas import (
    NewClips,
    NewPromo,
    NewShorts,
    Output,
    ShortsAsked,
    ShortsItem,
    ShortsRequest,
    State,
)
from cutroom.products.transcripts.service import transcript_before

FAILURES = "failures"  # in a result: what went wrong with some of the outputs

_JOB = "SELECT id, status, plan, depends_on, result, error_code, error_message, error_details FROM jobs"
_OUTPUTS = f"""SELECT id, kind, title, description, duration_seconds, video_path, thumbnail_path FROM shorts_outputs
    WHERE library_id = $1 AND request_id = $2 AND deleted_at IS NULL ORDER BY number LIMIT {MAX_SHOWN}"""  # noqa: S608


def output_path(library_id: str, video_id: str, request_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"shorts/{request_id}/{name}")


async def ask_for_shorts(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    wanted: NewShorts | NewPromo | NewClips,
    prices: PriceList,
    now: datetime,
) -> ShortsAsked:
    """One job for all outputs of a request, to begin once there is a transcript."""
    await get_video(connection, principal, video_id)
    transcript, source = await transcript_before(connection, principal, video_id)
    plan = wanted.model_dump(mode="json", by_alias=True)
    asked = parse_options(plan)
    work = ShortsWork(
        kind=asked.kind.value,
        num_clips=asked.count,
        include_soundtrack=asked.soundtrack,
        include_generated_thumbnail=asked.generated_thumbnail,
    )
    works = tuple(works_of(CreditBundle(shorts=work)))
    bill = Bill(works, is_subscriber(principal), reservation_id=wanted.reservation_id)
    key = JobKey(JobType.SHORTS, new_id())
    job = NewJob(key, video_id, plan=plan, depends_on=[] if source is not None else [transcript.id], bill=bill)
    await request_jobs(connection, principal, [job], prices=prices, now=now)
    held = await receipt(connection, principal.library_id, holder=key.id)
    left = await balance_of(connection, principal.library_id)
    return ShortsAsked(
        shorts_request_id=key.subject, job_id=key.id, credits_spent=held["held"], balance=credits_of(left)
    )


async def list_requests(connection: Connection, principal: Principal, video_id: str) -> list[ShortsItem]:
    await get_video(connection, principal, video_id)
    rows = await connection.fetch(
        f"{_JOB} WHERE library_id = $1 AND video_id = $2 AND type = 'shorts' ORDER BY created_at DESC, id DESC",
        principal.library_id,
        video_id,
    )
    return [
        ShortsItem(
            id=_subject(row["id"]),
            status=_state(row),
            output_type=Kind(parse_options(row["plan"]).kind),
            job_id=row["id"],
        )
        for row in rows
    ]


async def get_request(
    connection: Connection, principal: Principal, request_id: str, *, storage: Storage
) -> ShortsRequest:
    """A request as it stands; one that failed is an error that carries it."""
    key = JobKey(JobType.SHORTS, request_id)
    row = None
    if is_id(request_id):
        row = await connection.fetchrow(f"{_JOB} WHERE library_id = $1 AND id = $2", principal.library_id, key.id)
    if row is None:
        raise not_found()
    made = await connection.fetch(_OUTPUTS, principal.library_id, request_id)
    request = ShortsRequest(
        shorts_request_id=request_id,
        status=_state(row),
        clips_expected=parse_options(row["plan"]).count,
        job_id=key.id,
        outputs=[await _output(each, storage) for each in made],
    )
    if request.status == "failed":
        raise CutroomError(
            Code(row["error_code"]),
            message=row["error_message"],
            details={**(row["error_details"] or {}), "request": request.model_dump(mode="json", by_alias=True)},
            status=422,
        )
    return request


def _subject(job_id: str) -> str:
    return job_id.partition("_")[2]


def _state(row: asyncpg.Record) -> State:
    match row["status"]:
        case JobState.READY:
            return "partial_failed" if (row["result"] or {}).get(FAILURES) else "complete"
        case JobState.FAILED:
            return "failed"
        case JobState.PROCESSING:
            return "processing"
        case _:
            return "pending" if row["depends_on"] else "queued"


async def _output(row: asyncpg.Record, storage: Storage) -> Output:
    return Output(
        output_id=row["id"],
        type=Kind(row["kind"]),
        video_url=await storage.read_url(row["video_path"]),
        thumbnail_url=await storage.read_url(row["thumbnail_path"]),
        duration=row["duration_seconds"],
        title=row["title"],
        description=row["description"],
    )


@dataclass(frozen=True, slots=True)
class NewOutput:
    """A finished output to write down."""

    id: str
    request_id: str
    video_id: str
    number: int
    kind: Kind
    title: str
    description: str
    reason: str
    duration_seconds: float
    moments: Sequence[Mapping[str, Any]]
    video_path: str
    thumbnail_path: str
    plan_path: str


async def put_output(connection: Connection, library_id: str, output: NewOutput, *, now: datetime) -> None:
    """Write an output down; a step that is repeated writes the same one."""
    await connection.execute("DELETE FROM shorts_outputs WHERE library_id = $1 AND id = $2", library_id, output.id)
    row = {name: getattr(output, name) for name in output.__slots__}
    row |= {"library_id": library_id, "kind": output.kind.value, "moments": list(output.moments), "created_at": now}
    await insert(connection, "shorts_outputs", row)
