"""Reads videos, folders, characters and brand voices, and creates folders."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import invalid_field, not_found
from cutroom.library.playback import PlaybackLinks, master_playlist_name
from cutroom.library.rules import MAX_FOLDER_DEPTH, MAX_FOLDERS, is_reserved
from cutroom.library.schemas import (
    BrandVoice,
    Character,
    Folder,
    NewFolder,
    Progress,
    ReferenceImage,
    State,
    Video,
)
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.storage.objects import Storage

MAX_CHARACTERS = 500  # listed at most, newest first
MAX_BRAND_VOICES = 500

_VIDEO_COLUMNS = """id, status, title, description, duration_seconds, provider, media_type, default_language_code,
    folder_ids, import_status, import_language, transcript_status, transcript_language, created_at, poster_path,
    playback_languages, hosted_url"""
GET_VIDEO = f"SELECT {_VIDEO_COLUMNS} FROM videos WHERE library_id = $1 AND id = $2"  # noqa: S608
LIST_VIDEOS = f"""SELECT {_VIDEO_COLUMNS} FROM videos WHERE library_id = $1 AND id < $2
    ORDER BY id DESC LIMIT $3"""  # noqa: S608
GET_FOLDER_AND_PARENTS = """WITH RECURSIVE up AS (
        SELECT id, parent_id, name, depth FROM folders WHERE library_id = $1 AND id = $2
        UNION ALL
        SELECT f.id, f.parent_id, f.name, f.depth FROM up JOIN folders f ON f.library_id = $1 AND f.id = up.parent_id
    ) SELECT id, parent_id, name FROM up ORDER BY depth"""
LIST_FOLDERS = "SELECT id, parent_id, name FROM folders WHERE library_id = $1 ORDER BY depth, id LIMIT $2"
NEWEST = "~"  # sorts after every id


async def get_video(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    storage: Storage | None = None,
    links: PlaybackLinks | None = None,
    now: datetime | None = None,
) -> Video:
    """Get a video; with `storage` and `links`, including its signed URLs."""
    row = await connection.fetchrow(GET_VIDEO, principal.library_id, video_id) if is_id(video_id) else None
    if row is None:
        raise not_found()
    poster_path, poster_url = row["poster_path"], None
    if storage is not None and poster_path is not None:
        poster_url = await storage.read_url(poster_path)
    video = video_from_row(row, workspace_id=principal.workspace_id, poster_url=poster_url)
    return (
        video
        if links is None or now is None
        else with_playback_urls(video, row, principal.library_id, links=links, now=now)
    )


def with_playback_urls(
    video: Video, row: asyncpg.Record, library_id: str, *, links: PlaybackLinks, now: datetime
) -> Video:
    """Add signed playback URLs; the URL of an external host takes precedence."""
    languages = row["playback_languages"]
    if languages is None and row["hosted_url"] is None:
        return video
    url = row["hosted_url"] or links.url(library_id, video.id, master_playlist_name(), now=now)
    multi = {each: links.url(library_id, video.id, master_playlist_name(each), now=now) for each in languages or ()}
    return video.model_copy(update={"url": url, "url_multi": multi or None})


async def get_duration(connection: Connection, library_id: str, video_id: str) -> float | None:
    """Return the duration in seconds, if known."""
    found: float | None = await connection.fetchval(
        "SELECT duration_seconds FROM videos WHERE library_id = $1 AND id = $2", library_id, video_id
    )
    return found


async def get_title(connection: Connection, library_id: str, video_id: str) -> str | None:
    """Return the title, if there is one."""
    found: str | None = await connection.fetchval(
        "SELECT title FROM videos WHERE library_id = $1 AND id = $2", library_id, video_id
    )
    return found


async def list_videos(
    connection: Connection,
    principal: Principal,
    *,
    before: str | None,
    limit: int,
    storage: Storage,
    links: PlaybackLinks,
    now: datetime,
) -> tuple[list[Video], bool]:
    """Return videos older than `before`, newest first, and whether there are more."""
    found = await connection.fetch(LIST_VIDEOS, principal.library_id, before or NEWEST, limit + 1)
    rows, posters = found[:limit], await _poster_urls(found[:limit], storage)
    workspace_id, library_id = principal.workspace_id, principal.library_id
    videos = [video_from_row(row, workspace_id=workspace_id, poster_url=posters.get(row["id"])) for row in rows]
    videos = [
        with_playback_urls(one, row, library_id, links=links, now=now) for one, row in zip(videos, rows, strict=True)
    ]
    return videos, len(found) > limit


async def _poster_urls(rows: list[asyncpg.Record], storage: Storage) -> dict[str, str]:
    paths = {row["id"]: row["poster_path"] for row in rows if row["poster_path"]}
    if not paths:
        return {}
    return dict(zip(paths, await storage.read_urls(list(paths.values())), strict=True))


def video_from_row(row: asyncpg.Record, *, workspace_id: str | None, poster_url: str | None = None) -> Video:
    return Video(
        id=row["id"],
        status=row["status"],
        title=row["title"],
        description=row["description"],
        duration=row["duration_seconds"],
        poster_url=poster_url,
        provider=row["provider"],
        media_type=row["media_type"],
        default_language_code=row["default_language_code"],
        workspace_id=workspace_id,
        folder_ids=row["folder_ids"] or None,
        created_at=row["created_at"],
        import_=_progress(row["import_status"], row["import_language"]),
        transcript=_progress(row["transcript_status"], row["transcript_language"]),
    )


def _progress(status: State | None, language: str | None) -> Progress | None:
    return Progress(status=status, language=language) if status else None


async def set_stage_status(
    connection: Connection, library_id: str, video_id: str, *, stage: Literal["import", "transcript"], state: State
) -> None:
    """Update the import or transcript status of a video; the import status is also the video's status."""
    if stage == "import":
        await connection.execute(
            "UPDATE videos SET status = $3, import_status = $3 WHERE library_id = $1 AND id = $2",
            library_id,
            video_id,
            state,
        )
    else:
        await connection.execute(
            "UPDATE videos SET transcript_status = $3 WHERE library_id = $1 AND id = $2", library_id, video_id, state
        )


async def load_video(connection: Connection, library_id: str, video_id: str) -> Video:
    """Load a video for an event payload, without a principal."""
    row = await connection.fetchrow(GET_VIDEO, library_id, video_id)
    if row is None:
        raise not_found()
    kind = await connection.fetchval("SELECT kind FROM libraries WHERE id = $1", library_id)
    return video_from_row(row, workspace_id=library_id if kind == "workspace" else None)


async def create_folder(connection: Connection, principal: Principal, folder: NewFolder, *, now: datetime) -> Folder:
    """Create a folder at the root or in another folder of the library."""
    count = await connection.fetchval("SELECT count(*) FROM folders WHERE library_id = $1", principal.library_id)
    if count >= MAX_FOLDERS:
        raise invalid_field("name", f"A library holds at most {MAX_FOLDERS} folders.")
    parents: list[str] = []
    if folder.parent_id is not None:
        if is_reserved(folder.parent_id):
            raise invalid_field("parentId", "This folder cannot be a parent; omit parentId.")
        parents = (await get_folder(connection, principal, folder.parent_id)).path
    if len(parents) >= MAX_FOLDER_DEPTH:
        raise invalid_field("parentId", f"Folders nest at most {MAX_FOLDER_DEPTH} levels deep.")
    folder_id = new_id()
    row = {
        "library_id": principal.library_id,
        "id": folder_id,
        "parent_id": folder.parent_id,
        "name": folder.name,
        "depth": len(parents) + 1,
        "created_at": now,
    }
    await insert(connection, "folders", row)
    return _folder(row, parents, principal)


async def get_folder(connection: Connection, principal: Principal, folder_id: str) -> Folder:
    rows = await connection.fetch(GET_FOLDER_AND_PARENTS, principal.library_id, folder_id)
    if not rows:
        raise not_found()
    *parents, row = rows
    return _folder(row, [each["name"] for each in parents], principal)


async def list_folders(connection: Connection, principal: Principal) -> list[Folder]:
    """Return all folders, parents before children."""
    rows = await connection.fetch(LIST_FOLDERS, principal.library_id, MAX_FOLDERS)
    folders: dict[str, Folder] = {}
    for row in rows:
        parents = folders[row["parent_id"]].path if row["parent_id"] else []
        folders[row["id"]] = _folder(row, parents, principal)
    return list(folders.values())


def _folder(row: Mapping[str, Any] | asyncpg.Record, parents: list[str], principal: Principal) -> Folder:
    return Folder(
        id=row["id"],
        name=row["name"],
        parent_id=row["parent_id"],
        path=[*parents, row["name"]],
        workspace_id=principal.workspace_id,
    )


async def list_characters(connection: Connection, principal: Principal, storage: Storage) -> list[Character]:
    rows = await connection.fetch(
        """SELECT c.id, c.name, c.created_at,
               coalesce(array_agg(i.id ORDER BY i.id) FILTER (WHERE i.id IS NOT NULL), '{}') AS image_ids,
               coalesce(array_agg(i.storage_path ORDER BY i.id) FILTER (WHERE i.id IS NOT NULL), '{}') AS paths
           FROM characters c
           LEFT JOIN character_images i ON i.library_id = c.library_id AND i.character_id = c.id
           WHERE c.library_id = $1 GROUP BY c.library_id, c.id ORDER BY c.id DESC LIMIT $2""",
        principal.library_id,
        MAX_CHARACTERS,
    )
    return [
        Character(
            id=row["id"],
            name=row["name"],
            reference_images=[
                ReferenceImage(id=image_id, url=await storage.read_url(path))
                for image_id, path in zip(row["image_ids"], row["paths"], strict=True)
            ],
            created_at=row["created_at"],
            workspace_id=principal.workspace_id,
        )
        for row in rows
    ]


async def list_brand_voices(connection: Connection, principal: Principal) -> list[BrandVoice]:
    rows = await connection.fetch(
        """SELECT id, name, guidelines, colors, created_at FROM brand_voices
           WHERE library_id = $1 ORDER BY id DESC LIMIT $2""",
        principal.library_id,
        MAX_BRAND_VOICES,
    )
    return [BrandVoice(**dict(row), workspace_id=principal.workspace_id) for row in rows]
