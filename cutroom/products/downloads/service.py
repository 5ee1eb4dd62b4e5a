"""Asking for downloads and reading them."""

from datetime import datetime
from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.jobs.states import JobState
from cutroom.library.rules import video_path
from cutroom.library.schemas import Video
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.downloads.rules import Artifact, DubState, Ground, Tier, cap_of, ground_of, select, tier_of
from cutroom.products.downloads.schemas import Download, DownloadAsked, NewDownload
from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE

# In a job's result.
PATH, FILE_NAME = "storagePath", "fileName"


def made_path(library_id: str, video_id: str, request_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"downloads/{request_id}/{name}")


async def ask_for_download(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    wanted: NewDownload,
    prices: PriceList,
    now: datetime,
) -> DownloadAsked:
    """One job, which waits for what it needs; it costs nothing."""
    video = await get_video(connection, principal, video_id)
    if wanted.artifact is Artifact.LANGUAGE_VIDEO and wanted.language is None:
        raise invalid_field("language", "A language video needs a language.")
    tier = tier_of(principal.plan.download, suspended=principal.suspended)
    if tier is None:
        raise CutroomError(Code.DOWNLOAD_TIER_NONE)
    depends_on = _import_before(video)
    if wanted.artifact is Artifact.LANGUAGE_VIDEO:
        depends_on += await _language_before(connection, principal.library_id, video, str(wanted.language))
    language = wanted.language or video.default_language_code or UNKNOWN_LANGUAGE
    plan = {"artifact": wanted.artifact.value, "language": language, "tier": tier.value}
    key = JobKey(JobType.DOWNLOAD, new_id())
    job = NewJob(key, video_id, plan=plan, depends_on=depends_on)
    ((made, _),) = await request_jobs(connection, principal, [job], prices=prices, now=now)
    return DownloadAsked(
        download_request_id=key.subject,
        job_id=key.id,
        artifact=wanted.artifact,
        language=language,
        tier=tier,
        status=made.status,
    )


def _import_before(video: Video) -> list[str]:
    """The import is waited for; one that failed is no ground."""
    job_id = JobKey(JobType.IMPORT, video.id).id
    status = video.import_.status if video.import_ is not None else "ready"
    if status == "failed":
        raise CutroomError(Code.FAILED_PRECONDITION, details={"jobId": job_id})
    return [] if status == "ready" else [job_id]


async def _language_before(connection: Connection, library_id: str, video: Video, language: str) -> list[str]:
    """What a language video waits for: nothing, a dub that is being made, or to know which language is spoken."""
    if language == video.default_language_code:
        return []
    dub = await selected_dub(connection, library_id, video.id, language=language)
    if dub is None:
        known = video.transcript is None or video.transcript.status in {"ready", "failed"}
        if known:
            raise not_found()
        return [JobKey(JobType.TRANSCRIPT, video.id).id]
    if dub.ground is Ground.PREVIEW:
        raise CutroomError(Code.PREVIEW_NOT_DOWNLOADABLE, details={"jobId": dub.job_id})
    if dub.ground is Ground.FAILED:
        raise CutroomError(Code.FAILED_PRECONDITION, details={"jobId": dub.job_id})
    return [] if dub.ground is Ground.COMPLETE else [dub.job_id]


async def selected_dub(connection: Connection, library_id: str, video_id: str, *, language: str) -> DubState | None:
    rows = await connection.fetch(
        """SELECT j.id, j.status, j.product, d.completion, d.audio_path
           FROM jobs j LEFT JOIN dubs d ON d.library_id = j.library_id AND d.video_id = j.video_id
               AND d.language = j.language AND d.product = j.product
           WHERE j.library_id = $1 AND j.video_id = $2 AND j.type = 'dub' AND j.language = $3""",
        library_id,
        video_id,
        language,
    )
    return select(
        [
            DubState(row["id"], row["product"], ground_of(row["status"], row["completion"]), row["audio_path"])
            for row in rows
        ]
    )


async def get_download(connection: Connection, principal: Principal, request_id: str, *, storage: Storage) -> Download:
    """A download as it stands; a failure is an answer like any other."""
    key = JobKey(JobType.DOWNLOAD, request_id)
    row = None
    if is_id(request_id):
        row = await connection.fetchrow(
            """SELECT status, plan, result, error_code, error_message, error_details FROM jobs
               WHERE library_id = $1 AND id = $2""",
            principal.library_id,
            key.id,
        )
    if row is None:
        raise not_found()
    tier = Tier(row["plan"]["tier"])
    url, error = None, None
    if row["status"] == JobState.READY:
        url = storage.download_url(row["result"][PATH], row["result"][FILE_NAME])
    if row["status"] == JobState.FAILED:
        error = _error(row["error_code"], row["error_message"], row["error_details"])
    return Download(
        id=request_id,
        status=JobState(row["status"]),
        tier=tier,
        truncated=tier is Tier.SAMPLE,
        max_duration_seconds=cap_of(tier),
        url=url,
        error=error,
        job_id=key.id,
    )


def _error(code: str, message: str, details: dict[str, Any] | None) -> dict[str, Any]:
    return {"code": code, "message": message, "details": details or {}}
