"""Moves videos to the trash and out of it, and removes their rows.

A request that starts jobs for a video holds `keep_video` until it commits; moving the video to the trash waits for it,
and later requests find no video. So no job can be created beside its deletion.
"""

from dataclasses import dataclass
from datetime import datetime

import asyncpg

from cutroom.errors import not_found
from cutroom.library.service import NEWEST
from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id
from cutroom.web.revisions import require_match


@dataclass(frozen=True, slots=True)
class TrashedVideo:
    """A video in the trash."""

    id: str
    title: str | None
    duration_seconds: float | None
    media_type: str | None
    deleted_at: datetime


async def keep_video(connection: Connection, library_id: str, video_id: str) -> None:
    """Keep a video out of the trash until the transaction ends; raise NOT_FOUND if it is there already."""
    await connection.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))", video_id)
    is_live = await connection.fetchval(
        "SELECT true FROM videos WHERE library_id = $1 AND id = $2 AND deleted_at IS NULL", library_id, video_id
    )
    if not is_live:
        raise not_found()


async def lock_for_deletion(connection: Connection, library_id: str, video_id: str, *, if_match: str | None) -> None:
    """Wait for requests that start jobs for the video, and stop others; raise NOT_FOUND if it is being purged.

    Taken before the locks of its jobs, and those before the lock of its row, as everywhere.
    """
    if not is_id(video_id):
        raise not_found()
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", video_id)
    revision = await connection.fetchval(
        "SELECT revision FROM videos WHERE library_id = $1 AND id = $2 AND purged_at IS NULL", library_id, video_id
    )
    if revision is None:
        raise not_found()
    require_match(if_match, revision)


async def is_trashed(connection: Connection, library_id: str, video_id: str) -> bool:
    found: bool | None = await connection.fetchval(
        "SELECT true FROM videos WHERE library_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND purged_at IS NULL",
        library_id,
        video_id,
    )
    return bool(found)


async def get_trashed(connection: Connection, library_id: str, video_id: str) -> TrashedVideo | None:
    row = await connection.fetchrow(
        """SELECT id, title, duration_seconds, media_type, deleted_at FROM videos
           WHERE library_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND purged_at IS NULL""",
        library_id,
        video_id,
    )
    return TrashedVideo(**dict(row)) if row is not None else None


async def move_to_trash(connection: Connection, library_id: str, video_id: str, *, now: datetime) -> None:
    await connection.execute(
        "UPDATE videos SET deleted_at = coalesce(deleted_at, $3) WHERE library_id = $1 AND id = $2",
        library_id,
        video_id,
        now,
    )


async def take_from_trash(connection: Connection, library_id: str, video_id: str) -> None:
    """Raise NOT_FOUND if the video is gone or being purged; do nothing if it is not in the trash."""
    found = await connection.fetchval(
        "UPDATE videos SET deleted_at = NULL WHERE library_id = $1 AND id = $2 AND purged_at IS NULL RETURNING true",
        library_id,
        video_id,
    )
    if not found:
        raise not_found()


async def start_purge(connection: Connection, library_id: str, video_id: str, *, now: datetime) -> bool:
    """Mark a video in the trash as being purged; return False if it is not there, or being purged already."""
    found: bool | None = await connection.fetchval(
        """UPDATE videos SET purged_at = $3
           WHERE library_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND purged_at IS NULL RETURNING true""",
        library_id,
        video_id,
        now,
    )
    return bool(found)


async def list_trash(
    connection: Connection, library_id: str, *, before: str | None, limit: int
) -> tuple[list[TrashedVideo], bool]:
    """Return a page of the videos in the trash, newest video first, and whether there are more."""
    rows = await connection.fetch(
        """SELECT id, title, duration_seconds, media_type, deleted_at FROM videos
           WHERE library_id = $1 AND id < $2 AND deleted_at IS NOT NULL AND purged_at IS NULL
           ORDER BY id DESC LIMIT $3""",
        library_id,
        before or NEWEST,
        limit + 1,
    )
    return [TrashedVideo(**dict(row)) for row in rows[:limit]], len(rows) > limit


async def list_expired(connection: Connection, *, before: datetime, limit: int) -> list[asyncpg.Record]:
    """Videos of every library that went to the trash before a time."""
    return await connection.fetch("SELECT * FROM trashed_videos($1, $2)", before, limit)


async def delete_purged_row(connection: Connection, library_id: str, video_id: str) -> bool:
    """Delete the row of a video that is being purged; return whether there was one."""
    found: bool | None = await connection.fetchval(
        "DELETE FROM videos WHERE library_id = $1 AND id = $2 AND purged_at IS NOT NULL RETURNING true",
        library_id,
        video_id,
    )
    return bool(found)
