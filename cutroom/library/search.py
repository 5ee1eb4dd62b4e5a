"""Finding videos of a library by folder and by the words of their titles."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.accounts.principals import Principal
from cutroom.library.schemas import Video
from cutroom.library.service import NEWEST, video_of
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage

MAX_TEXT = 200
_FIND = """SELECT * FROM videos
    WHERE library_id = $1 AND id < $2
      AND ($3::text IS NULL OR folder_ids @> ARRAY[$3])
      AND ($4::text IS NULL OR title ILIKE $4 OR id = ANY ($5::text[]))
    ORDER BY id DESC LIMIT $6"""


@dataclass(frozen=True, slots=True)
class VideoQuery:
    """What somebody looks for."""

    folder_id: str | None = None
    text: str | None = None
    also: Sequence[str] = ()  # ids that match the text by something else than their title


def pattern_of(text: str) -> str:
    """The text anywhere, taken literally."""
    plain = " ".join(text.split())[:MAX_TEXT]
    for sign in ("\\", "%", "_"):
        plain = plain.replace(sign, f"\\{sign}")
    return f"%{plain}%"


async def find_videos(
    connection: Connection,
    principal: Principal,
    wanted: VideoQuery,
    *,
    before: str | None,
    limit: int,
    storage: Storage,
) -> tuple[list[Video], bool]:
    """Videos older than the given one that match, newest first, and whether there are more."""
    pattern = pattern_of(wanted.text) if wanted.text else None
    found = await connection.fetch(
        _FIND, principal.library_id, before or NEWEST, wanted.folder_id, pattern, list(wanted.also), limit + 1
    )
    rows = found[:limit]
    paths = {row["id"]: row["poster_path"] for row in rows if row["poster_path"]}
    urls = dict(zip(paths, await storage.read_urls(list(paths.values())), strict=True)) if paths else {}
    videos = [video_of(row, workspace_id=principal.workspace_id, poster_url=urls.get(row["id"])) for row in rows]
    return videos, len(found) > limit
