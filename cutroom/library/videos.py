"""Updates to videos: the changes of callers, what an import found, and what products made."""

from datetime import datetime
from typing import Literal

from cutroom.accounts.principals import Principal
from cutroom.library.folders import require_folders
from cutroom.library.rules import poster_path
from cutroom.library.schemas import VideoPatch
from cutroom.library.service import load_video, lock_revision
from cutroom.library.usage import Usage, add_usage
from cutroom.platform.db import Connection, update
from cutroom.web.schema import changes_of
from cutroom.webhooks.publishing import publish_event

TextField = Literal["title", "description"]


async def publish_update(connection: Connection, library_id: str, video_id: str, *, now: datetime) -> None:
    """Publish `video.updated` with the video as it is now."""
    video = await load_video(connection, library_id, video_id)
    data = video.model_dump(mode="json", by_alias=True)
    await publish_event(connection, library_id, type="video.updated", data=data, now=now)


async def update_video(
    connection: Connection,
    principal: Principal,
    video_id: str,
    patch: VideoPatch,
    *,
    if_match: str | None = None,
    now: datetime,
) -> None:
    """Changes the fields that the caller sent."""
    library_id, changes = principal.library_id, changes_of(patch)
    for name in ("folder_ids", "labels"):
        if name in changes:
            changes[name] = changes[name] or []
    await require_folders(connection, library_id, changes.get("folder_ids", []))  # locks folders before the video
    await lock_revision(connection, "videos", library_id, video_id, if_match=if_match)
    if "default_language_code" in changes and patch.default_language_code is None:
        changes["default_language_code"] = await _detected_language(connection, library_id, video_id)
    await update(connection, "videos", library_id, video_id, columns=changes)
    await publish_update(connection, library_id, video_id, now=now)


async def _detected_language(connection: Connection, library_id: str, video_id: str) -> str | None:
    found: str | None = await connection.fetchval(
        "SELECT transcript_language FROM videos WHERE library_id = $1 AND id = $2", library_id, video_id
    )
    return found


async def set_missing_title(connection: Connection, library_id: str, video_id: str, *, title: str | None) -> None:
    """Sets the title that came with the source, unless the caller gave one."""
    await connection.execute(
        "UPDATE videos SET title = $3 WHERE library_id = $1 AND id = $2 AND title IS NULL",
        library_id,
        video_id,
        title,
    )


async def set_media(
    connection: Connection, library_id: str, video_id: str, *, duration_seconds: float, media_type: str
) -> None:
    """Records what an import found, and counts its duration once."""
    earlier = await connection.fetchval(
        """WITH earlier AS (SELECT duration_seconds FROM videos WHERE library_id = $1 AND id = $2 FOR UPDATE)
           UPDATE videos v SET duration_seconds = $3, media_type = $4 FROM earlier
           WHERE v.library_id = $1 AND v.id = $2 RETURNING earlier.duration_seconds""",
        library_id,
        video_id,
        duration_seconds,
        media_type,
    )
    added = round(duration_seconds * 1000) - round((earlier or 0) * 1000)
    await add_usage(connection, library_id, Usage(imported_milliseconds=added))


async def lock_retained_video(connection: Connection, library_id: str, video_id: str) -> datetime | None:
    """Locks a video and returns when it was created; None for one that is in the trash or gone."""
    created_at: datetime | None = await connection.fetchval(
        "SELECT created_at FROM videos WHERE library_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE",
        library_id,
        video_id,
    )
    return created_at


async def set_original_deleted(connection: Connection, library_id: str, video_id: str, *, now: datetime) -> None:
    await connection.execute(
        "UPDATE videos SET original_deleted_at = $3 WHERE library_id = $1 AND id = $2", library_id, video_id, now
    )


async def set_poster(connection: Connection, library_id: str, video_id: str, *, path: str) -> None:
    await connection.execute(
        "UPDATE videos SET poster_path = $3 WHERE library_id = $1 AND id = $2", library_id, video_id, path
    )


async def restore_poster(connection: Connection, library_id: str, video_id: str, *, replaced_under: str) -> None:
    """Shows the import's own poster again if the current one is stored under a prefix that is being removed."""
    await connection.execute(
        """UPDATE videos SET poster_path = CASE WHEN media_type = 'audio' THEN NULL ELSE $4 END
           WHERE library_id = $1 AND id = $2 AND starts_with(poster_path, $3)""",
        library_id,
        video_id,
        replaced_under,
        poster_path(library_id, video_id),
    )


async def set_transcript_language(connection: Connection, library_id: str, video_id: str, *, language: str) -> None:
    """Records the spoken language, which is also the default language unless the caller gave one."""
    await connection.execute(
        """UPDATE videos SET transcript_language = $3, default_language_code = coalesce(default_language_code, $3)
           WHERE library_id = $1 AND id = $2""",
        library_id,
        video_id,
        language,
    )


async def set_playback_languages(
    connection: Connection, library_id: str, video_id: str, *, languages: list[str] | None, now: datetime
) -> None:
    changed = await connection.fetchval(
        """UPDATE videos SET playback_languages = $3
           WHERE library_id = $1 AND id = $2 AND playback_languages IS DISTINCT FROM $3 RETURNING true""",
        library_id,
        video_id,
        languages,
    )
    if changed:
        await publish_update(connection, library_id, video_id, now=now)


async def set_hosted_url(connection: Connection, library_id: str, video_id: str, *, url: str, now: datetime) -> None:
    await connection.execute(
        "UPDATE videos SET hosted_url = $3 WHERE library_id = $1 AND id = $2", library_id, video_id, url
    )
    await publish_update(connection, library_id, video_id, now=now)


async def get_text(connection: Connection, library_id: str, video_id: str, *, field: TextField) -> str | None:
    found: str | None = await connection.fetchval(
        f"SELECT {field} FROM videos WHERE library_id = $1 AND id = $2",  # noqa: S608 (one of two column names)
        library_id,
        video_id,
    )
    return found


async def set_text(
    connection: Connection, library_id: str, video_id: str, *, field: TextField, text: str, now: datetime
) -> None:
    await connection.execute(
        f"UPDATE videos SET {field} = $3 WHERE library_id = $1 AND id = $2",  # noqa: S608 (one of two column names)
        library_id,
        video_id,
        text,
    )
    await publish_update(connection, library_id, video_id, now=now)
