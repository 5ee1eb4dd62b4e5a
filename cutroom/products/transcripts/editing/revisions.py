"""Stores the revisions of transcripts, and reads the document of any of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.errors import not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.products.transcripts.document import TranscriptDocument, document_of
from cutroom.products.transcripts.editing.differences import Difference, apply_difference, revert_difference
from cutroom.products.transcripts.editing.history import HistoryLinks, RevisionKind

FIRST = 1  # the revision of a transcript that was never edited; it has no row
MAX_REVISIONS = 10_000  # kept of one transcript
MAX_HISTORY_BYTES = 64 * 2**20  # of their differences
PRUNED_EVERY = 50  # revisions between checks of the bounds
READ_AT_ONCE = 50  # differences
ENGINE = "engine"

_STATE = """SELECT language, segments, speakers, alignment_path, engine, created_at, revision, recognized_revision,
        published_revision
    FROM transcripts WHERE library_id = $1 AND video_id = $2"""
_COLUMNS = """id, revision, kind, actor_kind, user_id, created_at, summary, restored_from"""
_DIFFERENCES = """SELECT revision, splices, labels FROM transcript_revisions
    WHERE library_id = $1 AND video_id = $2 AND revision > $3 AND revision <= $4 ORDER BY revision {order} LIMIT $5"""
_DIFFERENCES_UP, _DIFFERENCES_DOWN = _DIFFERENCES.format(order=""), _DIFFERENCES.format(order="DESC")
_PRUNE = """
DELETE FROM transcript_revisions WHERE library_id = $1 AND video_id = $2 AND revision <= $5 AND revision <= (
    SELECT max(revision) FROM (
        SELECT revision, sum(size_bytes) OVER newest AS bytes, row_number() OVER newest AS number
          FROM transcript_revisions WHERE library_id = $1 AND video_id = $2
        WINDOW newest AS (ORDER BY revision DESC)) kept
     WHERE kept.bytes > $4 OR kept.number > $3)
"""


@dataclass(frozen=True, slots=True)
class TranscriptState:
    """A stored transcript: what was published last, and the numbers of its revisions."""

    language: str
    segments: Sequence[Mapping[str, Any]]
    speakers: Sequence[Mapping[str, Any]]
    alignment_path: str
    engine: str
    created_at: datetime
    revision: int
    recognized_revision: int
    published_revision: int

    @property
    def published(self) -> TranscriptDocument:
        return document_of(self.segments, self.speakers)


@dataclass(frozen=True, slots=True)
class RevisionAuthor:
    """Who made a revision; an engine is no user."""

    actor_kind: str = ENGINE
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A revision without its content."""

    revision: int
    kind: RevisionKind
    author: RevisionAuthor
    created_at: datetime
    summary: Mapping[str, int]
    restored_from: int | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class NewRevision:
    """A revision to store."""

    kind: RevisionKind
    author: RevisionAuthor
    difference: Difference
    links: HistoryLinks
    summary: Mapping[str, int]
    restored_from: int | None = None


async def find_state(
    connection: Connection, library_id: str, video_id: str, *, lock: bool = False
) -> TranscriptState | None:
    """The stored transcript; with `lock`, it does not change before the transaction ends."""
    row = await connection.fetchrow(f"{_STATE} FOR UPDATE" if lock else _STATE, library_id, video_id)
    return TranscriptState(**dict(row)) if row is not None else None


async def read_document(
    connection: Connection, library_id: str, video_id: str, state: TranscriptState, revision: int | None = None
) -> TranscriptDocument:
    """The document of a revision, by default of the current one; raises NOT_FOUND for one that is not kept."""
    wanted = state.revision if revision is None else revision
    if wanted > state.revision:
        raise not_found()
    document, low, high = state.published, *sorted((wanted, state.published_revision))
    is_later = wanted >= state.published_revision
    query = _DIFFERENCES_UP if is_later else _DIFFERENCES_DOWN
    while low < high:
        # A few at a time: a difference may be as large as the transcript.
        rows = await connection.fetch(query, library_id, video_id, low, high, READ_AT_ONCE)
        if [row["revision"] for row in rows] != _expected(low, high, is_later=is_later):
            raise not_found()
        for row in rows:
            difference = Difference.from_columns(dict(row))
            document = apply_difference(document, difference) if is_later else revert_difference(document, difference)
        low, high = (low + len(rows), high) if is_later else (low, high - len(rows))
    return document


def _expected(low: int, high: int, *, is_later: bool) -> list[int]:
    """The revisions that a page of differences has if none of them was pruned."""
    if is_later:
        return list(range(low + 1, min(low + READ_AT_ONCE, high) + 1))
    return list(range(high, max(high - READ_AT_ONCE, low), -1))


async def find_subtitles(connection: Connection, library_id: str, video_id: str) -> tuple[str, str] | None:
    """The language of the subtitle files of a transcript, and what changes whenever they are stored again."""
    row = await connection.fetchrow(
        """SELECT language, created_at, published_revision, recognized_revision FROM transcripts
            WHERE library_id = $1 AND video_id = $2 AND jsonb_array_length(segments) > 0""",
        library_id,
        video_id,
    )
    if row is None:
        return None
    version = row["created_at"].isoformat()
    if row["published_revision"] > row["recognized_revision"]:
        version = f"{version} revision {row['published_revision']}"
    return row["language"], version


async def revision_at(connection: Connection, library_id: str, video_id: str, at: datetime) -> int:
    """The revision that was the current one at a time."""
    found: int | None = await connection.fetchval(
        "SELECT max(revision) FROM transcript_revisions WHERE library_id = $1 AND video_id = $2 AND created_at <= $3",
        library_id,
        video_id,
        at,
    )
    return found if found is not None else FIRST


async def add_revision(
    connection: Connection, library_id: str, video_id: str, state: TranscriptState, new: NewRevision, *, now: datetime
) -> int:
    """Store a revision after the current one, whose row the caller has locked; return its number."""
    revision = state.revision + 1
    difference = new.difference.to_columns()
    row = {
        "library_id": library_id,
        "video_id": video_id,
        "revision": revision,
        "id": new_id(now.timestamp()),
        "kind": new.kind.value,
        "actor_kind": new.author.actor_kind,
        "user_id": new.author.user_id,
        "created_at": now,
        "summary": dict(new.summary),
        **difference,
        "size_bytes": len(json.dumps(difference, ensure_ascii=False).encode()),
        "undo_to": new.links.undo_to,
        "redo_to": new.links.redo_to,
        "restored_from": new.restored_from,
    }
    await insert(connection, "transcript_revisions", row)
    await connection.execute(
        "UPDATE transcripts SET revision = $3 WHERE library_id = $1 AND video_id = $2", library_id, video_id, revision
    )
    if revision % PRUNED_EVERY == 0:
        bounds = (MAX_REVISIONS, MAX_HISTORY_BYTES, state.published_revision)
        await connection.execute(_PRUNE, library_id, video_id, *bounds)
    return revision


async def list_revisions(
    connection: Connection, library_id: str, video_id: str, *, limit: int, before_id: str | None
) -> list[StoredRevision]:
    """Stored revisions, newest first, after the one with this id."""
    rows = await connection.fetch(
        f"""SELECT {_COLUMNS} FROM transcript_revisions WHERE library_id = $1 AND video_id = $2
              AND ($4::text IS NULL OR revision < (SELECT revision FROM transcript_revisions
                   WHERE library_id = $1 AND video_id = $2 AND id = $4))
            ORDER BY revision DESC LIMIT $3""",  # noqa: S608 (constants)
        library_id,
        video_id,
        limit,
        before_id,
    )
    return [_stored(row) for row in rows]


async def find_revision(
    connection: Connection, library_id: str, video_id: str, state: TranscriptState, revision: int
) -> StoredRevision:
    """A revision without its content; raises NOT_FOUND for one that is not kept."""
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS} FROM transcript_revisions WHERE library_id = $1 AND video_id = $2 AND revision = $3",  # noqa: S608
        library_id,
        video_id,
        revision,
    )
    if row is not None:
        return _stored(row)
    if revision != FIRST:
        raise not_found()
    return first_revision(state)


def first_revision(state: TranscriptState) -> StoredRevision:
    """The first recognition, which is not stored as a difference."""
    return StoredRevision(FIRST, RevisionKind.RECOGNITION, RevisionAuthor(), state.created_at, {})


async def read_links(
    connection: Connection, library_id: str, video_id: str, state: TranscriptState
) -> dict[int, HistoryLinks]:
    """The links of the current revision and of those that undo and redo lead to."""
    rows = await connection.fetch(
        """WITH current AS (SELECT undo_to, redo_to FROM transcript_revisions
                             WHERE library_id = $1 AND video_id = $2 AND revision = $3)
           SELECT r.revision, r.undo_to, r.redo_to FROM transcript_revisions r
            WHERE r.library_id = $1 AND r.video_id = $2
              AND (r.revision = $3 OR r.revision IN (SELECT undo_to FROM current)
                   OR r.revision IN (SELECT redo_to FROM current))""",
        library_id,
        video_id,
        state.revision,
    )
    oldest: int | None = await connection.fetchval(
        "SELECT min(revision) - 1 FROM transcript_revisions WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
    )
    # The oldest difference leads back to one more revision, of which nothing else is known.
    links = {oldest if oldest is not None else state.revision: HistoryLinks()}
    return links | {row["revision"]: HistoryLinks(row["undo_to"], row["redo_to"]) for row in rows}


async def publish(
    connection: Connection,
    library_id: str,
    video_id: str,
    *,
    revision: int,
    segments: Sequence[Mapping[str, Any]],
    speakers: Sequence[Mapping[str, Any]],
    alignment_path: str,
) -> None:
    """Make a revision the base of later ones, with its words."""
    await connection.execute(
        """UPDATE transcripts SET segments = $4, speakers = $5, alignment_path = $6, published_revision = $3
           WHERE library_id = $1 AND video_id = $2""",
        library_id,
        video_id,
        revision,
        list(segments),
        list(speakers),
        alignment_path,
    )


def _stored(row: asyncpg.Record) -> StoredRevision:
    return StoredRevision(
        row["revision"],
        RevisionKind(row["kind"]),
        RevisionAuthor(row["actor_kind"], row["user_id"]),
        row["created_at"],
        row["summary"],
        row["restored_from"],
        row["id"],
    )
