"""Requests and reads dubs, and stores their results."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.capabilities.rules import REFUSES_DRAFTS
from cutroom.capabilities.service import check_languages, rate_translations, refuse_drafts, require_languages
from cutroom.credits.pricing import PriceList, to_credits
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle, DubWork
from cutroom.credits.service import Qualities, billable_items, get_balance, is_subscriber
from cutroom.engines.translation.port import Quality
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.glossary.schemas import BrokenTermItem
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.deletion import record_deleted_outputs
from cutroom.jobs.ids import DubProduct, JobKey, JobType, parse_job_id
from cutroom.jobs.lifecycle import StartingJob
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.jobs.states import JobState
from cutroom.library.originals import require_original
from cutroom.library.rules import video_path
from cutroom.library.schemas import Video
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.captions.editing.current_texts import languages_without_captions
from cutroom.products.captions.service import Translatable, check_draft, check_line_items, is_refusing
from cutroom.products.dubs.schemas import Dub, DubItem, DubJobs, NewDubs
from cutroom.products.dubs.sources.options import DubTextOptions
from cutroom.products.transcripts.optimizing.stored_scripts import has_script
from cutroom.products.transcripts.schemas import Segment, Speaker
from cutroom.products.transcripts.service import require_transcript, transcript_language
from cutroom.text.file_names import file_name

STAGES = frozenset({"translating", "synthesizing", "mixing"})
_STATES = {JobState.READY: "ready", JobState.FAILED: "failed"}
_JOBS = """SELECT j.id AS job_id, j.status AS job_status, j.stage, j.result ->> 'quality' AS quality, d.completion,
        d.audio_path, d.preview_path, d.segments, d.speakers, d.sync, d.broken_terms
    FROM jobs j LEFT JOIN dubs d ON d.library_id = j.library_id AND d.video_id = j.video_id
        AND d.language = j.language AND d.product = j.product
    WHERE j.library_id = $1 AND j.video_id = $2 AND j.type = 'dub' AND j.output_deleted_at IS NULL"""


def dub_path(library_id: str, video_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"dubs/{name}")


def credit_bundle(request: NewDubs) -> CreditBundle:
    """Returns the bundle that quotes, reserves and charges this request."""
    work = DubWork(
        product=request.product.value, languages=request.languages, source_voiceover=request.source_voiceover
    )
    return CreditBundle(dubs=[work], accept_draft=request.accept_draft)


async def check_bundle(
    connection: Connection, principal: Principal, video: Video, *, bundle: CreditBundle, now: datetime
) -> Qualities:
    """Refuses dubs that cannot be created."""
    qualities: dict[str, Quality] = {}
    refuses_drafts = is_refusing(principal, accept_draft=bundle.accept_draft)
    for number, work in enumerate(bundle.dubs):
        field = f"dubs.{number}.languages"
        found = await _check(
            connection, principal, video.id, work=work, refuses_drafts=refuses_drafts, field=field, now=now
        )
        qualities |= found.qualities
    return qualities


async def _check(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    work: DubWork,
    refuses_drafts: bool,
    field: str,
    now: datetime,
) -> Translatable:
    """Raises if the dubs cannot be made."""
    await require_original(connection, principal, video_id)
    transcript, source = await require_transcript(connection, principal, video_id)
    is_optimized = work.source_voiceover == "optimized"
    if is_optimized and not await has_script(connection, principal.library_id, video_id):
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message="This video has no optimized voiceover.",
            details={"reason": "no_optimized_transcript"},
        )
    await require_languages(connection, work.languages, source=source, now=now, field=field, spoken=True)
    qualities = await rate_translations(connection, work.languages, source=source, now=now)
    if refuses_drafts:
        refuse_drafts(qualities)
    return Translatable([] if source is not None else [transcript.id], qualities)


async def check_start(connection: Connection, job: StartingJob, now: datetime) -> None:
    """Ends a dub uncharged if the language of the video, not known when it was requested, makes it impossible."""
    source = await transcript_language(connection, job.library_id, str(job.video_id))
    await check_languages(connection, [str(job.key.language)], source=source, now=now, spoken=True)
    await check_draft(connection, job, source=source, now=now)


async def request_dubs(
    connection: Connection, principal: Principal, video_id: str, *, request: NewDubs, prices: PriceList, now: datetime
) -> DubJobs:
    """Create one job per language; each starts when the transcript is ready."""
    await get_video(connection, principal, video_id)
    check_line_items(request.languages, request.reservation_line_item_id_by_language)
    bundle = credit_bundle(request)
    refuses_drafts = is_refusing(principal, accept_draft=request.accept_draft)
    found = await _check(
        connection,
        principal,
        video_id,
        work=bundle.dubs[0],
        refuses_drafts=refuses_drafts,
        field="languages",
        now=now,
    )
    options = DubTextOptions(request.translation_source, request.source_voiceover)
    if options.uses_captions:
        if options.uses_script:
            message = "Captions translate the original, not the optimized script."
            raise invalid_field("translationSource", message)
        await _require_captions(connection, principal.library_id, video_id, request.languages)
    plan = {REFUSES_DRAFTS: refuses_drafts, **options.to_plan()}
    jobs = []
    for language, item in zip(request.languages, billable_items(bundle, found.qualities), strict=True):
        line = request.reservation_line_item_id_by_language.get(language)
        charge = Charge(
            items=(item,),
            is_subscriber=is_subscriber(principal),
            reservation_id=request.reservation_id,
            line_ids=(line,) if line is not None else (),
        )
        key = JobKey(JobType.DUB, video_id, language=language, product=request.product)
        jobs.append(NewJob(key, video_id, plan=plan, depends_on=found.depends_on, charge=charge, needs_language=True))
    requested = await request_jobs(connection, principal, jobs, prices=prices, now=now)
    balance = await get_balance(connection, principal.library_id)
    return DubJobs(video_id=video_id, jobs=[job for job, _ in requested], balance=to_credits(balance))


async def _require_captions(connection: Connection, library_id: str, video_id: str, languages: Sequence[str]) -> None:
    """Raises FAILED_PRECONDITION if there are no finished captions to speak."""
    if missing := await languages_without_captions(connection, library_id, video_id, languages):
        message = "This video has no finished captions in some of these languages."
        details = {"reason": "no_captions", "languages": missing}
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)


async def list_dubs(connection: Connection, principal: Principal, video_id: str) -> list[DubItem]:
    await get_video(connection, principal, video_id)
    rows = await connection.fetch(f"{_JOBS} ORDER BY j.created_at DESC, j.id", principal.library_id, video_id)
    return [
        DubItem(
            id=request_id(row["job_id"]),
            language=_language(row),
            product=_product(row),
            status=_stored_status(row),
            completion=row["completion"] or "pending",
            quality=_quality(row),
            job_id=row["job_id"],
        )
        for row in rows
    ]


async def get_dub(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    language: str,
    product: DubProduct,
    storage: Storage,
) -> Dub:
    video = await get_video(connection, principal, video_id)
    key = JobKey(JobType.DUB, video_id, language=language, product=product)
    row = await connection.fetchrow(f"{_JOBS} AND j.id = $3", principal.library_id, video_id, key.id)
    if row is None:
        raise not_found()
    ready = row["job_status"] == JobState.READY
    path = row["audio_path"] if ready else row["preview_path"]
    if row["job_status"] == JobState.FAILED:
        path = None
    return Dub(
        status=_STATES.get(row["job_status"], "processing"),
        user_video_id=video_id,
        language_code=language,
        dubbing_request_id=request_id(key.id),
        dubbing_status=_stored_status(row),
        completion_status=row["completion"] or "pending",
        quality=_quality(row),
        audio_url=storage.download_url(path, _file_name(video.title, language, product=product, ready=ready))
        if path is not None
        else None,
        audio_track_id=f"{language}-{product.value}" if ready else None,
        segments=[Segment(**{name: each[name] for name in Segment.model_fields}) for each in row["segments"] or []],
        speakers=[Speaker(**each) for each in row["speakers"] or []],
        sync=row["sync"] or None,
        broken_terms=[BrokenTermItem(**each) for each in row["broken_terms"] or []] or None,
        job_id=key.id,
    )


def _file_name(title: str | None, language: str, *, product: DubProduct, ready: bool) -> str:
    """`launch-pt.m4a`; other voices and previews are labeled, because one language can have several."""
    labels = [product.value] if product is not DubProduct.PLUS else []
    return file_name(title, language, *labels, *([] if ready else ["preview"]), extension="m4a")


def request_id(job_id: str) -> str:
    """A deterministic id for the dubbing request, derived from the job id."""
    return hashlib.sha256(job_id.encode()).hexdigest()[:26]


def _quality(row: asyncpg.Record) -> Quality | None:
    return Quality(row["quality"]) if row["quality"] is not None else None


def _language(row: asyncpg.Record) -> str:
    key = parse_job_id(row["job_id"])
    assert key is not None
    return str(key.language)


def _product(row: asyncpg.Record) -> str:
    key = parse_job_id(row["job_id"])
    assert key is not None
    return str(key.product)


def _stored_status(row: asyncpg.Record) -> str:
    if row["job_status"] == JobState.READY:
        return "complete"
    if row["job_status"] == JobState.FAILED:
        return "failed"
    return row["stage"] if row["stage"] in STAGES else "queued"


async def open_dub(connection: Connection, library_id: str, video_id: str, language: str, product: str) -> None:
    """Create the row of a dub that is being made, unless there is one."""
    await connection.execute(
        """INSERT INTO dubs (library_id, video_id, language, product, completion, segments, speakers, edits, sync,
               updated_at)
           VALUES ($1, $2, $3, $4, 'pending', '[]', '[]', '{}', '{}', now())
           ON CONFLICT (library_id, video_id, language, product) DO UPDATE SET updated_at = excluded.updated_at""",
        library_id,
        video_id,
        language,
        product,
    )


async def update_dub(
    connection: Connection,
    library_id: str,
    video_id: str,
    *,
    language: str,
    product: str,
    columns: Mapping[str, Any],
) -> None:
    """Set columns of a dub; column names are interpolated and must never come from a request."""
    assignments = ", ".join(f"{name} = ${number}" for number, name in enumerate(columns, 5))
    await connection.execute(
        f"""UPDATE dubs SET {assignments}
            WHERE library_id = $1 AND video_id = $2 AND language = $3 AND product = $4""",  # noqa: S608
        library_id,
        video_id,
        language,
        product,
        *columns.values(),
    )


async def discard(connection: Connection, job: EndedJob) -> None:
    """Removes the preview of an unfinished dub; its artifacts stay for the next attempt."""
    await connection.execute(
        "DELETE FROM dubs WHERE library_id = $1 AND video_id = $2 AND language = $3 AND product = $4",
        job.library_id,
        job.video_id,
        job.key.language,
        str(job.key.product),
    )


async def delete_outputs(connection: Connection, library_id: str, video_id: str, now: datetime) -> None:
    """Deletes the dubs of a video, which can then be requested again."""
    await record_deleted_outputs(connection, library_id, video_id, job_type=JobType.DUB, now=now)
    await connection.execute("DELETE FROM dubs WHERE library_id = $1 AND video_id = $2", library_id, video_id)
