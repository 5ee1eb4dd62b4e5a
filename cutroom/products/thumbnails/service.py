"""Creates and reads thumbnail requests, and stores detections and rendered images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.capabilities.service import check_languages, require_languages
from cutroom.credits.pricing import Action, BillableItem, PriceList, to_credits
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle, ThumbnailWork
from cutroom.credits.service import NOT_TRANSLATED, Qualities, billable_items, get_balance, is_subscriber
from cutroom.errors import invalid_field, invalid_fields, not_found
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.ids import AutomationType, JobKey, JobType
from cutroom.jobs.lifecycle import StartingJob
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.library.branding import require_brand_voice, require_character, require_character_images
from cutroom.library.originals import require_original
from cutroom.library.rules import video_path
from cutroom.library.schemas import Video
from cutroom.library.service import get_video
from cutroom.library.videos import restore_poster
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.thumbnails.rules import (
    MAX_LISTED,
    MAX_REFERENCES,
    NO_CHARACTERS,
    ThumbnailMode,
    ThumbnailOptions,
    billed_characters,
    find_faults,
    image_file_name,
    parse_options,
    resolve_mode,
)
from cutroom.products.thumbnails.schemas import (
    DetectionQueued,
    NewThumbnail,
    OutputImage,
    Status,
    ThumbnailCreated,
    ThumbnailRequest,
)
from cutroom.products.transcripts.service import require_transcript, transcript_language

REQUEST_ID = "request_id"  # key in a job's plan
TRANSLATION_LANGUAGES = "thumbnailTranslationLanguageCodes"

_REQUESTS = """SELECT r.id, r.job_id, j.status, v.title,
        (SELECT jsonb_agg(jsonb_build_object('id', t.id, 'path', t.path, 'number', t.number, 'language', t.language)
                          ORDER BY t.number)
           FROM thumbnails t WHERE t.library_id = r.library_id AND t.request_id = r.id) AS images
    FROM thumbnail_requests r JOIN jobs j ON j.library_id = r.library_id AND j.id = r.job_id
    JOIN videos v ON v.library_id = r.library_id AND v.id = r.video_id AND v.deleted_at IS NULL"""
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
    plan = body.model_dump(mode="json", by_alias=True, exclude={"reservation_id"})
    await get_video(connection, principal, video_id)
    options = await validate_plan(connection, principal, plan, at="")
    if options.detects:
        job = await zero_prompt_job(
            connection, principal, video_id, plan=plan, at="", reservation_id=body.reservation_id, now=now
        )
        [is_new] = await create_jobs(connection, principal, [job], prices=prices, now=now)
        if is_new:
            await store_request(connection, principal.library_id, job, now=now)
        return DetectionQueued(job_id=job.key.id, registered=is_new)
    request_id = new_id()
    job = NewJob(
        JobKey(JobType.THUMBNAIL, request_id),
        video_id,
        plan={**plan, REQUEST_ID: request_id},
        depends_on=await _check(
            connection, principal, video_id, languages=options.languages, field=TRANSLATION_LANGUAGES, now=now
        ),
        charge=Charge(items_for_plan(plan), is_subscriber(principal), reservation_id=body.reservation_id),
        needs_language=bool(options.languages),
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
            await require_character(connection, principal.library_id, character.character_id)
        if character.image_ids:
            await require_character_images(
                connection, principal.library_id, character.image_ids, character_id=character.character_id
            )
    return options


async def zero_prompt_job(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    plan: Mapping[str, Any],
    at: str,
    reservation_id: str | None,
    now: datetime,
) -> NewJob:
    """The packaging job that renders without a prompt; there is one per video."""
    plan = {**plan, "mode": ThumbnailMode.ZERO_PROMPT.value}
    languages, field = parse_options(plan).languages, f"{at}{TRANSLATION_LANGUAGES}"
    return NewJob(
        JobKey(JobType.PACKAGING, video_id, automation=AutomationType.THUMBNAIL),
        video_id,
        plan={**plan, REQUEST_ID: new_id()},
        depends_on=await _check(connection, principal, video_id, languages=languages, field=field, now=now),
        charge=Charge(items_for_plan(plan), is_subscriber(principal), reservation_id=reservation_id),
        needs_language=bool(languages),
    )


async def check_start(connection: Connection, job: StartingJob, now: datetime) -> None:
    """Ends a thumbnail uncharged if it cannot be translated from the language of the video."""
    languages = parse_options(job.plan).languages
    if languages:
        source = await transcript_language(connection, job.library_id, str(job.video_id))
        await check_languages(connection, languages, source=source, now=now)


async def check_bundle(
    connection: Connection, principal: Principal, video: Video, *, bundle: CreditBundle, now: datetime
) -> Qualities:
    """Refuses a thumbnail that cannot be created."""
    work = bundle.zero_prompt_thumbnail
    if work is None or not work.enabled:
        return NOT_TRANSLATED
    if work.auto_detect_content_moments and work.character_count:
        raise invalid_field("zeroPromptThumbnail.characterCount", NO_CHARACTERS)
    if len(work.reference_products) > MAX_REFERENCES:
        message = f"A thumbnail uses at most {MAX_REFERENCES} reference images."
        raise invalid_field("zeroPromptThumbnail.referenceProducts", message)
    languages, field = work.translate_language_codes, "zeroPromptThumbnail.translateLanguageCodes"
    await _check(connection, principal, video.id, languages=languages, field=field, now=now)
    return NOT_TRANSLATED  # a few words on a picture have no rate of their own


async def _check(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    languages: Sequence[str],
    field: str,
    now: datetime,
) -> list[str]:
    """Returns the jobs that a thumbnail depends on: its frames and headline need the transcript."""
    await require_original(connection, principal, video_id)
    transcript, source = await require_transcript(connection, principal, video_id)
    if languages:
        await require_languages(connection, languages, source=source, now=now, field=field)
    return [] if source is not None else [transcript.id]


def items_for_plan(plan: Mapping[str, Any]) -> tuple[BillableItem, ...]:
    """A thumbnail with a prompt has one price; without one its inputs set the price."""
    if resolve_mode(plan) is ThumbnailMode.PROMPT:
        return (BillableItem(Action.PROMPT_THUMBNAIL, "thumbnail"),)
    return tuple(billable_items(credit_bundle(plan)))


def credit_bundle(plan: Mapping[str, Any]) -> CreditBundle:
    """Returns the bundle that quotes, reserves and charges a thumbnail without a prompt."""
    options = parse_options(plan)
    work = ThumbnailWork(
        enabled=True,
        reference_products=options.references,
        character_count=billed_characters(plan),
        translate_language_codes=list(options.languages),
        auto_detect_content_moments=options.detects_content,
    )
    return CreditBundle(zero_prompt_thumbnail=work)


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
    return [_request(row, storage) for row in rows]


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
    return _request(row, storage)


def _request(row: asyncpg.Record, storage: Storage) -> ThumbnailRequest:
    images = [
        OutputImage(
            thumbnail_id=each["id"],
            url=storage.download_url(
                each["path"], image_file_name(row["title"], each["number"], language=each["language"])
            ),
            language=each["language"],
        )
        for each in row["images"] or []
    ]
    return ThumbnailRequest(
        id=row["id"],
        status=_STATUS[row["status"]],
        output_image_urls=[each.url for each in images],
        output_images=images,
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


async def find_request_id(connection: Connection, library_id: str, job_id: str) -> str | None:
    """Id of the thumbnail request that a job made."""
    found: str | None = await connection.fetchval(
        "SELECT id FROM thumbnail_requests WHERE library_id = $1 AND job_id = $2", library_id, job_id
    )
    return found


async def lock_reviewed_request(connection: Connection, library_id: str, job_id: str) -> asyncpg.Record | None:
    """Locks a job's thumbnail request, and returns it with the job's status, attempt and plan."""
    return await connection.fetchrow(
        """SELECT j.status, j.attempt, j.plan, r.id, r.detected, r.decision
           FROM jobs j JOIN thumbnail_requests r ON r.library_id = j.library_id AND r.job_id = j.id
           WHERE j.library_id = $1 AND j.id = $2 FOR UPDATE OF r""",
        library_id,
        job_id,
    )


async def save_decision(
    connection: Connection, library_id: str, request_id: str, *, decision: Mapping[str, Any]
) -> None:
    await connection.execute(
        "UPDATE thumbnail_requests SET decision = $3 WHERE library_id = $1 AND id = $2",
        library_id,
        request_id,
        dict(decision),
    )


async def discard(connection: Connection, job: EndedJob) -> None:
    """Removes the images and detections of an unfinished request, with the decision about them."""
    prefix, request_id = output_prefix(job), job.plan.get(REQUEST_ID)
    if prefix is None:
        return
    await connection.execute(
        "DELETE FROM thumbnails WHERE library_id = $1 AND request_id = $2", job.library_id, request_id
    )
    await connection.execute(
        "UPDATE thumbnail_requests SET detected = NULL, decision = NULL WHERE library_id = $1 AND id = $2",
        job.library_id,
        request_id,
    )
    await restore_poster(connection, job.library_id, str(job.video_id), replaced_under=prefix)


def output_prefix(job: EndedJob) -> str | None:
    """The prefix of a request's images; None for packaging jobs that write a text."""
    request_id = job.plan.get(REQUEST_ID)
    return image_path(job.library_id, str(job.video_id), request_id, "") if request_id is not None else None
