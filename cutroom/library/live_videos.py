"""Tells whether videos may be served: not from the trash, nor those that are gone or of suspended libraries."""

import re
import time
from collections.abc import Callable

from cutroom.platform.db import Database

MAX_ENTRIES = 10_000
VALID_SECONDS = 15.0  # how long a deleted video may still be served, and a restored one not yet
_VIDEO_PATH = re.compile(r"libraries/([^/]+)/videos/([^/]+)/.+")
# A purged video is in the trash too, by a constraint of the table.
_IS_LIVE = """SELECT EXISTS (SELECT FROM videos v JOIN libraries l ON l.id = v.library_id
    WHERE v.library_id = $1 AND v.id = $2 AND v.deleted_at IS NULL AND l.suspended_at IS NULL)"""


class LiveVideos:
    """Reads PostgreSQL, at most once per video within VALID_SECONDS unless requests coincide."""

    def __init__(self, database: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._monotonic = monotonic
        self._entries: dict[tuple[str, str], tuple[bool, float]] = {}  # oldest first

    async def is_live(self, library_id: str, video_id: str) -> bool:
        key = (library_id, video_id)
        entry = self._entries.get(key)
        if entry is not None and entry[1] > self._monotonic():
            return entry[0]
        # The entry expires from when it was read: a deletion during the query may be missed.
        expires = self._monotonic() + VALID_SECONDS
        async with self._database.transaction(library_id) as connection:
            live: bool = await connection.fetchval(_IS_LIVE, library_id, video_id)
        self._entries.pop(key, None)
        self._entries[key] = (live, expires)
        if len(self._entries) > MAX_ENTRIES:
            del self._entries[next(iter(self._entries))]
        return live


def video_of_path(path: str) -> tuple[str, str] | None:
    """Return the library and the video of an object, if it belongs to a video."""
    match = _VIDEO_PATH.fullmatch(path)
    return (match[1], match[2]) if match is not None else None
