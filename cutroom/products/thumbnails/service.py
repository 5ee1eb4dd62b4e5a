"""Asking for thumbnails, reading them, and writing down what is found and drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import Action, PriceList, Work, credits_of
from cutroom.credits.rules import Bill
from cutroom.credits.schemas import CreditBundle, ThumbnailWork
from cutroom.credits.service import balance_of, is_subscriber, works_of
from cutroom.errors import invalid_fields, not_found
from cutroom.jobs.ids import AutomationType, JobKey, JobType
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.library.rules import video_path
from cutroom.library.service import get_video
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.captions.service import check_translations
from cutroom.products.thumbnails.rules import (
    MAX_LISTED,
    CharacterRef,
    Mode,
    ThumbnailOptions,
    characters_billed,
    faults_in,
    mode_of,
    parse_options,
)
from cutroom.products.thumbnails.schemas import (
    DetectionQueued,
    NewThumbnail,
    Status,
    ThumbnailAsked,
    ThumbnailRequest,
)
from cutroom.products.transcripts.service import transcript_before

REQUEST_ID = "request_id"  # in the plan of a job: which request it draws

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


def picture_path(library_id: str, video_id: str, request_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"thumbnails/{request_id}/{name}")


async def ask_for_thumbnail(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    asked: NewThumbnail,
    prices: PriceList,
    now: datetime,
) -> ThumbnailAsked | DetectionQueued:
    """A job that draws; where something has to be found in the film first, it is the run of packaging that does."""
    plan = asked.model_dump(mode="json", by_alias=True)
    await get_video(connection, principal, video_id)
    wanted = await check(connection, principal, plan, at="")
    if wanted.detects:
        job = await zero_prompt_job(connection, principal, video_id, plan=plan, now=now)
        [is_new] = await create_jobs(connection, principal, [job], prices=prices, now=now)
        if is_new:
            await put_request(connection, principal.library_id, job, now=now)
        return DetectionQueued(job_id=job.key.id, registered=is_new)
    request_id = new_id()
    works = billed_works(plan)
    job = NewJob(
        JobKey(JobType.THUMBNAIL, request_id),
        video_id,
        plan={**plan, REQUEST_ID: request_id},
        depends_on=await _waits_for(connection, principal, video_id, wanted=wanted, now=now),
        bill=Bill(works, is_subscriber(principal)),
    )
    await create_jobs(connection, principal, [job], prices=prices, now=now)
    await put_request(connection, principal.library_id, job, now=now)
    left = await balance_of(connection, principal.library_id)
    return ThumbnailAsked(
        thumbnail_request_id=request_id,
        job_id=job.key.id,
        output_image_urls=[] if wanted.mode is Mode.PROMPT else None,
        balance=credits_of(left),
    )


async def check(connection: Connection, principal: Principal, plan: Mapping[str, Any], *, at: str) -> ThumbnailOptions:
    """Refuse what does not go together (400), and figures and brand voices that are not of this library (404)."""
    faults = faults_in(plan)
    if faults:
        raise invalid_fields([(f"{at}{name}", message) for name, message in faults])
    wanted = parse_options(plan)
    if wanted.brand_voice_id is not None:
        await require_brand_voice(connection, principal.library_id, wanted.brand_voice_id)
    for character in wanted.characters:
        if character.character_id is not None:
            await _require_character(connection, principal.library_id, character.character_id)
        if character.image_ids:
            await _require_images(
                connection, principal.library_id, character.image_ids, character_id=character.character_id
            )
    return wanted


async def zero_prompt_job(
    connection: Connection, principal: Principal, video_id: str, *, plan: Mapping[str, Any], now: datetime
) -> NewJob:
    """The run of packaging that draws without a prompt; there is one for a video, so its request has its id."""
    key = JobKey(JobType.PACKAGING, video_id, automation=AutomationType.THUMBNAIL)
    return NewJob(
        key,
        video_id,
        plan={**plan, "mode": Mode.ZERO_PROMPT.value, REQUEST_ID: new_id()},
        depends_on=await _waits_for(connection, principal, video_id, wanted=parse_options(plan), now=now),
        bill=Bill(billed_works({**plan, "mode": Mode.ZERO_PROMPT.value}), is_subscriber(principal)),
    )


async def _waits_for(
    connection: Connection, principal: Principal, video_id: str, *, wanted: ThumbnailOptions, now: datetime
) -> list[str]:
    """Pictures and headlines come out of the film, so both wait for its transcript."""
    transcript, source = await transcript_before(connection, principal, video_id)
    if wanted.languages:
        await check_translations(
            connection, wanted.languages, source=source, now=now, at="thumbnailTranslationLanguageCodes"
        )
    return [] if source is not None else [transcript.id]


def billed_works(plan: Mapping[str, Any]) -> tuple[Work, ...]:
    """A prompt has one price; what is drawn without one is priced by what goes into it."""
    if mode_of(plan) is Mode.PROMPT:
        return (Work(Action.PROMPT_THUMBNAIL, "thumbnail"),)
    wanted = parse_options(plan)
    bundle = ThumbnailWork(
        enabled=True,
        character_count=characters_billed(plan),
        translate_language_codes=list(wanted.languages),
        auto_detect_content_moments=wanted.detects_content,
    )
    return tuple(works_of(CreditBundle(zero_prompt_thumbnail=bundle)))


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


async def put_request(connection: Connection, library_id: str, job: NewJob, *, now: datetime) -> None:
    """Write a request down; a run that is begun again keeps nothing of the one before."""
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
class NewPicture:
    """A finished thumbnail to write down."""

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


async def put_pictures(
    connection: Connection, library_id: str, pictures: Sequence[NewPicture], *, now: datetime
) -> None:
    """Write thumbnails down, each in place of itself when a step is repeated."""
    for each in pictures:
        await connection.execute("DELETE FROM thumbnails WHERE library_id = $1 AND id = $2", library_id, each.id)
        row = {name: getattr(each, name) for name in NewPicture.__slots__}
        await insert(connection, "thumbnails", {**row, "library_id": library_id, "created_at": now})


async def put_detected(
    connection: Connection, library_id: str, request_id: str, detected: Sequence[Mapping[str, Any]]
) -> None:
    await connection.execute(
        "UPDATE thumbnail_requests SET detected = $3 WHERE library_id = $1 AND id = $2",
        library_id,
        request_id,
        [dict(each) for each in detected],
    )


async def detected_for(
    connection: Connection, library_id: str, request_id: str
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """What was found in the film, and what somebody decided about it."""
    row = await connection.fetchrow(
        "SELECT detected, decision FROM thumbnail_requests WHERE library_id = $1 AND id = $2", library_id, request_id
    )
    return ([], None) if row is None else (row["detected"] or [], row["decision"])


@dataclass(frozen=True, slots=True)
class Brand:
    """What a brand voice says about pictures and words."""

    guidelines: str | None = None
    colors: tuple[str, ...] = ()


async def brand_of(connection: Connection, library_id: str, brand_voice_id: str | None) -> Brand:
    row = await connection.fetchrow(
        "SELECT guidelines, colors FROM brand_voices WHERE library_id = $1 AND id = $2", library_id, brand_voice_id
    )
    return Brand() if row is None else Brand(row["guidelines"], tuple(row["colors"] or ()))


async def images_of(connection: Connection, library_id: str, character: CharacterRef) -> list[str]:
    """Where the pictures of a saved character lie: those that were named, or all."""
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


async def promote(connection: Connection, library_id: str, video_id: str, *, path: str) -> None:
    """Make a thumbnail the video's poster."""
    await connection.execute(
        "UPDATE videos SET poster_path = $3 WHERE library_id = $1 AND id = $2", library_id, video_id, path
    )
