"""Tells whether objects may be served: not of videos in the trash or gone, nor of suspended libraries.

URLs that were signed before a member left the library are refused too.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from cutroom.platform.db import Database

MAX_ENTRIES = 10_000
VALID_SECONDS = 15.0  # how long a deleted video may still be served, and a restored one not yet
_LIBRARY_PATH = re.compile(r"libraries/([^/]+)/.+")
_VIDEO_PATH = re.compile(r"libraries/([^/]+)/videos/([^/]+)/.+")
# A purged video is in the trash too, by a constraint of the table.
_READ = """SELECT floor(extract(epoch FROM l.urls_valid_from))::bigint AS valid_from,
        l.suspended_at IS NULL AND ($2::text IS NULL OR EXISTS (SELECT FROM videos v
            WHERE v.library_id = l.id AND v.id = $2 AND v.deleted_at IS NULL)) AS is_live
    FROM libraries l WHERE l.id = $1"""


@dataclass(frozen=True, slots=True)
class _Entry:
    """What was read, and until when it is used."""

    is_live: bool
    valid_from: int  # in seconds of the epoch
    expires: float


class LiveVideos:
    """Reads PostgreSQL, at most once per video within VALID_SECONDS unless requests coincide."""

    def __init__(self, database: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._monotonic = monotonic
        self._entries: dict[tuple[str, str | None], _Entry] = {}  # oldest first

    async def is_live(self, library_id: str, video_id: str | None, issued_at: int) -> bool:
        """Whether a URL that was signed at this time may be served; without a video, for an object of the library."""
        entry = await self._entry(library_id, video_id)
        return entry.is_live and issued_at >= entry.valid_from

    async def _entry(self, library_id: str, video_id: str | None) -> _Entry:
        key = (library_id, video_id)
        entry = self._entries.get(key)
        if entry is not None and entry.expires > self._monotonic():
            return entry
        # The entry expires from when it was read: a deletion during the query may be missed.
        expires = self._monotonic() + VALID_SECONDS
        async with self._database.transaction(library_id) as connection:
            row = await connection.fetchrow(_READ, library_id, video_id)
        entry = _Entry(row is not None and row["is_live"], (row["valid_from"] or 0) if row is not None else 0, expires)
        self._entries.pop(key, None)
        self._entries[key] = entry
        if len(self._entries) > MAX_ENTRIES:
            del self._entries[next(iter(self._entries))]
        return entry


def owner_of_path(path: str) -> tuple[str, str | None] | None:
    """Return the library of an object, and the video if it belongs to one."""
    if (video := video_of_path(path)) is not None:
        return video
    match = _LIBRARY_PATH.fullmatch(path)
    return (match[1], None) if match is not None else None


def video_of_path(path: str) -> tuple[str, str] | None:
    """Return the library and the video of an object, if it belongs to a video."""
    match = _VIDEO_PATH.fullmatch(path)
    return (match[1], match[2]) if match is not None else None
