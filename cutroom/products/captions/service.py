"""Requests captions and stores their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.capabilities.rules import REFUSES_DRAFTS
from cutroom.capabilities.service import check_languages, rate_translations, refuse_drafts, require_languages
from cutroom.credits.pricing import PriceList
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import CreditBundle
from cutroom.credits.service import Qualities, billable_items, is_subscriber
from cutroom.engines.translation.port import Quality
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.deletion import StoredObjects, being_made, delete_output, lock_output
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import StartingJob
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.library.schemas import Video
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.products.captions.editing.tracks import find_unfinished
from cutroom.products.captions.schemas import NewCaptions
from cutroom.products.transcripts.service import require_transcript, subtitle_paths, transcript_language


def credit_bundle(request: NewCaptions) -> CreditBundle:
    """Returns the bundle that quotes, reserves and charges this request."""
    return CreditBundle(caption_language_codes=request.languages, accept_draft=request.accept_draft)


async def check_bundle(
    connection: Connection, principal: Principal, video: Video, *, bundle: CreditBundle, now: datetime
) -> Qualities:
    """Refuses captions that cannot be created."""
    found = await _check(connection, principal, video.id, bundle=bundle, field="captionLanguageCodes", now=now)
    return found.qualities


@dataclass(frozen=True, slots=True)
class Translatable:
    """What can be translated: the jobs that have to finish first, and the class of each language."""

    depends_on: list[str]
    qualities: Qualities


async def _check(
    connection: Connection, principal: Principal, video_id: str, *, bundle: CreditBundle, field: str, now: datetime
) -> Translatable:
    """Raises if the captions cannot be made."""
    languages = bundle.caption_language_codes
    if not languages:
        return Translatable([], {})
    transcript, source = await require_transcript(connection, principal, video_id)
    await require_languages(connection, languages, source=source, now=now, field=field)
    qualities = await rate_translations(connection, languages, source=source, now=now)
    if is_refusing(principal, accept_draft=bundle.accept_draft):
        refuse_drafts(qualities)
    return Translatable([] if source is not None else [transcript.id], qualities)


def is_refusing(principal: Principal, *, accept_draft: bool) -> bool:
    """Whether a request refuses drafts. Jobs whose language is unknown yet remember it in their plan."""
    return principal.refuses_drafts and not accept_draft


async def check_start(connection: Connection, job: StartingJob, now: datetime) -> None:
    """Ends captions uncharged if the language of the video, unknown when they were requested, makes them impossible."""
    if job.plan.get("is_translated") is False:  # a regeneration that only takes over times
        return
    source = await transcript_language(connection, job.library_id, str(job.video_id))
    await check_languages(connection, [str(job.key.language)], source=source, now=now)
    await check_draft(connection, job, source=source, now=now)


async def check_draft(connection: Connection, job: StartingJob, *, source: str | None, now: datetime) -> None:
    """Raises FAILED_PRECONDITION if the translation would be a draft and the job was requested without any."""
    if job.plan.get(REFUSES_DRAFTS):
        refuse_drafts(await rate_translations(connection, [str(job.key.language)], source=source, now=now))


async def request_captions(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    request: NewCaptions,
    prices: PriceList,
    now: datetime,
) -> list[Job]:
    """Create one job per language; each starts when the transcript is ready."""
    await get_video(connection, principal, video_id)
    check_line_items(request.languages, request.reservation_line_item_id_by_language)
    bundle = credit_bundle(request)
    found = await _check(connection, principal, video_id, bundle=bundle, field="languages", now=now)
    refuses_drafts = is_refusing(principal, accept_draft=request.accept_draft)
    jobs = []
    for language, item in zip(request.languages, billable_items(bundle, found.qualities), strict=True):
        line = request.reservation_line_item_id_by_language.get(language)
        charge = Charge(
            items=(item,),
            is_subscriber=is_subscriber(principal),
            reservation_id=request.reservation_id,
            line_ids=(line,) if line is not None else (),
        )
        key = JobKey(JobType.CAPTIONS, video_id, language=language)
        plan = {"language": language, REFUSES_DRAFTS: refuses_drafts}
        jobs.append(NewJob(key, video_id, plan=plan, depends_on=found.depends_on, charge=charge, needs_language=True))
    return [job for job, _ in await request_jobs(connection, principal, jobs, prices=prices, now=now)]


def check_line_items(languages: Sequence[str], line_items: Mapping[str, str]) -> None:
    """Reject reservation line items for languages that are not in the request."""
    unexpected = set(line_items) - set(languages)
    if unexpected:
        raise CutroomError(
            Code.CONFLICT,
            message="The reservation cannot pay for this.",
            details={
                "reason": "a line item is given for a language that is not in the request",
                "languages": sorted(unexpected),
            },
        )


async def save_captions(
    connection: Connection,
    library_id: str,
    video_id: str,
    *,
    language: str,
    segments: Sequence[Mapping[str, Any]],
    quality: Quality,
    now: datetime,
) -> None:
    await connection.execute(
        """INSERT INTO captions (library_id, video_id, language, segments, quality, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (library_id, video_id, language) DO UPDATE
               SET segments = excluded.segments, quality = excluded.quality, created_at = excluded.created_at,
                   revision = captions.revision + 1, published_revision = captions.revision + 1, published_at = NULL,
                   previous = '[]', regenerated = NULL""",
        library_id,
        video_id,
        language,
        list(segments),
        quality.value,
        now,
    )


async def list_caption_languages(connection: Connection, library_id: str, video_id: str) -> list[str]:
    """The languages of the finished translated captions of a video."""
    rows = await connection.fetch(
        """SELECT c.language FROM captions c JOIN jobs j
               ON j.library_id = c.library_id AND j.id = 'captions_' || c.video_id || '_' || c.language
            WHERE c.library_id = $1 AND c.video_id = $2 AND j.status = 'ready' AND j.output_deleted_at IS NULL
            ORDER BY c.language""",
        library_id,
        video_id,
    )
    return [row["language"] for row in rows]


async def discard(connection: Connection, job: EndedJob) -> None:
    """Removes captions that were stored, but whose job has not become ready. A regeneration has changed nothing."""
    if job.key.revision is not None:
        return
    await connection.execute(
        "DELETE FROM captions WHERE library_id = $1 AND video_id = $2 AND language = $3",
        job.library_id,
        job.video_id,
        job.key.language,
    )


async def delete_captions(
    connection: Connection, principal: Principal, video_id: str, *, language: str, now: datetime
) -> None:
    """Delete the captions of one language and their subtitle files."""
    await get_video(connection, principal, video_id)
    job = await lock_output(connection, principal.library_id, JobKey(JobType.CAPTIONS, video_id, language=language))
    if job is None:
        raise not_found()
    await discard(connection, job)
    # After the row is locked, so that no regeneration can follow.
    if (running := await find_unfinished(connection, job.library_id, video_id, language)) is not None:
        raise being_made(running, "processing")
    spoken = await transcript_language(connection, job.library_id, video_id)
    paths = subtitle_paths(job.library_id, video_id, language=language) if language != spoken else ()
    await delete_output(connection, job, objects=StoredObjects(paths=paths), now=now)
