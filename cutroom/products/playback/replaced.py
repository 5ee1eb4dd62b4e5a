"""Deletes the files of replaced tracks once no playback URL can reach them any more.

A track that is cut in other places, or made again, is stored in another folder. Players that have loaded the playlists
before go on in the old one, at most until their URL expires.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from cutroom.library.playback import LIFETIME, MANIFEST, MASTER, STEP_SECONDS
from cutroom.platform.db import Connection, Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.playback.service import playback_path

REACHABLE = LIFETIME + timedelta(seconds=STEP_SECONDS, hours=1)  # after the playlists were written; an hour for clocks
_FOLDER = re.compile(r"([avt]/[^/]+)/[^/]+")
_CUTS = re.compile(r"cuts/([0-9a-f]+)\.json")
_LOCK = """SELECT state, lease_holder, planned_edit, packaged_edit FROM playbacks
    WHERE library_id = $1 AND video_id = $2 FOR UPDATE"""
_FOLDERS = """SELECT packaged ->> 'name' AS folder FROM playback_tracks WHERE library_id = $1 AND video_id = $2"""


async def delete_replaced(
    database: Database, storage: Storage, library_id: str, video_id: str, files: Mapping[str, datetime], now: datetime
) -> frozenset[str]:
    """Deletes what a finished stream does not refer to any more; returns the paths.

    Every folder is checked and deleted while the stream is locked, so that it is not packaged into it meanwhile. A
    repetition finds what is left.
    """
    prefix = playback_path(library_id, video_id, "")
    changed = {path.removeprefix(prefix): at for path, at in files.items() if path.startswith(prefix)}
    if not _are_settled(changed, now):
        return frozenset()
    found = dict.fromkeys(each for name in changed if (each := _part_of(name)) is not None)
    deleted = set[str]()
    for part in found:
        async with database.transaction(library_id) as connection:
            used = await _used_parts(connection, library_id, video_id)
            if used is None:
                break
            if part in used:
                continue
            if part.startswith("cuts/"):
                await storage.delete(f"{prefix}{part}")
            else:
                await storage.delete_under(f"{prefix}{part}/")
        deleted.add(part)
    return frozenset(f"{prefix}{name}" for name in changed if _part_of(name) in deleted)


def _are_settled(changed: Mapping[str, datetime], now: datetime) -> bool:
    """Whether the playlists are so old that no URL to earlier ones is valid."""
    written = [at for name, at in changed.items() if "/" not in name and _is_playlist(name)]
    return bool(written) and max(written) + REACHABLE < now


def _is_playlist(name: str) -> bool:
    return any(name.startswith(f"{kind.partition('.')[0]}.") for kind in (MASTER, MANIFEST))


def _part_of(name: str) -> str | None:
    """The folder of a track, or the file of cuts, that an object belongs to."""
    if _CUTS.fullmatch(name):
        return name
    match = _FOLDER.fullmatch(name)
    return match[1] if match is not None else None


async def _used_parts(connection: Connection, library_id: str, video_id: str) -> set[str] | None:
    """What the stream refers to; None while it is packaged, or if that has failed: its playlists are older then."""
    row = await connection.fetchrow(_LOCK, library_id, video_id)
    if row is None or row["state"] != "ready" or row["lease_holder"] is not None:
        return None
    edits = [row[name] for name in ("planned_edit", "packaged_edit") if row[name] is not None]
    cuts = {f"cuts/{each['cut']}.json" for each in edits if each["cut"] is not None}
    folders = {each["folder"] for each in await connection.fetch(_FOLDERS, library_id, video_id)}
    return cuts | folders
