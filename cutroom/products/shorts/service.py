"""Creates and reads requests for shorts, promos and clips, and saves their outputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList, to_credits
from cutroom.credits.receipts import receipt
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle, ShortsWork
from cutroom.credits.service import NOT_TRANSLATED, Qualities, billable_items, get_balance, is_subscriber
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.deletion import record_deleted_outputs
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import StartingJob
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.jobs.states import CANCELLED, JobState
from cutroom.library.originals import require_original
from cutroom.library.rules import video_path
from cutroom.library.schemas import Video
from cutroom.library.service import get_duration, get_video
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.shorts.rules import (
    MAX_LISTED_OUTPUTS,
    ShortsKind,
    parse_options,
    shortest_source,
)
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
from cutroom.products.transcripts.service import require_transcript
from cutroom.text.file_names import file_name

_NAMES = {ShortsKind.SHORTS: "a short", ShortsKind.PROMO: "a promo", ShortsKind.CLIPS: "a clip"}
FAILURES = "failures"  # key of a job result: errors of individual outputs

_JOB = "SELECT id, status, plan, depends_on, result, error_code, error_message, error_details FROM jobs"
_NOT_DELETED = "output_deleted_at IS NULL"
_GET_REQUEST = f"""{_JOB} WHERE library_id = $1 AND id = $2 AND {_NOT_DELETED} AND EXISTS (SELECT FROM videos v
    WHERE v.library_id = jobs.library_id AND v.id = jobs.video_id AND v.deleted_at IS NULL)"""
_OUTPUTS = f"""SELECT o.id, o.number, o.kind, o.title, o.description, o.duration_seconds, o.video_path,
        o.thumbnail_path, v.title AS video_title
    FROM shorts_outputs o JOIN videos v ON v.library_id = o.library_id AND v.id = o.video_id
    WHERE o.library_id = $1 AND o.request_id = $2 AND o.deleted_at IS NULL
    ORDER BY o.number LIMIT {MAX_LISTED_OUTPUTS}"""  # noqa: S608
_FILE_LABELS = {ShortsKind.SHORTS: "short", ShortsKind.PROMO: "promo", ShortsKind.CLIPS: "clip"}


def output_path(library_id: str, video_id: str, request_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"shorts/{request_id}/{name}")


def credit_bundle(plan: Mapping[str, Any]) -> CreditBundle:
    """Returns the bundle that quotes, reserves and charges a request or recipe with this plan."""
    options = parse_options(plan)
    work = ShortsWork(
        kind=options.kind.value,
        num_clips=options.count,
        min_duration=options.min_seconds if options.kind is ShortsKind.SHORTS else None,
        include_watermark=options.watermark,
        include_soundtrack=options.soundtrack,
        include_generated_thumbnail=options.generated_thumbnail,
    )
    return CreditBundle(shorts=work)


async def check_bundle(
    connection: Connection,
    principal: Principal,
    video: Video,
    *,
    bundle: CreditBundle,
    now: datetime,  # noqa: ARG001 (the form of every check)
) -> Qualities:
    """Refuses shorts, promos and clips that cannot be created."""
    if bundle.shorts is not None:
        await _check(connection, principal, video, work=bundle.shorts)
    return NOT_TRANSLATED


async def _check(connection: Connection, principal: Principal, video: Video, *, work: ShortsWork) -> list[str]:
    """Returns the jobs that these outputs depend on; raises if they cannot be made."""
    await require_original(connection, principal, video.id)
    transcript, source = await require_transcript(connection, principal, video.id)
    require_length(ShortsKind(work.kind), video.duration, min_seconds=work.min_duration)
    return [] if source is not None else [transcript.id]


async def check_start(connection: Connection, job: StartingJob, now: datetime) -> None:  # noqa: ARG001
    """Ends a request uncharged if the video, whose duration was not known when it was requested, is too short."""
    options = parse_options(job.plan)
    duration = await get_duration(connection, job.library_id, str(job.video_id))
    require_length(options.kind, duration, min_seconds=options.min_seconds)


def require_length(kind: ShortsKind, duration_seconds: float | None, *, min_seconds: float | None) -> None:
    """Raises FAILED_PRECONDITION if a video is known to be too short for one output."""
    needed = shortest_source(kind, min_seconds)
    if duration_seconds is not None and duration_seconds < needed:
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message=f"This video is too short: {_NAMES[kind]} needs at least {needed:g} seconds.",
            details={"reason": "too_short", "durationSeconds": duration_seconds, "neededSeconds": needed},
        )


async def create_shorts(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    request: NewShorts | NewPromo | NewClips,
    prices: PriceList,
    now: datetime,
) -> ShortsAsked:
    """Creates one job for all outputs of a request, which depends on the transcript if it is not ready."""
    video = await get_video(connection, principal, video_id)
    plan = request.model_dump(mode="json", by_alias=True)
    bundle = credit_bundle(plan)
    assert bundle.shorts is not None
    depends_on = await _check(connection, principal, video, work=bundle.shorts)
    items = tuple(billable_items(bundle))
    charge = Charge(items, is_subscriber(principal), reservation_id=request.reservation_id)
    key = JobKey(JobType.SHORTS, new_id())
    job = NewJob(key, video_id, plan=plan, depends_on=depends_on, charge=charge)
    await request_jobs(connection, principal, [job], prices=prices, now=now)
    receipt_data = await receipt(connection, principal.library_id, holder=key.id)
    balance = await get_balance(connection, principal.library_id)
    return ShortsAsked(
        shorts_request_id=key.subject, job_id=key.id, credits_spent=receipt_data["held"], balance=to_credits(balance)
    )


async def list_requests(connection: Connection, principal: Principal, video_id: str) -> list[ShortsItem]:
    await get_video(connection, principal, video_id)
    rows = await connection.fetch(
        f"""{_JOB} WHERE library_id = $1 AND video_id = $2 AND type = 'shorts' AND {_NOT_DELETED}
            ORDER BY created_at DESC, id DESC""",
        principal.library_id,
        video_id,
    )
    return [
        ShortsItem(
            id=_request_id(row["id"]),
            status=_status(row),
            output_type=ShortsKind(parse_options(row["plan"]).kind),
            job_id=row["id"],
        )
        for row in rows
    ]


async def get_request(
    connection: Connection, principal: Principal, request_id: str, *, storage: Storage
) -> ShortsRequest:
    """The current state of a request; raises the job's error, with the request in its details, if it failed."""
    key = JobKey(JobType.SHORTS, request_id)
    row = None
    if is_id(request_id):
        row = await connection.fetchrow(_GET_REQUEST, principal.library_id, key.id)
    if row is None:
        raise not_found()
    outputs = await connection.fetch(_OUTPUTS, principal.library_id, request_id)
    request = ShortsRequest(
        shorts_request_id=request_id,
        status=_status(row),
        clips_expected=parse_options(row["plan"]).count,
        job_id=key.id,
        outputs=[_output(each, storage) for each in outputs],
    )
    if request.status == "failed":
        is_canceled = row["error_code"] == CANCELLED  # which is no code of the API's errors
        reason = {"reason": "cancelled"} if is_canceled else {}
        raise CutroomError(
            Code.FAILED_PRECONDITION if is_canceled else Code(row["error_code"]),
            message=row["error_message"],
            details={
                **(row["error_details"] or {}),
                **reason,
                "request": request.model_dump(mode="json", by_alias=True),
            },
            status=422,
        )
    return request


def _request_id(job_id: str) -> str:
    return job_id.partition("_")[2]


def _status(row: asyncpg.Record) -> State:
    match row["status"]:
        case JobState.READY:
            return "partial_failed" if (row["result"] or {}).get(FAILURES) else "complete"
        case JobState.FAILED:
            return "failed"
        case JobState.PROCESSING:
            return "processing"
        case _:
            return "pending" if row["depends_on"] else "queued"


def _output(row: asyncpg.Record, storage: Storage) -> Output:
    kind = ShortsKind(row["kind"])
    name = partial(file_name, row["video_title"], _FILE_LABELS[kind], row["number"] + 1)
    return Output(
        output_id=row["id"],
        type=kind,
        video_url=storage.download_url(row["video_path"], name(extension="mp4")),
        thumbnail_url=storage.download_url(row["thumbnail_path"], name(extension="jpg")),
        duration=row["duration_seconds"],
        title=row["title"],
        description=row["description"],
    )


@dataclass(frozen=True, slots=True)
class NewShortsOutput:
    """A finished output to save."""

    id: str
    request_id: str
    video_id: str
    number: int
    kind: ShortsKind
    title: str
    description: str
    reason: str
    duration_seconds: float
    moments: Sequence[Mapping[str, Any]]
    video_path: str
    thumbnail_path: str
    plan_path: str
    transcript_revision: int | None = None  # that it was chosen from


async def save_output(connection: Connection, library_id: str, output: NewShortsOutput, *, now: datetime) -> None:
    """Saves an output; idempotent."""
    await connection.execute("DELETE FROM shorts_outputs WHERE library_id = $1 AND id = $2", library_id, output.id)
    row = {name: getattr(output, name) for name in output.__slots__}
    row |= {"library_id": library_id, "kind": output.kind.value, "moments": list(output.moments), "created_at": now}
    await insert(connection, "shorts_outputs", row)


async def discard(connection: Connection, job: EndedJob) -> None:
    """Removes the finished outputs of an unfinished request."""
    await connection.execute(
        "DELETE FROM shorts_outputs WHERE library_id = $1 AND request_id = $2", job.library_id, job.key.subject
    )


def output_prefix(job: EndedJob) -> str:
    return output_path(job.library_id, str(job.video_id), job.key.subject, "")


async def delete_outputs(connection: Connection, library_id: str, video_id: str, now: datetime) -> None:
    """Deletes the finished requests of a video with all outputs."""
    await record_deleted_outputs(connection, library_id, video_id, job_type=JobType.SHORTS, now=now)
    await connection.execute("DELETE FROM shorts_outputs WHERE library_id = $1 AND video_id = $2", library_id, video_id)
