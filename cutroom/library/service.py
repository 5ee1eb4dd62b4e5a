"""Reads videos, characters and brand voices, and locks rows for a change."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.errors import not_found
from cutroom.library.playback import PlaybackLinks, master_playlist_name
from cutroom.library.schemas import (
    BrandVoice,
    Character,
    Progress,
    ReferenceImage,
    State,
    Video,
)
from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id
from cutroom.platform.storage.objects import Storage
from cutroom.web.revisions import Revised, require_match

MAX_CHARACTERS = 500  # listed at most, newest first
MAX_BRAND_VOICES = 500

_VIDEO_COLUMNS = """id, status, title, description, duration_seconds, provider, media_type, default_language_code,
    folder_ids, import_status, import_language, transcript_status, transcript_language, created_at, poster_path,
    playback_languages, hosted_url, labels, revision, original_deleted_at,
    (SELECT l.urls_valid_from FROM libraries l WHERE l.id = $1) AS urls_valid_from"""
_LOAD_VIDEO = f"SELECT {_VIDEO_COLUMNS} FROM videos WHERE library_id = $1 AND id = $2"  # noqa: S608
GET_VIDEO = f"{_LOAD_VIDEO} AND deleted_at IS NULL"
LIST_VIDEOS = f"""SELECT {_VIDEO_COLUMNS} FROM videos WHERE library_id = $1 AND id < $2
    AND deleted_at IS NULL ORDER BY id DESC LIMIT $3"""  # noqa: S608
LIST_LABELED_VIDEOS = f"""SELECT {_VIDEO_COLUMNS} FROM videos WHERE library_id = $1 AND id < $2
    AND deleted_at IS NULL AND labels @> ARRAY[$4] ORDER BY id DESC LIMIT $3"""  # noqa: S608
LIST_CHARACTERS = """SELECT c.id, c.name, c.created_at, c.revision,
        coalesce(array_agg(i.id ORDER BY i.id) FILTER (WHERE i.id IS NOT NULL), '{}') AS image_ids,
        coalesce(array_agg(i.storage_path ORDER BY i.id) FILTER (WHERE i.id IS NOT NULL), '{}') AS paths
    FROM characters c
    LEFT JOIN character_images i ON i.library_id = c.library_id AND i.character_id = c.id
    WHERE c.library_id = $1 AND ($2::text IS NULL OR c.id = $2)
    GROUP BY c.library_id, c.id ORDER BY c.id DESC LIMIT $3"""
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
    found = await get_revised_video(connection, principal, video_id, storage=storage, links=links, now=now)
    return found.resource


async def get_revised_video(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    storage: Storage | None = None,
    links: PlaybackLinks | None = None,
    now: datetime | None = None,
) -> Revised[Video]:
    """Get a video with its revision."""
    is_allowed = is_id(video_id) and principal.video_id in {None, video_id}
    row = await connection.fetchrow(GET_VIDEO, principal.library_id, video_id) if is_allowed else None
    if row is None:
        raise not_found()
    poster = poster_url(row, storage) if storage is not None else None
    video = video_from_row(row, workspace_id=principal.workspace_id, poster_url=poster)
    if links is not None and now is not None:
        video = with_playback_urls(video, row, principal.library_id, links=links, now=now)
    return Revised(video, row["revision"])


def with_playback_urls(
    video: Video, row: asyncpg.Record, library_id: str, *, links: PlaybackLinks, now: datetime
) -> Video:
    """Add signed playback URLs; the URL of an external host takes precedence."""
    languages = row["playback_languages"]
    if languages is None and row["hosted_url"] is None:
        return video
    sign = partial(links.url, library_id, video.id, now=now, valid_from=row["urls_valid_from"])
    url = row["hosted_url"] or sign(master_playlist_name())
    multi = {each: sign(master_playlist_name(each)) for each in languages or ()}
    return video.model_copy(update={"url": url, "url_multi": multi or None})


async def get_duration(connection: Connection, library_id: str, video_id: str) -> float | None:
    """Return the duration in seconds, if known."""
    found: float | None = await connection.fetchval(
        "SELECT duration_seconds FROM videos WHERE library_id = $1 AND id = $2", library_id, video_id
    )
    return found


async def has_picture(connection: Connection, library_id: str, video_id: str) -> bool:
    """Whether the media is used as video; media imported as audio counts as audio, even if it has cover video."""
    found: bool = await connection.fetchval(
        "SELECT coalesce(media_type = 'video', false) FROM videos WHERE library_id = $1 AND id = $2",
        library_id,
        video_id,
    )
    return found


async def get_title(connection: Connection, library_id: str, video_id: str) -> str | None:
    """Return the title, if there is one."""
    found: str | None = await connection.fetchval(
        "SELECT title FROM videos WHERE library_id = $1 AND id = $2", library_id, video_id
    )
    return found


@dataclass(frozen=True, slots=True)
class VideoListing:
    """A page of the list of videos: those older than `before`, if it is given, and with the label, if one is given."""

    limit: int
    before: str | None = None
    label: str | None = None


async def list_videos(
    connection: Connection,
    principal: Principal,
    page: VideoListing,
    *,
    storage: Storage,
    links: PlaybackLinks,
    now: datetime,
) -> tuple[list[Video], bool]:
    """Return a page of videos, newest first, and whether there are more."""
    limit, arguments = page.limit, (principal.library_id, page.before or NEWEST, page.limit + 1)
    if page.label is None:
        found = await connection.fetch(LIST_VIDEOS, *arguments)
    else:
        found = await connection.fetch(LIST_LABELED_VIDEOS, *arguments, page.label)
    rows, workspace_id, library_id = found[:limit], principal.workspace_id, principal.library_id
    videos = [video_from_row(row, workspace_id=workspace_id, poster_url=poster_url(row, storage)) for row in rows]
    videos = [
        with_playback_urls(one, row, library_id, links=links, now=now) for one, row in zip(videos, rows, strict=True)
    ]
    return videos, len(found) > limit


def poster_url(row: asyncpg.Record, storage: Storage) -> str | None:
    """Return the signed URL of a video's poster, if it has one."""
    path: str | None = row["poster_path"]
    return storage.read_url(path) if path is not None else None


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
        labels=row["labels"] or None,
        created_at=row["created_at"],
        original_deleted_at=row["original_deleted_at"],
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
    """Load a video for an event payload, without a principal; it may be in the trash."""
    row = await connection.fetchrow(_LOAD_VIDEO, library_id, video_id)
    if row is None:
        raise not_found()
    kind = await connection.fetchval("SELECT kind FROM libraries WHERE id = $1", library_id)
    return video_from_row(row, workspace_id=library_id if kind == "workspace" else None)


async def lock_revision(
    connection: Connection, table: str, library_id: str, row_id: str, *, if_match: str | None
) -> None:
    """Lock a row for a change; raise NOT_FOUND without one, and CONFLICT unless `If-Match` names its revision."""
    revision = await connection.fetchval(
        f"SELECT revision FROM {table} WHERE library_id = $1 AND id = $2 FOR UPDATE",  # noqa: S608 (a constant)
        library_id,
        row_id,
    )
    if revision is None:
        raise not_found()
    require_match(if_match, revision)


async def list_characters(connection: Connection, principal: Principal, storage: Storage) -> list[Character]:
    rows = await connection.fetch(LIST_CHARACTERS, principal.library_id, None, MAX_CHARACTERS)
    return [_character(row, principal, storage) for row in rows]


async def get_character(
    connection: Connection, principal: Principal, character_id: str, *, storage: Storage
) -> Revised[Character]:
    row = await connection.fetchrow(LIST_CHARACTERS, principal.library_id, character_id, 1)
    if row is None:
        raise not_found()
    return Revised(_character(row, principal, storage), row["revision"])


def _character(row: asyncpg.Record, principal: Principal, storage: Storage) -> Character:
    images = [
        ReferenceImage(id=image_id, url=storage.read_url(path))
        for image_id, path in zip(row["image_ids"], row["paths"], strict=True)
    ]
    return Character(
        id=row["id"],
        name=row["name"],
        reference_images=images,
        created_at=row["created_at"],
        workspace_id=principal.workspace_id,
    )


async def list_brand_voices(connection: Connection, principal: Principal) -> list[BrandVoice]:
    rows = await connection.fetch(
        """SELECT id, name, guidelines, colors, created_at FROM brand_voices
           WHERE library_id = $1 ORDER BY id DESC LIMIT $2""",
        principal.library_id,
        MAX_BRAND_VOICES,
    )
    return [BrandVoice(**dict(row), workspace_id=principal.workspace_id) for row in rows]


async def get_brand_voice(connection: Connection, principal: Principal, brand_voice_id: str) -> Revised[BrandVoice]:
    row = await connection.fetchrow(
        """SELECT id, name, guidelines, colors, created_at, revision FROM brand_voices
           WHERE library_id = $1 AND id = $2""",
        principal.library_id,
        brand_voice_id,
    )
    if row is None:
        raise not_found()
    columns = dict(row)
    revision: int = columns.pop("revision")
    return Revised(BrandVoice(**columns, workspace_id=principal.workspace_id), revision)
