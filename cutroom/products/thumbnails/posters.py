"""Lists the thumbnail images of a video and selects the primary one."""

from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import not_found
from cutroom.library.videos import publish_update, set_poster
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.thumbnails.rules import image_file_name

MAX_SHOWN = 24
_IMAGES = """SELECT t.id, t.request_id, t.path, t.number, t.headline, t.language, v.title,
        t.path = v.poster_path AS is_primary
    FROM thumbnails t
    JOIN thumbnail_requests r ON r.library_id = t.library_id AND r.id = t.request_id
    JOIN videos v ON v.library_id = t.library_id AND v.id = t.video_id
    WHERE t.library_id = $1 AND t.video_id = $2
    ORDER BY r.created_at DESC, t.number LIMIT $3"""


@dataclass(frozen=True, slots=True)
class ThumbnailImage:
    """A rendered thumbnail, and whether it is the video's poster."""

    id: str
    request_id: str
    url: str
    headline: str | None
    language: str | None
    is_primary: bool


async def list_images(
    connection: Connection, principal: Principal, video_id: str, *, storage: Storage
) -> list[ThumbnailImage]:
    """Newest request first, best image first."""
    rows = await connection.fetch(_IMAGES, principal.library_id, video_id, MAX_SHOWN)
    return [
        ThumbnailImage(
            row["id"],
            row["request_id"],
            storage.download_url(row["path"], image_file_name(row["title"], row["number"], language=row["language"])),
            row["headline"],
            row["language"],
            bool(row["is_primary"]),
        )
        for row in rows
    ]


async def set_primary(
    connection: Connection, principal: Principal, video_id: str, *, thumbnail_id: str, now: datetime
) -> None:
    """Sets a thumbnail as the video's poster."""
    path = await connection.fetchval(
        "SELECT path FROM thumbnails WHERE library_id = $1 AND video_id = $2 AND id = $3 FOR SHARE",
        principal.library_id,
        video_id,
        thumbnail_id,
    )
    if path is None:
        raise not_found()
    await set_poster(connection, principal.library_id, video_id, path=path)
    await publish_update(connection, principal.library_id, video_id, now=now)
