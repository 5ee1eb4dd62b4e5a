"""Creates and reads thumbnail requests, and stores detections and rendered images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.capabilities.service import require_translations
from cutroom.credits.pricing import Action, BillableItem, PriceList, to_credits
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle, ThumbnailWork
from cutroom.credits.service import billable_items, get_balance, is_subscriber
from cutroom.errors import invalid_fields, not_found
from cutroom.jobs.ids import AutomationType, JobKey, JobType
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.library.rules import video_path
from cutroom.library.service import get_video
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.thumbnails.rules import (
    MAX_LISTED,
    CharacterRef,
    ThumbnailMode,
    ThumbnailOptions,
    billed_characters,
    find_faults,
    parse_options,
    resolve_mode,
)
from cutroom.products.thumbnails.schemas import (
    DetectionQueued,
    NewThumbnail,
    Status,
    ThumbnailCreated,
    ThumbnailRequest,
)
from cutroom.products.transcripts.service import require_transcript

REQUEST_ID = "request_id"  # key in a job's plan

_REQUESTS = """SELECT r.id, r.job_id, j.status,
        (SELECT array_agg(t.path ORDER BY t.number) FROM thumbnails t
          WHERE t.library_id = r.library_id AND t.request_id = r.id) AS paths
    FROM thumbnail_requests r JOIN jobs j ON j.library_id = r.library_id AND j.id = r.job_id"""
_STATUS: Mapping[str, Status] = {
    JobState.QUEUED: "queued",
    JobState.PROCESSING: "processing",
    JobState.READY: "complete",
    JobState.FAILED: "failed",
}


def image_path(library_id: str, video_id: str, request_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"thumbnails/{request_id}/{name}")


async def create_thumbnail(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    body: NewThumbnail,
    prices: PriceList,
    now: datetime,
) -> ThumbnailCreated | DetectionQueued:
    """Creates a thumbnail job, or a packaging job if detection in the video has to run first."""
    plan = body.model_dump(mode="json", by_alias=True)
    await get_video(connection, principal, video_id)
    options = await validate_plan(connection, principal, plan, at="")
    if options.detects:
        job = await zero_prompt_job(connection, principal, video_id, plan=plan, now=now)
        [is_new] = await create_jobs(connection, principal, [job], prices=prices, now=now)
        if is_new:
            await store_request(connection, principal.library_id, job, now=now)
        return DetectionQueued(job_id=job.key.id, registered=is_new)
    request_id = new_id()
    items = items_for_plan(plan)
    job = NewJob(
        JobKey(JobType.THUMBNAIL, request_id),
        video_id,
        plan={**plan, REQUEST_ID: request_id},
        depends_on=await _dependencies(connection, principal, video_id, options=options, now=now),
        charge=Charge(items, is_subscriber(principal)),
    )
    await create_jobs(connection, principal, [job], prices=prices, now=now)
    await store_request(connection, principal.library_id, job, now=now)
    balance = await get_balance(connection, principal.library_id)
    return ThumbnailCreated(
        thumbnail_request_id=request_id,
        job_id=job.key.id,
        output_image_urls=[] if options.mode is ThumbnailMode.PROMPT else None,
        balance=to_credits(balance),
    )


async def validate_plan(
    connection: Connection, principal: Principal, plan: Mapping[str, Any], *, at: str
) -> ThumbnailOptions:
    """Rejects incompatible fields (400), and characters and brand voices of other libraries (404)."""
    faults = find_faults(plan)
    if faults:
        raise invalid_fields([(f"{at}{name}", message) for name, message in faults])
    options = parse_options(plan)
    if options.brand_voice_id is not None:
        await require_brand_voice(connection, principal.library_id, options.brand_voice_id)
    for character in options.characters:
        if character.character_id is not None:
            await _require_character(connection, principal.library_id, character.character_id)
        if character.image_ids:
            await _require_images(
                connection, principal.library_id, character.image_ids, character_id=character.character_id
            )
    return options


async def zero_prompt_job(
    connection: Connection, principal: Principal, video_id: str, *, plan: Mapping[str, Any], now: datetime
) -> NewJob:
    """The packaging job that renders without a prompt; there is one per video."""
    key = JobKey(JobType.PACKAGING, video_id, automation=AutomationType.THUMBNAIL)
    return NewJob(
        key,
        video_id,
        plan={**plan, "mode": ThumbnailMode.ZERO_PROMPT.value, REQUEST_ID: new_id()},
        depends_on=await _dependencies(connection, principal, video_id, options=parse_options(plan), now=now),
        charge=Charge(items_for_plan({**plan, "mode": ThumbnailMode.ZERO_PROMPT.value}), is_subscriber(principal)),
    )


async def _dependencies(
    connection: Connection, principal: Principal, video_id: str, *, options: ThumbnailOptions, now: datetime
) -> list[str]:
    """Frames and headlines come from the video, so thumbnails depend on its transcript."""
    transcript, source = await require_transcript(connection, principal, video_id)
    if options.languages:
        await require_translations(
            connection, options.languages, source=source, now=now, field="thumbnailTranslationLanguageCodes"
        )
    return [] if source is not None else [transcript.id]


def items_for_plan(plan: Mapping[str, Any]) -> tuple[BillableItem, ...]:
    """Prompt thumbnails have a flat price; zero-prompt thumbnails are priced by their features."""
    if resolve_mode(plan) is ThumbnailMode.PROMPT:
        return (BillableItem(Action.PROMPT_THUMBNAIL, "thumbnail"),)
    options = parse_options(plan)
    bundle = ThumbnailWork(
        enabled=True,
        character_count=billed_characters(plan),
        translate_language_codes=list(options.languages),
        auto_detect_content_moments=options.detects_content,
    )
    return tuple(billable_items(CreditBundle(zero_prompt_thumbnail=bundle)))


async def require_brand_voice(connection: Connection, library_id: str, brand_voice_id: str) -> None:
    if not await connection.fetchval(
        "SELECT EXISTS (SELECT FROM brand_voices WHERE library_id = $1 AND id = $2)", library_id, brand_voice_id
    ):
        raise not_found()


async def _require_character(connection: Connection, library_id: str, character_id: str) -> None:
    if not await connection.fetchval(
        "SELECT EXISTS (SELECT FROM characters WHERE library_id = $1 AND id = $2)", library_id, character_id
    ):
        raise not_found()


async def _require_images(
    connection: Connection, library_id: str, image_ids: Sequence[str], *, character_id: str | None
) -> None:
    found = await connection.fetchval(
        """SELECT count(*) FROM character_images
           WHERE library_id = $1 AND id = ANY($2) AND ($3::text IS NULL OR character_id = $3)""",
        library_id,
        list(image_ids),
        character_id,
    )
    if found != len(set(image_ids)):
        raise not_found()


async def store_request(connection: Connection, library_id: str, job: NewJob, *, now: datetime) -> None:
    """Stores a request; a rerun replaces the previous one."""
    await connection.execute(
        "DELETE FROM thumbnail_requests WHERE library_id = $1 AND job_id = $2", library_id, job.key.id
    )
    row = {
        "library_id": library_id,
        "id": job.plan[REQUEST_ID],
        "video_id": job.video_id,
        "job_id": job.key.id,
        "created_at": now,
    }
    await insert(connection, "thumbnail_requests", row)


async def list_requests(
    connection: Connection, principal: Principal, video_id: str, *, storage: Storage
) -> list[ThumbnailRequest]:
    await get_video(connection, principal, video_id)
    rows = await connection.fetch(
        f"{_REQUESTS} WHERE r.library_id = $1 AND r.video_id = $2 ORDER BY r.created_at DESC, r.id DESC LIMIT $3",
        principal.library_id,
        video_id,
        MAX_LISTED,
    )
    return [await _request(row, storage) for row in rows]


async def get_request(
    connection: Connection, principal: Principal, request_id: str, *, storage: Storage
) -> ThumbnailRequest:
    row = None
    if is_id(request_id):
        row = await connection.fetchrow(
            f"{_REQUESTS} WHERE r.library_id = $1 AND r.id = $2", principal.library_id, request_id
        )
    if row is None:
        raise not_found()
    return await _request(row, storage)


async def _request(row: asyncpg.Record, storage: Storage) -> ThumbnailRequest:
    paths = row["paths"] or []
    return ThumbnailRequest(
        id=row["id"],
        status=_STATUS[row["status"]],
        output_image_urls=await storage.read_urls(paths) if paths else [],
        job_id=row["job_id"],
    )


@dataclass(frozen=True, slots=True)
class NewThumbnailImage:
    """A rendered image to store."""

    id: str
    request_id: str
    video_id: str
    number: int
    language: str | None
    headline: str | None
    layout: str
    score: float
    engine: str
    path: str


async def store_images(
    connection: Connection, library_id: str, images: Sequence[NewThumbnailImage], *, now: datetime
) -> None:
    """Stores images; idempotent, because retries replace their own rows."""
    for each in images:
        await connection.execute("DELETE FROM thumbnails WHERE library_id = $1 AND id = $2", library_id, each.id)
        row = {name: getattr(each, name) for name in NewThumbnailImage.__slots__}
        await insert(connection, "thumbnails", {**row, "library_id": library_id, "created_at": now})


async def store_detections(
    connection: Connection, library_id: str, request_id: str, detected: Sequence[Mapping[str, Any]]
) -> None:
    await connection.execute(
        "UPDATE thumbnail_requests SET detected = $3 WHERE library_id = $1 AND id = $2",
        library_id,
        request_id,
        [dict(each) for each in detected],
    )


async def load_detections(
    connection: Connection, library_id: str, request_id: str
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """What was detected in the video, and the review decision."""
    row = await connection.fetchrow(
        "SELECT detected, decision FROM thumbnail_requests WHERE library_id = $1 AND id = $2", library_id, request_id
    )
    return ([], None) if row is None else (row["detected"] or [], row["decision"])


@dataclass(frozen=True, slots=True)
class BrandSettings:
    """Guidelines and colors of a brand voice."""

    guidelines: str | None = None
    colors: tuple[str, ...] = ()


async def load_brand(connection: Connection, library_id: str, brand_voice_id: str | None) -> BrandSettings:
    row = await connection.fetchrow(
        "SELECT guidelines, colors FROM brand_voices WHERE library_id = $1 AND id = $2", library_id, brand_voice_id
    )
    return BrandSettings() if row is None else BrandSettings(row["guidelines"], tuple(row["colors"] or ()))


async def character_image_paths(connection: Connection, library_id: str, character: CharacterRef) -> list[str]:
    """Storage paths of a saved character's images: the given ones, or all."""
    rows = await connection.fetch(
        """SELECT storage_path FROM character_images
           WHERE library_id = $1 AND ($2::text IS NULL OR character_id = $2)
             AND (id = ANY($3) OR (cardinality($3::text[]) = 0 AND $2::text IS NOT NULL))
           ORDER BY id""",
        library_id,
        character.character_id,
        list(character.image_ids),
    )
    return [row["storage_path"] for row in rows]


async def set_poster(connection: Connection, library_id: str, video_id: str, *, path: str) -> None:
    """Sets the video's poster."""
    await connection.execute(
        "UPDATE videos SET poster_path = $3 WHERE library_id = $1 AND id = $2", library_id, video_id, path
    )
