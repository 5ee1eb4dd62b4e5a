"""Putting videos in: reserving them, staging their jobs, handing out upload sessions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.credits.service import is_subscriber
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import AutomationType, JobKey, JobType
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.library.rules import video_path
from cutroom.library.service import get_folder, get_video
from cutroom.media.probe import MediaInfo
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.products.ingest.recipes import recipe_jobs, thumbnail_plan
from cutroom.products.ingest.rules import MediaKind, SourceType, lane_of, source_fingerprint
from cutroom.products.ingest.schemas import (
    CreatedVideo,
    NewVideo,
    Recipes,
    UploadInstructions,
    UploadSource,
    UrlSource,
)
from cutroom.products.thumbnails import service as thumbnails

URL_PURPOSE = "source-url"


def source_path(library_id: str, video_id: str) -> str:
    return video_path(library_id, video_id, "source")


def upload_prerequisite(video_id: str) -> str:
    """What the import of an upload waits for."""
    return f"upload_{video_id}"


async def create_video(
    connection: Connection,
    principal: Principal,
    wanted: NewVideo,
    *,
    secret_box: SecretBox,
    prices: PriceList,
    now: datetime,
) -> CreatedVideo:
    """Reserve a video and stage its import, its transcript and its recipes."""
    if wanted.workspace_id is not None and wanted.workspace_id != principal.workspace_id:
        raise CutroomError(Code.PERMISSION_DENIED)
    if wanted.folder_id is not None:
        await get_folder(connection, principal, wanted.folder_id)
    drawn = thumbnail_plan(wanted.products.packaging if wanted.products is not None else None)
    if drawn is not None:
        await thumbnails.validate_plan(connection, principal, drawn, at="products.packaging.thumbnail.")
    video_id = new_id()
    await _put_source(connection, principal, wanted.source, video_id=video_id, secret_box=secret_box, now=now)
    await _put_video(connection, principal, wanted, video_id=video_id, now=now)
    is_upload = isinstance(wanted.source, UploadSource)
    staged = _stage(principal, video_id, recipes=wanted.products, is_upload=is_upload)
    jobs = [job for job, _ in await request_jobs(connection, principal, staged, prices=prices, now=now)]
    for job in staged:
        if job.key.automation is AutomationType.THUMBNAIL:
            await thumbnails.store_request(connection, principal.library_id, job, now=now)
    upload = None
    if is_upload:
        path = source_path(principal.library_id, video_id)
        upload = UploadInstructions(storage_path=path, session_path=f"/videos/{video_id}/uploads")
    video = await get_video(connection, principal, video_id)
    return CreatedVideo(video_id=video_id, status="queued", video=video, upload=upload, jobs=jobs)


async def _put_source(
    connection: Connection,
    principal: Principal,
    source: UrlSource | UploadSource,
    *,
    video_id: str,
    secret_box: SecretBox,
    now: datetime,
) -> None:
    row: dict[str, Any] = {
        "library_id": principal.library_id,
        "video_id": video_id,
        "type": source.type.value,
        "storage_path": source_path(principal.library_id, video_id),
        "created_at": now,
    }
    if isinstance(source, UploadSource):
        row |= {"file_name": source.file_name, "content_type": source.content_type}
        await insert(connection, "sources", row)
        return
    fingerprint = source_fingerprint(source.type, source.url)
    row |= {
        "fingerprint": fingerprint,
        "sealed_url": secret_box.seal(URL_PURPOSE, source.url.encode(), context=video_id),
    }
    await _retire_failed(connection, principal.library_id, fingerprint)
    try:
        async with connection.transaction():
            await insert(connection, "sources", row)
    except asyncpg.UniqueViolationError as error:
        existing = await connection.fetchval(
            "SELECT video_id FROM sources WHERE library_id = $1 AND fingerprint = $2 AND is_live",
            principal.library_id,
            fingerprint,
        )
        raise CutroomError(Code.ALREADY_EXISTS, details={"videoId": existing}) from error


async def _retire_failed(connection: Connection, library_id: str, fingerprint: str) -> None:
    """A source whose import failed stands in nobody's way."""
    await connection.execute(
        """UPDATE sources s SET is_live = false FROM videos v
           WHERE s.library_id = $1 AND s.fingerprint = $2 AND s.is_live
             AND v.library_id = s.library_id AND v.id = s.video_id AND v.import_status = 'failed'""",
        library_id,
        fingerprint,
    )


async def _put_video(
    connection: Connection, principal: Principal, wanted: NewVideo, *, video_id: str, now: datetime
) -> None:
    source = wanted.source
    audio = isinstance(source, UploadSource) and lane_of(source.content_type) is MediaKind.AUDIO
    row = {
        "library_id": principal.library_id,
        "id": video_id,
        "status": "queued",
        "title": source.file_name if isinstance(source, UploadSource) else None,
        "provider": source.type.value,
        "media_type": "audio" if audio else None,
        "folder_ids": [wanted.folder_id] if wanted.folder_id else [],
        "import_status": "queued",
        "transcript_status": "queued",
        "created_at": now,
    }
    await insert(connection, "videos", row)


def _stage(principal: Principal, video_id: str, *, recipes: Recipes | None, is_upload: bool) -> list[NewJob]:
    """The import, then the transcript after it, then everything that needs the transcript."""
    import_key = JobKey(JobType.IMPORT, video_id)
    transcript_key = JobKey(JobType.TRANSCRIPT, video_id)
    return [
        NewJob(import_key, video_id, depends_on=[upload_prerequisite(video_id)] if is_upload else []),
        NewJob(transcript_key, video_id, depends_on=[import_key.id]),
        *recipe_jobs(recipes, video_id, after=transcript_key.id, is_subscriber=is_subscriber(principal)),
    ]


async def upload_of(connection: Connection, principal: Principal, video_id: str) -> asyncpg.Record:
    """The source row of a reserved upload that is still to come."""
    await get_video(connection, principal, video_id)
    row = await connection.fetchrow(
        """SELECT s.type, s.storage_path, s.content_type, j.depends_on, j.status
           FROM sources s JOIN jobs j ON j.library_id = s.library_id AND j.id = 'import_' || s.video_id
           WHERE s.library_id = $1 AND s.video_id = $2""",
        principal.library_id,
        video_id,
    )
    if row is None or row["type"] != SourceType.UPLOAD:
        raise CutroomError(Code.CONFLICT, message="This video does not wait for an upload.")
    if upload_prerequisite(video_id) not in row["depends_on"] or row["status"] != "queued":
        raise CutroomError(Code.CONFLICT, message="The upload of this video is finished.")
    return row


def import_job_id(video_id: str) -> str:
    return JobKey(JobType.IMPORT, video_id).id


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source as the import needs it."""

    type: SourceType
    storage_path: str
    sealed_url: bytes
    lane: MediaKind


async def source_of(connection: Connection, library_id: str, video_id: str) -> KnownSource:
    row = await connection.fetchrow(
        "SELECT type, storage_path, sealed_url, content_type FROM sources WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
    )
    assert row is not None
    lane = lane_of(row["content_type"])
    return KnownSource(SourceType(row["type"]), row["storage_path"], row["sealed_url"] or b"", lane)


async def record_found(connection: Connection, library_id: str, video_id: str, *, title: str | None) -> None:
    """A source that had no title gets the one that came with it."""
    await connection.execute(
        "UPDATE videos SET title = $3 WHERE library_id = $1 AND id = $2 AND title IS NULL",
        library_id,
        video_id,
        title,
    )


async def record_media(
    connection: Connection, library_id: str, video_id: str, *, info: MediaInfo, size_bytes: int, sha256: bytes
) -> None:
    """What the file turned out to be."""
    await connection.execute(
        "UPDATE videos SET duration_seconds = $3, media_type = $4 WHERE library_id = $1 AND id = $2",
        library_id,
        video_id,
        round(info.duration_seconds, 3),
        info.media_type,
    )
    await connection.execute(
        "UPDATE sources SET size_bytes = $3, sha256 = $4 WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
        size_bytes,
        sha256,
    )


async def record_poster(connection: Connection, library_id: str, video_id: str, *, path: str) -> None:
    await connection.execute(
        "UPDATE videos SET poster_path = $3 WHERE library_id = $1 AND id = $2", library_id, video_id, path
    )
