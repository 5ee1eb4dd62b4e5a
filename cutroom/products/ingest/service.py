"""Creates videos with their sources and jobs, and records properties of imported media."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.credits.service import is_subscriber
from cutroom.errors import Code, CutroomError
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.ids import AutomationType, JobKey, JobType
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.library.folders import require_folders
from cutroom.library.rules import source_path
from cutroom.library.service import get_video
from cutroom.library.trash import is_trashed
from cutroom.library.usage import Usage, add_usage
from cutroom.library.videos import set_media, set_missing_title, set_original_deleted
from cutroom.media.probe import MediaInfo
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.products.ingest.recipes import recipe_jobs, thumbnail_plan
from cutroom.products.ingest.rules import IS_UPLOAD, MediaKind, SourceType, media_kind, source_fingerprint
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
IN_TRASH = "A video of this source is in the trash. Restore it, or delete it permanently to import the source again."


def upload_prerequisite(video_id: str) -> str:
    """Dependency of an upload's import job, released when the file has arrived."""
    return f"upload_{video_id}"


async def create_video(
    connection: Connection,
    principal: Principal,
    new_video: NewVideo,
    *,
    secret_box: SecretBox,
    prices: PriceList,
    upload_wait: timedelta,
    now: datetime,
) -> CreatedVideo:
    """Creates a video with its import, transcript and product jobs."""
    if new_video.workspace_id is not None and new_video.workspace_id != principal.workspace_id:
        raise CutroomError(Code.PERMISSION_DENIED)
    if new_video.folder_id is not None:
        await require_folders(connection, principal.library_id, [new_video.folder_id])
    thumbnail = thumbnail_plan(new_video.products.packaging if new_video.products is not None else None)
    if thumbnail is not None:
        await thumbnails.validate_plan(connection, principal, thumbnail, at="products.packaging.thumbnail.")
    video_id = new_id()
    await _insert_source(connection, principal, new_video.source, video_id=video_id, secret_box=secret_box, now=now)
    await _insert_video(connection, principal, new_video, video_id=video_id, now=now)
    is_upload = isinstance(new_video.source, UploadSource)
    new_jobs = _new_jobs(principal, video_id, recipes=new_video.products, is_upload=is_upload)
    jobs = [job for job, _ in await request_jobs(connection, principal, new_jobs, prices=prices, now=now)]
    for job in new_jobs:
        if job.key.automation is AutomationType.THUMBNAIL:
            await thumbnails.store_request(connection, principal.library_id, job, now=now)
    upload = None
    if is_upload:
        await set_upload_deadline(connection, principal.library_id, video_id, expires_at=now + upload_wait)
        path = source_path(principal.library_id, video_id)
        upload = UploadInstructions(storage_path=path, session_path=f"/videos/{video_id}/uploads")
    video = await get_video(connection, principal, video_id)
    return CreatedVideo(video_id=video_id, status="queued", video=video, upload=upload, jobs=jobs)


async def _insert_source(
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
    await _deactivate_failed(connection, principal.library_id, fingerprint)
    try:
        async with connection.transaction():
            await insert(connection, "sources", row)
    except asyncpg.UniqueViolationError as error:
        existing = await connection.fetchval(
            "SELECT video_id FROM sources WHERE library_id = $1 AND fingerprint = $2 AND is_active",
            principal.library_id,
            fingerprint,
        )
        details = {"videoId": existing}
        if await is_trashed(connection, principal.library_id, existing):
            raise CutroomError(Code.ALREADY_EXISTS, message=IN_TRASH, details=details | {"inTrash": True}) from error
        raise CutroomError(Code.ALREADY_EXISTS, details=details) from error


async def release_source(connection: Connection, library_id: str, video_id: str) -> None:
    """Lets the source of a video be imported again."""
    await connection.execute(
        "UPDATE sources SET is_active = false WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )


async def _deactivate_failed(connection: Connection, library_id: str, fingerprint: str) -> None:
    """Lets a source be imported again after its import failed."""
    await connection.execute(
        """UPDATE sources s SET is_active = false FROM videos v
           WHERE s.library_id = $1 AND s.fingerprint = $2 AND s.is_active
             AND v.library_id = s.library_id AND v.id = s.video_id AND v.import_status = 'failed'""",
        library_id,
        fingerprint,
    )


async def _insert_video(
    connection: Connection, principal: Principal, new_video: NewVideo, *, video_id: str, now: datetime
) -> None:
    source = new_video.source
    is_audio = isinstance(source, UploadSource) and media_kind(source.content_type) is MediaKind.AUDIO
    row = {
        "library_id": principal.library_id,
        "id": video_id,
        "status": "queued",
        "title": source.file_name if isinstance(source, UploadSource) else None,
        "provider": source.type.value,
        "media_type": "audio" if is_audio else None,
        "folder_ids": [new_video.folder_id] if new_video.folder_id else [],
        "import_status": "queued",
        "transcript_status": "queued",
        "created_at": now,
    }
    await insert(connection, "videos", row)


def _new_jobs(principal: Principal, video_id: str, *, recipes: Recipes | None, is_upload: bool) -> list[NewJob]:
    """Returns the import, the transcript that depends on it, and the products that depend on the transcript."""
    import_key = JobKey(JobType.IMPORT, video_id)
    transcript_key = JobKey(JobType.TRANSCRIPT, video_id)
    return [
        NewJob(
            import_key,
            video_id,
            plan={IS_UPLOAD: True} if is_upload else {},
            depends_on=[upload_prerequisite(video_id)] if is_upload else [],
        ),
        NewJob(transcript_key, video_id, depends_on=[import_key.id]),
        *recipe_jobs(
            recipes,
            video_id,
            after=transcript_key.id,
            is_subscriber=is_subscriber(principal),
            refuses_drafts=principal.refuses_drafts,
        ),
    ]


async def get_pending_upload(connection: Connection, principal: Principal, video_id: str) -> asyncpg.Record:
    """Returns the source of an upload whose file has not arrived; raises CONFLICT otherwise."""
    await get_video(connection, principal, video_id)
    row = await connection.fetchrow(
        """SELECT s.type, s.storage_path, s.content_type, j.depends_on, j.status
           FROM sources s JOIN jobs j ON j.library_id = s.library_id AND j.id = 'import_' || s.video_id
           WHERE s.library_id = $1 AND s.video_id = $2""",
        principal.library_id,
        video_id,
    )
    if row is None or row["type"] != SourceType.UPLOAD:
        raise CutroomError(Code.CONFLICT, message="This video is not an upload.")
    if upload_prerequisite(video_id) not in row["depends_on"]:
        raise CutroomError(Code.CONFLICT, message="The upload of this video is already finished.")
    if row["status"] != "queued":
        raise CutroomError(Code.CONFLICT, message="The upload of this video was canceled or has expired.")
    return row


def import_job_id(video_id: str) -> str:
    return JobKey(JobType.IMPORT, video_id).id


@dataclass(frozen=True, slots=True)
class StoredSource:
    """Source properties used by the import."""

    type: SourceType
    storage_path: str
    sealed_url: bytes
    media_kind: MediaKind
    is_inspected: bool  # by this attempt of the import or an earlier one


async def get_source(connection: Connection, library_id: str, video_id: str) -> StoredSource:
    row = await connection.fetchrow(
        """SELECT type, storage_path, sealed_url, content_type, sha256 IS NOT NULL AS is_inspected FROM sources
           WHERE library_id = $1 AND video_id = $2""",
        library_id,
        video_id,
    )
    assert row is not None
    return StoredSource(
        SourceType(row["type"]),
        row["storage_path"],
        row["sealed_url"] or b"",
        media_kind(row["content_type"]),
        is_inspected=row["is_inspected"],
    )


async def record_title(connection: Connection, library_id: str, video_id: str, *, title: str | None) -> None:
    """Sets the video's title from the source unless it already has one."""
    await set_missing_title(connection, library_id, video_id, title=title)


async def record_media(
    connection: Connection, library_id: str, video_id: str, *, info: MediaInfo, size_bytes: int, sha256: bytes
) -> None:
    """Stores the duration, type, size and hash of the media."""
    await set_media(
        connection,
        library_id,
        video_id,
        duration_seconds=round(info.duration_seconds, 3),
        media_type=info.media_type,
    )
    await set_source_size(connection, library_id, video_id, size_bytes=size_bytes, sha256=sha256)


async def describe_upload(
    connection: Connection, library_id: str, video_id: str, *, file_name: str | None, content_type: str | None
) -> None:
    """Stores the file name and content type that the caller announced."""
    await connection.execute(
        "UPDATE sources SET file_name = $3, content_type = $4 WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
        file_name,
        content_type,
    )


async def lock_upload_source(connection: Connection, library_id: str, video_id: str) -> asyncpg.Record | None:
    """Locks the source of an upload; returns its storage path, deadline, and size once the file has arrived."""
    return await connection.fetchrow(
        """SELECT storage_path, size_bytes, upload_expires_at FROM sources
           WHERE library_id = $1 AND video_id = $2 AND type = 'upload' FOR UPDATE""",
        library_id,
        video_id,
    )


async def set_source_size(
    connection: Connection, library_id: str, video_id: str, *, size_bytes: int, sha256: bytes | None = None
) -> None:
    """Records that the file has arrived, and counts its size once; the hash is known once it has been read."""
    earlier = await connection.fetchval(
        """WITH earlier AS (SELECT size_bytes FROM sources WHERE library_id = $1 AND video_id = $2 FOR UPDATE)
           UPDATE sources s SET size_bytes = $3, sha256 = $4, upload_expires_at = NULL FROM earlier
           WHERE s.library_id = $1 AND s.video_id = $2 RETURNING earlier.size_bytes""",
        library_id,
        video_id,
        size_bytes,
        sha256,
    )
    await add_usage(connection, library_id, Usage(source_bytes=size_bytes - (earlier or 0)))


async def set_upload_deadline(
    connection: Connection, library_id: str, video_id: str, *, expires_at: datetime | None
) -> None:
    """Sets when the import stops waiting for its file; None once it no longer waits."""
    await connection.execute(
        "UPDATE sources SET upload_expires_at = $3 WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
        expires_at,
    )


async def reactivate_source(connection: Connection, job: EndedJob) -> None:
    """Lets a failed import run again, unless its source has been imported as another video in the meantime."""
    try:
        async with connection.transaction():
            await connection.execute(
                "UPDATE sources SET is_active = true WHERE library_id = $1 AND video_id = $2 AND NOT is_active",
                job.library_id,
                job.video_id,
            )
    except asyncpg.UniqueViolationError as error:
        existing = await connection.fetchval(
            """SELECT other.video_id FROM sources s JOIN sources other
                   ON other.library_id = s.library_id AND other.fingerprint = s.fingerprint AND other.is_active
               WHERE s.library_id = $1 AND s.video_id = $2""",
            job.library_id,
            job.video_id,
        )
        raise CutroomError(Code.ALREADY_EXISTS, details={"videoId": existing}) from error


async def forget_original(connection: Connection, library_id: str, video_id: str, *, now: datetime) -> None:
    """Records that the original has been deleted, and stops counting its size."""
    await set_original_deleted(connection, library_id, video_id, now=now)
    size_bytes = await connection.fetchval(
        """WITH earlier AS (SELECT size_bytes FROM sources WHERE library_id = $1 AND video_id = $2 FOR UPDATE)
           UPDATE sources s SET size_bytes = 0 FROM earlier
           WHERE s.library_id = $1 AND s.video_id = $2 RETURNING earlier.size_bytes""",
        library_id,
        video_id,
    )
    await add_usage(connection, library_id, Usage(source_bytes=-(size_bytes or 0)))
