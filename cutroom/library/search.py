"""Searches videos by folder, label and title."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.accounts.principals import Principal
from cutroom.library.schemas import Video
from cutroom.library.service import NEWEST, poster_url, video_from_row
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage

MAX_TEXT = 200
_FIND = """SELECT * FROM videos
    WHERE library_id = $1 AND id < $2 AND deleted_at IS NULL
      AND ($3::text IS NULL OR folder_ids @> ARRAY[$3])
      AND ($4::text IS NULL OR title ILIKE $4 OR id = ANY ($5::text[]))
      AND ($7::text IS NULL OR labels @> ARRAY[$7])
    ORDER BY id DESC LIMIT $6"""
MAX_LISTED_LABELS = 30
LABELED_VIDEOS = 1_000  # the newest, whose labels are listed
_LABELS = """SELECT label
    FROM (SELECT labels FROM videos WHERE library_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $2) recent,
        unnest(recent.labels) AS label
    GROUP BY label ORDER BY count(*) DESC, label LIMIT $3"""


@dataclass(frozen=True, slots=True)
class VideoQuery:
    """Search criteria."""

    folder_id: str | None = None
    label: str | None = None
    text: str | None = None
    matching_ids: Sequence[str] = ()  # ids that match the text by other means than the title


def like_pattern(text: str) -> str:
    """Build an ILIKE pattern that matches the text literally, anywhere."""
    escaped = " ".join(text.split())[:MAX_TEXT]
    for character in ("\\", "%", "_"):
        escaped = escaped.replace(character, f"\\{character}")
    return f"%{escaped}%"


async def find_videos(
    connection: Connection,
    principal: Principal,
    query: VideoQuery,
    *,
    before: str | None,
    limit: int,
    storage: Storage,
) -> tuple[list[Video], bool]:
    """Return matching videos older than `before`, newest first, and whether there are more."""
    pattern = like_pattern(query.text) if query.text else None
    found = await connection.fetch(
        _FIND,
        principal.library_id,
        before or NEWEST,
        query.folder_id,
        pattern,
        list(query.matching_ids),
        limit + 1,
        query.label,
    )
    rows = found[:limit]
    workspace_id = principal.workspace_id
    videos = [video_from_row(row, workspace_id=workspace_id, poster_url=poster_url(row, storage)) for row in rows]
    return videos, len(found) > limit


async def list_labels(connection: Connection, principal: Principal) -> list[str]:
    """Return the most frequent labels of the newest videos."""
    rows = await connection.fetch(_LABELS, principal.library_id, LABELED_VIDEOS, MAX_LISTED_LABELS)
    return [row["label"] for row in rows]
