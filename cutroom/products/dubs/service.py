"""Asking for dubs, reading them, and writing down what is made."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import Action, PriceList, Work, credits_of
from cutroom.credits.rules import Bill
from cutroom.credits.service import balance_of, is_subscriber
from cutroom.engines.translation.routing import language_of
from cutroom.errors import Code, CutroomError, invalid_fields, not_found
from cutroom.jobs.ids import DubProduct, InternalJobType, JobKey, JobType, parse_job_id
from cutroom.jobs.service import NewJob, create_jobs, request_jobs
from cutroom.jobs.states import JobState
from cutroom.library.rules import video_path
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.captions.service import check_lines, check_translations
from cutroom.products.dubs.schemas import Dub, DubItem, DubJobs, NewDubs
from cutroom.products.speech.service import available_voices
from cutroom.products.transcripts.schemas import Segment, Speaker
from cutroom.products.transcripts.service import transcript_before

STAGES = frozenset({"translating", "synthesizing", "mixing"})
_STATES = {JobState.READY: "ready", JobState.FAILED: "failed"}
_JOBS = """SELECT j.id AS job_id, j.status AS job_status, j.stage, d.*
    FROM jobs j LEFT JOIN dubs d ON d.library_id = j.library_id AND d.video_id = j.video_id
        AND d.language = j.language AND d.product = j.product
    WHERE j.library_id = $1 AND j.video_id = $2 AND j.type = 'dub'"""


def dub_path(library_id: str, video_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"dubs/{name}")


async def ask_for_dubs(
    connection: Connection, principal: Principal, video_id: str, *, wanted: NewDubs, prices: PriceList, now: datetime
) -> DubJobs:
    """One job for each language, to begin once there is a transcript."""
    await get_video(connection, principal, video_id)
    transcript, source = await transcript_before(connection, principal, video_id)
    if wanted.source_voiceover == "optimized":
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message="There is no optimized voiceover of this video.",
            details={"reason": "no_optimized_transcript"},
        )
    check_lines(wanted.languages, wanted.reservation_line_item_id_by_language)
    await check_translations(connection, wanted.languages, source=source, now=now)
    await _check_voices(connection, wanted.languages, now=now)
    jobs = []
    for language in wanted.languages:
        line = wanted.reservation_line_item_id_by_language.get(language)
        bill = Bill(
            works=(Work(Action.DUB, wanted.product.value, language),),
            is_subscriber=is_subscriber(principal),
            reservation_id=wanted.reservation_id,
            line_ids=(line,) if line is not None else (),
        )
        key = JobKey(JobType.DUB, video_id, language=language, product=wanted.product)
        jobs.append(NewJob(key, video_id, depends_on=[] if source is not None else [transcript.id], bill=bill))
    asked = await request_jobs(connection, principal, jobs, prices=prices, now=now)
    left = await balance_of(connection, principal.library_id)
    return DubJobs(video_id=video_id, jobs=[job for job, _ in asked], balance=credits_of(left))


async def _check_voices(connection: Connection, languages: Sequence[str], *, now: datetime) -> None:
    there = sorted({row["language"] for row in await available_voices(connection, now=now)})
    spoken = {language_of(code) for code in there}
    missing = [at for at, language in enumerate(languages) if language_of(language) not in spoken]
    if missing:
        fault = invalid_fields([(f"languages.{at}", "No voice speaks this language.") for at in missing])
        fault.details["available"] = there
        raise fault


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
    await get_video(connection, principal, video_id)
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
        audio_url=await storage.read_url(path) if path is not None else None,
        audio_track_id=f"{language}-{product.value}" if ready else None,
        segments=[Segment(**{name: each[name] for name in Segment.model_fields}) for each in row["segments"] or []],
        speakers=[Speaker(**each) for each in row["speakers"] or []],
        sync=row["sync"] or None,
        job_id=key.id,
    )


def request_id(job_id: str) -> str:
    """The internal request's id follows from the job's, which follows from what is asked for."""
    return hashlib.sha256(job_id.encode()).hexdigest()[:26]


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


@dataclass(frozen=True, slots=True)
class LineChange:
    """Other words for one line of a dub."""

    video_id: str
    language: str
    product: DubProduct
    line: int
    text: str


async def change_line(
    connection: Connection, principal: Principal, change: LineChange, *, prices: PriceList, now: datetime
) -> str:
    """Put other words into a line of a dub that is complete, and make it again; the id of that work.

    Only that line is spoken anew: everything else is found again by its fingerprint.
    """
    changed = await connection.fetchval(
        """UPDATE dubs SET edits = edits || jsonb_build_object($5::text, $6::text), updated_at = $7
           WHERE library_id = $1 AND video_id = $2 AND language = $3 AND product = $4 AND completion = 'complete'
             AND jsonb_array_length(segments) > $8
           RETURNING true""",
        principal.library_id,
        change.video_id,
        change.language,
        change.product.value,
        str(change.line),
        change.text,
        now,
        change.line,
    )
    if changed is None:
        raise not_found()
    key = JobKey(InternalJobType.REDUB, new_id())
    plan = {"dubbed_video_id": change.video_id, "language": change.language, "product": change.product.value}
    await create_jobs(connection, principal, [NewJob(key, None, plan=plan)], prices=prices, now=now)
    return key.id


async def edits_of(
    connection: Connection, library_id: str, video_id: str, language: str, product: str
) -> dict[int, str]:
    """The words that people put in place of the translation, by line; the dub is written down if it is new."""
    edits = await connection.fetchval(
        """INSERT INTO dubs (library_id, video_id, language, product, completion, segments, speakers, edits, sync,
               updated_at)
           VALUES ($1, $2, $3, $4, 'pending', '[]', '[]', '{}', '{}', now())
           ON CONFLICT (library_id, video_id, language, product) DO UPDATE SET updated_at = excluded.updated_at
           RETURNING edits""",
        library_id,
        video_id,
        language,
        product,
    )
    return {int(line): text for line, text in edits.items()}


async def record(
    connection: Connection,
    library_id: str,
    video_id: str,
    *,
    language: str,
    product: str,
    found: Mapping[str, Any],
) -> None:
    """Write down what has come about; the names of columns are the caller's, who is one of us."""
    columns = ", ".join(f"{name} = ${at}" for at, name in enumerate(found, 5))
    await connection.execute(
        f"""UPDATE dubs SET {columns}
            WHERE library_id = $1 AND video_id = $2 AND language = $3 AND product = $4""",  # noqa: S608
        library_id,
        video_id,
        language,
        product,
        *found.values(),
    )
