"""Reads and stores caption tracks with what their segments were made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.engines.translation.port import Quality
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import JobKey, JobType
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.products.captions.editing.segments import CaptionSegment, has_sources, in_order, match_by_times
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.products.transcripts.editing.revisions import TranscriptState, find_state, read_document, revision_at
from cutroom.webhooks.publishing import publish_event

PUBLISH_WORKFLOW = "publish-captions"
_TRACK = """SELECT segments, quality, revision, published_revision, created_at, previous, regenerated
    FROM captions WHERE library_id = $1 AND video_id = $2 AND language = $3"""
_LOCK_TRACK = f"{_TRACK} FOR UPDATE"
_UNFINISHED = """SELECT id FROM jobs WHERE library_id = $1 AND video_id = $2 AND type = 'captions' AND language = $3
    AND status IN ('queued', 'processing') LIMIT 1"""


@dataclass(frozen=True, slots=True)
class TrackRef:
    """Identifies a revision of a caption track that is published."""

    library_id: str
    video_id: str
    language: str
    revision: int


@dataclass(frozen=True, slots=True)
class StoredCaptions:
    """A stored track."""

    segments: Sequence[CaptionSegment]
    quality: Quality
    revision: int
    published_revision: int
    previous: Mapping[str, CaptionSegment | None]  # what the last change by hand replaced
    regenerated: Mapping[str, Any] | None

    @property
    def by_id(self) -> dict[str, CaptionSegment]:
        return {each.id: each for each in self.segments}


@dataclass(frozen=True, slots=True)
class CurrentTranscript:
    """One revision of the transcript that a track is compared to, without deleted segments."""

    revision: int
    language: str
    segments: tuple[DocumentSegment, ...]


async def find_track(
    connection: Connection, library_id: str, video_id: str, language: str, *, lock: bool = False
) -> StoredCaptions | None:
    """The stored track; with `lock`, it does not change before the transaction ends."""
    row = await connection.fetchrow(_LOCK_TRACK if lock else _TRACK, library_id, video_id, language)
    if row is None:
        return None
    rows = row["segments"]
    if has_sources(rows):
        segments = [CaptionSegment.from_row(each) for each in rows]
    else:
        segments = await _matched(connection, library_id, video_id, language, row)
    return StoredCaptions(
        segments,
        Quality(row["quality"]),
        row["revision"],
        row["published_revision"],
        {each["id"]: CaptionSegment.from_row(each["row"]) if each["row"] else None for each in row["previous"]},
        row["regenerated"],
    )


async def _matched(
    connection: Connection, library_id: str, video_id: str, language: str, row: asyncpg.Record
) -> list[CaptionSegment]:
    """The segments of 0.1.0, matched to the revision of the transcript that was current when they were made."""
    state = await find_state(connection, library_id, video_id)
    if state is None:
        return match_by_times(row["segments"], (), revision=0, is_certain=False)
    started_at: datetime | None = await connection.fetchval(
        "SELECT started_at FROM jobs WHERE library_id = $1 AND id = $2",
        library_id,
        JobKey(JobType.CAPTIONS, video_id, language=language).id,
    )
    revision = await revision_at(connection, library_id, video_id, row["created_at"])
    before = revision if started_at is None else await revision_at(connection, library_id, video_id, started_at)
    try:
        made_from = await read_document(connection, library_id, video_id, state, revision)
    except CutroomError as error:
        if error.code != Code.NOT_FOUND:
            raise
        current = await read_document(connection, library_id, video_id, state)
        return match_by_times(row["segments"], current.kept, revision=state.revision, is_certain=False)
    # An edit while the captions were made may be in them or not.
    return match_by_times(row["segments"], made_from.kept, revision=revision, is_certain=before == revision)


async def find_unfinished(connection: Connection, library_id: str, video_id: str, language: str) -> str | None:
    """The job that makes or changes captions of a language now."""
    found: str | None = await connection.fetchval(_UNFINISHED, library_id, video_id, language)
    return found


async def read_transcript(
    connection: Connection, library_id: str, video_id: str, state: TranscriptState, revision: int | None = None
) -> CurrentTranscript:
    """A revision of the transcript, by default the current one; raises NOT_FOUND for one that is not kept."""
    document = await read_document(connection, library_id, video_id, state, revision)
    return CurrentTranscript(revision or state.revision, state.language, document.kept)


async def save_edit(
    connection: Connection,
    ref: TrackRef,
    segments: Sequence[CaptionSegment],
    *,
    previous: Mapping[str, CaptionSegment | None],
) -> None:
    """Store a change by hand of a locked track."""
    await connection.execute(
        """UPDATE captions SET segments = $4, revision = $5, previous = $6
           WHERE library_id = $1 AND video_id = $2 AND language = $3""",
        ref.library_id,
        ref.video_id,
        ref.language,
        [each.to_row() for each in in_order(segments)],
        ref.revision,
        [{"id": id_, "row": segment.to_row() if segment else None} for id_, segment in previous.items()],
    )


async def save_regeneration(
    connection: Connection,
    ref: TrackRef,
    segments: Sequence[CaptionSegment],
    *,
    quality: Quality,
    regenerated: Mapping[str, Any],
    now: datetime,
) -> None:
    """Store a regenerated track, whose row is locked and whose files are stored already."""
    await connection.execute(
        """UPDATE captions SET segments = $4, revision = $5, quality = $6, regenerated = $7, previous = '[]',
               published_revision = $5, published_at = $8
           WHERE library_id = $1 AND video_id = $2 AND language = $3""",
        ref.library_id,
        ref.video_id,
        ref.language,
        [each.to_row() for each in in_order(segments)],
        ref.revision,
        quality.value,
        dict(regenerated),
        now,
    )


async def count_tracks(connection: Connection, library_id: str, video_id: str) -> int:
    """In how many languages a video has captions."""
    found: int = await connection.fetchval(
        "SELECT count(*) FROM captions WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return found


async def add_imported(
    connection: Connection, ref: TrackRef, segments: Sequence[CaptionSegment], *, quality: Quality, now: datetime
) -> None:
    """Store captions that were not translated here, and have no subtitle files yet."""
    await connection.execute(
        """INSERT INTO captions (library_id, video_id, language, segments, quality, created_at, revision,
               published_revision)
           VALUES ($1, $2, $3, $4, $5, $6, $7, 0)""",
        ref.library_id,
        ref.video_id,
        ref.language,
        [each.to_row() for each in in_order(segments)],
        quality.value,
        now,
        ref.revision,
    )


async def mark_published(connection: Connection, ref: TrackRef, *, now: datetime) -> None:
    """Record that the files of a locked track have this revision."""
    await connection.execute(
        """UPDATE captions SET published_revision = $4, published_at = $5
           WHERE library_id = $1 AND video_id = $2 AND language = $3""",
        ref.library_id,
        ref.video_id,
        ref.language,
        ref.revision,
        now,
    )


async def publish_edited(
    connection: Connection, ref: TrackRef, *, kind: str, changed_segments: int, now: datetime
) -> None:
    """Publish `captions.edited`, without texts."""
    data = {
        "videoId": ref.video_id,
        "language": ref.language,
        "revision": ref.revision,
        "kind": kind,
        "changedSegments": changed_segments,
    }
    await publish_event(connection, ref.library_id, type="captions.edited", data=data, now=now)


async def start_publication(connection: Connection, ref: TrackRef) -> None:
    """Store the subtitle files of a revision in the background."""
    argument = {
        "library_id": ref.library_id,
        "video_id": ref.video_id,
        "language": ref.language,
        "revision": ref.revision,
    }
    # Captions that were deleted and made again have the same revisions: only an id of its own is unique.
    workflow_id = f"{PUBLISH_WORKFLOW}_{new_id()}"
    await enqueue(connection, WorkflowStart(ref.library_id, PUBLISH_WORKFLOW, workflow_id, argument))
