"""Playback state: the per-video lease, expected tracks, and packaged tracks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cutroom.library.rules import video_path
from cutroom.library.videos import set_playback_languages
from cutroom.media.packager import PackagedTrack
from cutroom.platform.db import Connection
from cutroom.products.playback.manifests import ManifestTrack, TrackKind
from cutroom.products.transcripts.editing.revisions import find_subtitles
from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE, subtitle_path

LEASE_TIMEOUT = timedelta(days=1)  # a lease without updates for this long has expired
MAX_ERROR = 500
ORIGINAL = "original"  # name of the source's audio track, whose language may be detected later
_CUT = "#cut="  # separates a source from the name of the cuts
_LOCK_ROW = (
    "SELECT revision, lease_holder, updated_at FROM playbacks WHERE library_id = $1 AND video_id = $2 FOR UPDATE"
)
_DUBS = """SELECT DISTINCT ON (d.language) d.language, d.audio_path FROM published_dubs d
    WHERE d.library_id = $1 AND d.video_id = $2 AND d.completion = 'complete' AND d.audio_path IS NOT NULL
    ORDER BY d.language, d.product = 'premium' DESC"""
_CAPTIONS = """SELECT language, created_at FROM published_captions
    WHERE library_id = $1 AND video_id = $2 AND jsonb_array_length(segments) > 0"""
# All versions of a dub are stored in one directory.
_DUBBED_OR_TEXT_TRACKS = """SELECT t.kind, t.name, t.language, t.source, t.packaged ->> 'name' AS folder, EXISTS (
        SELECT FROM published_dubs d WHERE d.library_id = t.library_id AND d.video_id = t.video_id
            AND d.language = t.name AND starts_with(t.source, regexp_replace(d.audio_path, '[^/]+$', ''))) AS has_dub
    FROM playback_tracks t
    WHERE t.library_id = $1 AND t.video_id = $2 AND (t.kind = 'text' OR (t.kind = 'audio' AND t.name <> $3))"""


def playback_path(library_id: str, video_id: str, name: str) -> str:
    return video_path(library_id, video_id, f"playback/{name}")


@dataclass(frozen=True, slots=True)
class TrackSource:
    """An audio or subtitle track that playback should have; `source` changes whenever the track is made again."""

    kind: TrackKind
    name: str
    language: str
    path: str
    source: str
    cut: str | None = None  # names the cuts of the stream

    def with_cut(self, cut: str | None) -> "TrackSource":
        """The track with the times of a cut stream."""
        return self if cut is None else replace(self, source=f"{self.source}{_CUT}{cut}", cut=cut)


@dataclass(frozen=True, slots=True)
class ObsoleteTrack:
    """A packaged track of a deleted dub or of deleted captions."""

    kind: TrackKind
    name: str
    language: str | None
    folder: str


@dataclass(frozen=True, slots=True)
class PlaybackVideo:
    """A video's properties as far as playback needs them."""

    language: str
    duration_seconds: float
    is_ready: bool
    fingerprint: str  # of the source file


async def acquire_lease(
    connection: Connection, library_id: str, video_id: str, *, lease_holder: str, now: datetime
) -> int | None:
    """Acquires the per-video lease and returns its revision; returns None if another run holds it."""
    await connection.execute(
        """INSERT INTO playbacks (library_id, video_id, state, revision, updated_at)
           VALUES ($1, $2, 'processing', 0, $3) ON CONFLICT DO NOTHING""",
        library_id,
        video_id,
        now,
    )
    row = await connection.fetchrow(_LOCK_ROW, library_id, video_id)
    assert row is not None
    if row["lease_holder"] == lease_holder:  # a retry
        return int(row["revision"])
    is_held = row["lease_holder"] is not None and row["updated_at"] > now - LEASE_TIMEOUT
    revision: int | None = await connection.fetchval(
        """UPDATE playbacks SET revision = revision + 1, lease_holder = CASE WHEN $3 THEN lease_holder ELSE $4 END,
               updated_at = $5
           WHERE library_id = $1 AND video_id = $2 RETURNING CASE WHEN $3 THEN NULL ELSE revision END""",
        library_id,
        video_id,
        is_held,
        lease_holder,
        now,
    )
    return revision


async def release_lease(
    connection: Connection, library_id: str, video_id: str, *, lease_holder: str, revision: int, now: datetime
) -> int | None:
    """Releases the lease, unless the revision has changed; then returns the new one."""
    row = await connection.fetchrow(_LOCK_ROW, library_id, video_id)
    assert row is not None
    if row["lease_holder"] != lease_holder:
        return None
    if row["revision"] != revision:
        return int(row["revision"])
    await _finish(connection, library_id, video_id, state="ready", error=None, now=now)
    return None


async def fail_playback(
    connection: Connection, library_id: str, video_id: str, *, lease_holder: str, error: str, now: datetime
) -> None:
    row = await connection.fetchrow(_LOCK_ROW, library_id, video_id)
    if row is not None and row["lease_holder"] == lease_holder:
        await _finish(connection, library_id, video_id, state="failed", error=error[:MAX_ERROR], now=now)


async def _finish(
    connection: Connection, library_id: str, video_id: str, *, state: str, error: str | None, now: datetime
) -> None:
    await connection.execute(
        """UPDATE playbacks SET lease_holder = NULL, state = $3, error = $4, updated_at = $5
           WHERE library_id = $1 AND video_id = $2""",
        library_id,
        video_id,
        state,
        error,
        now,
    )


async def load_playback_video(connection: Connection, library_id: str, video_id: str) -> PlaybackVideo | None:
    row = await connection.fetchrow(
        """SELECT v.default_language_code, v.duration_seconds, v.import_status, s.sha256
           FROM videos v JOIN published_sources s ON s.library_id = v.library_id AND s.video_id = v.id
           WHERE v.library_id = $1 AND v.id = $2""",
        library_id,
        video_id,
    )
    if row is None or row["duration_seconds"] is None:
        return None
    return PlaybackVideo(
        language=row["default_language_code"] or UNKNOWN_LANGUAGE,
        duration_seconds=row["duration_seconds"],
        is_ready=row["import_status"] == "ready",
        fingerprint=(row["sha256"] or b"").hex()[:16],
    )


async def expected_tracks(
    connection: Connection, library_id: str, video_id: str, *, language: str, has_audio: bool
) -> list[TrackSource]:
    """The original audio, one track per dubbed language, and one per subtitle language."""
    expected = []
    if has_audio:
        mix = video_path(library_id, video_id, "mix.mka")
        expected.append(TrackSource("audio", ORIGINAL, language, mix, source=mix))
    for row in await connection.fetch(_DUBS, library_id, video_id):
        dub_language, path = row["language"], row["audio_path"]
        if dub_language != language:
            expected.append(TrackSource("audio", dub_language, dub_language, path, source=path))
    spoken = await find_subtitles(connection, library_id, video_id)
    translated = await connection.fetch(_CAPTIONS, library_id, video_id)
    subtitles = [spoken] if spoken is not None else []
    subtitles += [(row["language"], row["created_at"].isoformat()) for row in translated]
    for subtitle_language, version in subtitles:
        path = subtitle_path(library_id, video_id, language=subtitle_language, format_="vtt")
        expected.append(TrackSource("text", subtitle_language, subtitle_language, path, source=version))
    return expected


async def list_tracks(connection: Connection, library_id: str, video_id: str) -> list[ManifestTrack]:
    rows = await connection.fetch(
        """SELECT kind, name, language, packaged FROM playback_tracks WHERE library_id = $1 AND video_id = $2
           ORDER BY kind, created_at, name""",
        library_id,
        video_id,
    )
    return [ManifestTrack(row["kind"], row["name"], row["language"], row["packaged"]) for row in rows]


async def obsolete_tracks(
    connection: Connection, library_id: str, video_id: str, *, expected: Sequence[TrackSource]
) -> list[ObsoleteTrack]:
    """Tracks of deleted dubs and captions. A dub that is being made again keeps its track meanwhile, and so does
    a track that is only cut in other places.
    """
    current = {(each.name, _uncut(each.source)) for each in expected if each.kind == "text"}
    rows = await connection.fetch(_DUBBED_OR_TEXT_TRACKS, library_id, video_id, ORIGINAL)
    return [
        ObsoleteTrack(row["kind"], row["name"], row["language"], row["folder"])
        for row in rows
        if not (row["has_dub"] if row["kind"] == "audio" else (row["name"], _uncut(row["source"])) in current)
    ]


def _uncut(source: str) -> str:
    return source.partition(_CUT)[0]


async def delete_tracks(
    connection: Connection, library_id: str, video_id: str, *, tracks: Sequence[ObsoleteTrack]
) -> None:
    """Delete tracks, unless they have been packaged again meanwhile."""
    for each in tracks:
        await connection.execute(
            """DELETE FROM playback_tracks
               WHERE library_id = $1 AND video_id = $2 AND kind = $3 AND name = $4 AND packaged ->> 'name' = $5""",
            library_id,
            video_id,
            each.kind,
            each.name,
            each.folder,
        )


async def track_sources(connection: Connection, library_id: str, video_id: str) -> dict[tuple[str, str], str]:
    """The source of each existing track, by kind and name."""
    rows = await connection.fetch(
        "SELECT kind, name, source FROM playback_tracks WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return {(row["kind"], row["name"]): row["source"] for row in rows}


async def save_track(
    connection: Connection,
    library_id: str,
    video_id: str,
    *,
    track: tuple[TrackKind, str, str | None],
    source: str,
    packaged: PackagedTrack,
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


async def set_original_language(connection: Connection, library_id: str, video_id: str, *, language: str) -> None:
    """Updates the original track's language, which is often detected only after packaging."""
    await connection.execute(
        """UPDATE playback_tracks SET language = $3
           WHERE library_id = $1 AND video_id = $2 AND kind = 'audio' AND name = $4""",
        library_id,
        video_id,
        language,
        ORIGINAL,
    )


async def delete_outputs(connection: Connection, library_id: str, video_id: str, now: datetime) -> None:
    """Removes the stream of a video; the next finished dub or caption packages it again."""
    await connection.execute(
        "DELETE FROM playback_tracks WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    await connection.execute("DELETE FROM playbacks WHERE library_id = $1 AND video_id = $2", library_id, video_id)
    await set_playback_languages(connection, library_id, video_id, languages=None, now=now)
