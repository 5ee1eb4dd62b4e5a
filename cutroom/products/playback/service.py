"""Who works on a video's playback, what it should have, and writing down what it has."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cutroom.library.rules import video_path
from cutroom.media.packager import Packaged
from cutroom.platform.db import Connection
from cutroom.products.playback.manifests import Kind, Track
from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE, subtitle_path

LOST_AFTER = timedelta(days=1)  # a runner that has written nothing for so long is gone
MAX_ERROR = 500
ORIGINAL = "original"  # the name of the sound that came with the video, whatever language it turns out to be in
_LOCKED = "SELECT asked, runner, updated_at FROM playbacks WHERE library_id = $1 AND video_id = $2 FOR UPDATE"
_DUBS = """SELECT DISTINCT ON (d.language) d.language, d.audio_path FROM dubs d
    WHERE d.library_id = $1 AND d.video_id = $2 AND d.completion = 'complete' AND d.audio_path IS NOT NULL
    ORDER BY d.language, d.product = 'premium' DESC"""
_TEXTS = """SELECT language, created_at FROM transcripts
        WHERE library_id = $1 AND video_id = $2 AND jsonb_array_length(segments) > 0
    UNION ALL SELECT language, created_at FROM captions
        WHERE library_id = $1 AND video_id = $2 AND jsonb_array_length(segments) > 0"""

# A dub joins the stream some seconds after its job is ready; what did not within an hour is not waited for.
_COMING = """SELECT EXISTS (SELECT FROM playbacks p WHERE p.library_id = $1 AND p.video_id = $2 AND p.state <> 'failed'
    AND ((p.runner IS NOT NULL AND p.updated_at > $3) OR EXISTS (
        SELECT FROM dubs d WHERE d.library_id = $1 AND d.video_id = $2 AND d.completion = 'complete'
            AND d.audio_path IS NOT NULL AND d.updated_at > $3 AND NOT EXISTS (
                SELECT FROM playback_tracks t WHERE t.library_id = $1 AND t.video_id = $2 AND t.kind = 'sound'
                    AND t.language = d.language))))"""
COMING_WITHIN = timedelta(hours=1)


async def is_coming(connection: Connection, library_id: str, video_id: str, *, now: datetime) -> bool:
    """Whether the stream is about to become richer than it is."""
    found: bool = await connection.fetchval(_COMING, library_id, video_id, now - COMING_WITHIN)
    return found


def playback_path(library_id: str, video_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"playback/{name}")


@dataclass(frozen=True, slots=True)
class TrackSource:
    """A sound or a text that playback should have; `source` tells one making of it from another."""

    kind: Kind
    name: str
    language: str
    path: str
    source: str


@dataclass(frozen=True, slots=True)
class PlayedVideo:
    """What playback needs to know of a video."""

    language: str
    duration_seconds: float
    is_ready: bool
    fingerprint: str  # of the source


async def claim(connection: Connection, library_id: str, video_id: str, *, runner: str, now: datetime) -> int | None:
    """Become the one who works on it; what was asked so far, or nothing when somebody else is and will see to it."""
    await connection.execute(
        """INSERT INTO playbacks (library_id, video_id, state, asked, updated_at)
           VALUES ($1, $2, 'processing', 0, $3) ON CONFLICT DO NOTHING""",
        library_id,
        video_id,
        now,
    )
    row = await connection.fetchrow(_LOCKED, library_id, video_id)
    assert row is not None
    if row["runner"] == runner:  # a repeat
        return int(row["asked"])
    taken = row["runner"] is not None and row["updated_at"] > now - LOST_AFTER
    seen: int | None = await connection.fetchval(
        """UPDATE playbacks SET asked = asked + 1, runner = CASE WHEN $3 THEN runner ELSE $4 END, updated_at = $5
           WHERE library_id = $1 AND video_id = $2 RETURNING CASE WHEN $3 THEN NULL ELSE asked END""",
        library_id,
        video_id,
        taken,
        runner,
        now,
    )
    return seen


async def release(
    connection: Connection, library_id: str, video_id: str, *, runner: str, seen: int, now: datetime
) -> int | None:
    """Let go, unless something was asked since; then what was."""
    row = await connection.fetchrow(_LOCKED, library_id, video_id)
    assert row is not None
    if row["runner"] != runner:
        return None
    if row["asked"] != seen:
        return int(row["asked"])
    await _end(connection, library_id, video_id, state="ready", error=None, now=now)
    return None


async def give_up(
    connection: Connection, library_id: str, video_id: str, *, runner: str, error: str, now: datetime
) -> None:
    row = await connection.fetchrow(_LOCKED, library_id, video_id)
    if row is not None and row["runner"] == runner:
        await _end(connection, library_id, video_id, state="failed", error=error[:MAX_ERROR], now=now)


async def _end(
    connection: Connection, library_id: str, video_id: str, *, state: str, error: str | None, now: datetime
) -> None:
    await connection.execute(
        """UPDATE playbacks SET runner = NULL, state = $3, error = $4, updated_at = $5
           WHERE library_id = $1 AND video_id = $2""",
        library_id,
        video_id,
        state,
        error,
        now,
    )


async def video_to_play(connection: Connection, library_id: str, video_id: str) -> PlayedVideo | None:
    row = await connection.fetchrow(
        """SELECT v.default_language_code, v.duration_seconds, v.import_status, s.sha256
           FROM videos v JOIN sources s ON s.library_id = v.library_id AND s.video_id = v.id
           WHERE v.library_id = $1 AND v.id = $2""",
        library_id,
        video_id,
    )
    if row is None or row["duration_seconds"] is None:
        return None
    return PlayedVideo(
        language=row["default_language_code"] or UNKNOWN_LANGUAGE,
        duration_seconds=row["duration_seconds"],
        is_ready=row["import_status"] == "ready",
        fingerprint=(row["sha256"] or b"").hex()[:16],
    )


async def wanted_tracks(
    connection: Connection, library_id: str, video_id: str, *, language: str, has_sound: bool
) -> list[TrackSource]:
    """The original, a sound for each dubbed language, a text for each that there are subtitles in."""
    wanted = []
    if has_sound:
        mix = video_path(library_id, video_id, "mix.mka")
        wanted.append(TrackSource("sound", ORIGINAL, language, mix, source=mix))
    for row in await connection.fetch(_DUBS, library_id, video_id):
        spoken, path = row["language"], row["audio_path"]
        if spoken != language:
            wanted.append(TrackSource("sound", spoken, spoken, path, source=path))
    for row in await connection.fetch(_TEXTS, library_id, video_id):
        path = subtitle_path(library_id, video_id, language=row["language"], format_="vtt")
        made = row["created_at"].isoformat()
        wanted.append(TrackSource("text", row["language"], row["language"], path, source=made))
    return wanted


async def tracks_of(connection: Connection, library_id: str, video_id: str) -> list[Track]:
    rows = await connection.fetch(
        """SELECT kind, name, language, packaged FROM playback_tracks WHERE library_id = $1 AND video_id = $2
           ORDER BY kind, created_at, name""",
        library_id,
        video_id,
    )
    return [Track(row["kind"], row["name"], row["language"], row["packaged"]) for row in rows]


async def sources_there(connection: Connection, library_id: str, video_id: str) -> dict[tuple[str, str], str]:
    """By kind and name: what each track that is there was made from."""
    rows = await connection.fetch(
        "SELECT kind, name, source FROM playback_tracks WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return {(row["kind"], row["name"]): row["source"] for row in rows}


async def put_track(
    connection: Connection,
    library_id: str,
    video_id: str,
    *,
    track: tuple[Kind, str, str | None],
    source: str,
    packaged: Packaged,
    now: datetime,
) -> None:
    kind, name, language = track
    await connection.execute(
        """INSERT INTO playback_tracks (library_id, video_id, kind, name, language, source, packaged, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (library_id, video_id, kind, name) DO UPDATE SET language = excluded.language,
               source = excluded.source, packaged = excluded.packaged""",
        library_id,
        video_id,
        kind,
        name,
        language,
        source,
        packaged.as_json(),
        now,
    )


async def name_original(connection: Connection, library_id: str, video_id: str, *, language: str) -> None:
    """Which language is spoken is often known only after the sound was packaged."""
    await connection.execute(
        """UPDATE playback_tracks SET language = $3
           WHERE library_id = $1 AND video_id = $2 AND kind = 'sound' AND name = $4""",
        library_id,
        video_id,
        language,
        ORIGINAL,
    )


async def show(connection: Connection, library_id: str, video_id: str, *, languages: Sequence[str]) -> None:
    """The video can be played, in these languages."""
    await connection.execute(
        "UPDATE videos SET playback_languages = $3 WHERE library_id = $1 AND id = $2",
        library_id,
        video_id,
        list(languages),
    )
