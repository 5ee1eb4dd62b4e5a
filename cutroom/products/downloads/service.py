"""Creates and reads downloads."""

from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.deletion import StoredObjects, delete_output, lock_output
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.jobs.states import JobState
from cutroom.library.originals import original_deleted, require_original
from cutroom.library.rules import source_path, video_path
from cutroom.library.schemas import Video
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.downloads.rules import (
    DOWNLOAD_LIFETIME,
    Artifact,
    DubCandidate,
    DubReadiness,
    Tier,
    download_tier,
    dub_readiness,
    max_duration,
    select_dub,
)
from cutroom.products.downloads.schemas import Download, DownloadAsked, NewDownload
from cutroom.products.transcripts.cutting.timelines import require_cut
from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE

# Keys of a job result.
EXPIRED = "The prepared file has been deleted. Request the download again."
PATH, FILE_NAME = "storagePath", "fileName"


def download_path(library_id: str, video_id: str, request_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"downloads/{request_id}/{name}")


async def create_download(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    request: NewDownload,
    prices: PriceList,
    now: datetime,
) -> DownloadAsked:
    """Creates a free job that depends on whatever is not ready yet."""
    video = await get_video(connection, principal, video_id)
    if request.artifact is Artifact.LANGUAGE_VIDEO and request.language is None:
        raise invalid_field("language", "A language video requires a language.")
    if request.artifact is not Artifact.BUNDLE:
        await require_original(connection, principal, video_id)
        if request.artifact is Artifact.LANGUAGE_VIDEO and not request.uncut:
            await require_cut(connection, principal.library_id, video_id)
    tier = download_tier(principal.plan.download, suspended=principal.suspended)
    if tier is None:
        raise CutroomError(Code.DOWNLOAD_TIER_NONE)
    depends_on = _import_dependency(video)
    if request.artifact is Artifact.LANGUAGE_VIDEO:
        depends_on += await _language_dependency(connection, principal.library_id, video, str(request.language))
    language = request.language or video.default_language_code or UNKNOWN_LANGUAGE
    plan = {"artifact": request.artifact.value, "language": language, "tier": tier.value, "uncut": request.uncut}
    key = JobKey(JobType.DOWNLOAD, new_id())
    job = NewJob(key, video_id, plan=plan, depends_on=depends_on)
    ((created, _),) = await request_jobs(connection, principal, [job], prices=prices, now=now)
    return DownloadAsked(
        download_request_id=key.subject,
        job_id=key.id,
        artifact=request.artifact,
        language=language,
        tier=tier,
        status=created.status,
    )


def _import_dependency(video: Video) -> list[str]:
    """The import job, unless it is complete; raises if it failed."""
    job_id = JobKey(JobType.IMPORT, video.id).id
    status = video.import_.status if video.import_ is not None else "ready"
    if status == "failed":
        raise CutroomError(Code.FAILED_PRECONDITION, details={"jobId": job_id})
    return [] if status == "ready" else [job_id]


async def _language_dependency(connection: Connection, library_id: str, video: Video, language: str) -> list[str]:
    """What a language video depends on: nothing, a dub in progress, or language detection."""
    if language == video.default_language_code:
        return []
    dub = await find_dub(connection, library_id, video.id, language=language)
    if dub is None:
        language_is_known = video.transcript is None or video.transcript.status in {"ready", "failed"}
        if language_is_known:
            raise not_found()
        return [JobKey(JobType.TRANSCRIPT, video.id).id]
    if dub.readiness is DubReadiness.PREVIEW:
        raise CutroomError(Code.PREVIEW_NOT_DOWNLOADABLE, details={"jobId": dub.job_id})
    if dub.readiness is DubReadiness.FAILED:
        raise CutroomError(Code.FAILED_PRECONDITION, details={"jobId": dub.job_id})
    return [] if dub.readiness is DubReadiness.COMPLETE else [dub.job_id]


async def find_dub(connection: Connection, library_id: str, video_id: str, *, language: str) -> DubCandidate | None:
    rows = await connection.fetch(
        """SELECT j.id, j.status, j.product, d.completion, d.audio_path
           FROM jobs j LEFT JOIN published_dubs d ON d.library_id = j.library_id AND d.video_id = j.video_id
               AND d.language = j.language AND d.product = j.product
           WHERE j.library_id = $1 AND j.video_id = $2 AND j.type = 'dub' AND j.language = $3
               AND j.output_deleted_at IS NULL""",
        library_id,
        video_id,
        language,
    )
    return select_dub(
        [
            DubCandidate(row["id"], row["product"], dub_readiness(row["status"], row["completion"]), row["audio_path"])
            for row in rows
        ]
    )


async def get_download(
    connection: Connection, principal: Principal, request_id: str, *, storage: Storage, now: datetime
) -> Download:
    """The current state of a download; failures are returned, not raised."""
    key = JobKey(JobType.DOWNLOAD, request_id)
    row = None
    if is_id(request_id):
        row = await connection.fetchrow(
            """SELECT j.status, j.plan, j.result, j.error_code, j.error_message, j.error_details, j.finished_at,
                   j.video_id, v.original_deleted_at
               FROM jobs j JOIN videos v ON v.library_id = j.library_id AND v.id = j.video_id
               WHERE j.library_id = $1 AND j.id = $2 AND j.output_deleted_at IS NULL AND v.deleted_at IS NULL""",
            principal.library_id,
            key.id,
        )
    if row is None:
        raise not_found()
    tier = Tier(row["plan"]["tier"])
    status, url, error = JobState(row["status"]), None, None
    if status is JobState.READY and (loss := _loss(row, principal.library_id, now=now)) is not None:
        status, error = JobState.FAILED, _error(loss.code, loss.message, loss.details)
    elif status is JobState.READY:
        url = storage.download_url(row["result"][PATH], row["result"][FILE_NAME])
    if row["status"] == JobState.FAILED:
        error = _error(row["error_code"], row["error_message"], row["error_details"])
    return Download(
        id=request_id,
        status=status,
        tier=tier,
        truncated=tier is Tier.SAMPLE,
        max_duration_seconds=max_duration(tier),
        url=url,
        error=error,
        job_id=key.id,
    )


def _loss(row: asyncpg.Record, library_id: str, *, now: datetime) -> CutroomError | None:
    """Why the prepared file is no longer there: it has been swept, or the original that it was has been deleted."""
    if row["result"][PATH] == source_path(library_id, row["video_id"]):
        return original_deleted(row["original_deleted_at"]) if row["original_deleted_at"] is not None else None
    if row["finished_at"] < now - DOWNLOAD_LIFETIME:
        return CutroomError(Code.FAILED_PRECONDITION, message=EXPIRED, details={"reason": "expired"})
    return None


def _error(code: str, message: str, details: dict[str, Any] | None) -> dict[str, Any]:
    return {"code": code, "message": message, "details": details or {}}


def output_prefix(job: EndedJob) -> str:
    return download_path(job.library_id, str(job.video_id), job.key.subject, "")


async def delete_download(
    connection: Connection, principal: Principal, request_id: str, *, now: datetime
) -> dict[str, Any]:
    """Delete a prepared file, and return what it was. The original file, which a download may point to, stays."""
    key = JobKey(JobType.DOWNLOAD, request_id)
    job = await lock_output(connection, principal.library_id, key) if is_id(request_id) else None
    if job is None:
        raise not_found()
    await delete_output(connection, job, objects=StoredObjects(prefixes=(output_prefix(job),)), now=now)
    return {name: job.plan[name] for name in ("artifact", "language")}
