"""Speakers of videos who are members of the cast, and their voice prints."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import asyncpg

from cutroom.cast.exclusions import allow_member, exclude_member
from cutroom.cast.recognition import is_recognizing
from cutroom.cast.rules import MAX_APPEARANCES, voice_for
from cutroom.cast.schemas import CastAppearance
from cutroom.cast.sealed_embeddings import seal_embedding
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection, insert, update
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

_COLUMNS = "id, member_id, video_id, speaker, source, similarity, embedding_status, failure, created_at"


@dataclass(frozen=True, slots=True)
class ConfirmedSpeaker:
    """An appearance that people have set, and the id of its row."""

    id: str
    appearance: CastAppearance


@dataclass(frozen=True, slots=True)
class PendingEmbedding:
    """A confirmed speaker whose voice print has to be made."""

    video_id: str
    speaker: str


async def list_appearances(
    connection: Connection, library_id: str, member_id: str, *, limit: int, before: str | None
) -> tuple[list[CastAppearance], str | None]:
    """A page of the videos in which a member speaks, newest first, and the id to continue after if there are more."""
    rows = await connection.fetch(
        f"""SELECT {_COLUMNS} FROM cast_appearances
            WHERE library_id = $1 AND member_id = $2 AND ($3::text IS NULL OR id < $3)
            ORDER BY id DESC LIMIT $4""",  # noqa: S608 (a constant)
        library_id,
        member_id,
        before,
        limit + 1,
    )
    return [_appearance(row) for row in rows[:limit]], rows[limit - 1]["id"] if len(rows) > limit else None


def _appearance(row: asyncpg.Record) -> CastAppearance:
    columns = {name: value for name, value in row.items() if name not in {"id", "member_id", "speaker"}}
    return CastAppearance(**columns, speaker_id=row["speaker"])


async def confirm_speaker(
    connection: Connection, library_id: str, member_id: str, video_id: str, *, speaker: str, now: datetime
) -> ConfirmedSpeaker:
    """Record that a speaker of a transcript is this member, in place of any other member.

    Where speakers are recognized, the voice print is pending afterwards. A print that exists or is being made stays.
    """
    await _lock_member(connection, library_id, member_id)
    await allow_member(connection, library_id, member_id, video_id, speaker=speaker)
    is_opted_in = await is_recognizing(connection, library_id, video_id)
    existing = await _find(connection, library_id, video_id, speaker)
    if existing is not None:
        states = {"pending", "ready"} if is_opted_in else {"none"}
        is_same = existing["member_id"] == member_id and existing["source"] == "confirmed"
        if is_same and existing["embedding_status"] in states:
            return ConfirmedSpeaker(existing["id"], _appearance(existing))
        if existing["member_id"] != member_id:
            await exclude_member(connection, library_id, existing["member_id"], video_id, speaker=speaker, now=now)
        await _delete(connection, library_id, video_id, speaker)
    row = {
        "library_id": library_id,
        "id": new_id(),
        "member_id": member_id,
        "video_id": video_id,
        "speaker": speaker,
        "source": "confirmed",
        "embedding_status": "pending" if is_opted_in else "none",
        "created_at": now,
    }
    await insert(connection, "cast_appearances", row)
    stored = await _find(connection, library_id, video_id, speaker)
    assert stored is not None
    return ConfirmedSpeaker(stored["id"], _appearance(stored))


async def _find(connection: Connection, library_id: str, video_id: str, speaker: str) -> asyncpg.Record | None:
    return await connection.fetchrow(
        f"""SELECT {_COLUMNS} FROM cast_appearances
            WHERE library_id = $1 AND video_id = $2 AND speaker = $3 FOR UPDATE""",  # noqa: S608 (a constant)
        library_id,
        video_id,
        speaker,
    )


async def _delete(connection: Connection, library_id: str, video_id: str, speaker: str) -> None:
    await connection.execute(
        "DELETE FROM cast_appearances WHERE library_id = $1 AND video_id = $2 AND speaker = $3",
        library_id,
        video_id,
        speaker,
    )


async def _lock_member(connection: Connection, library_id: str, member_id: str) -> None:
    """Raise NOT_FOUND without such a member, and FAILED_PRECONDITION if there is no room for another appearance."""
    found = await connection.fetchval(
        "SELECT id FROM cast_members WHERE library_id = $1 AND id = $2 FOR UPDATE", library_id, member_id
    )
    if found is None:
        raise not_found()
    count = await connection.fetchval(
        "SELECT count(*) FROM cast_appearances WHERE library_id = $1 AND member_id = $2", library_id, member_id
    )
    if count >= MAX_APPEARANCES:
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message=f"A member of the cast has at most {MAX_APPEARANCES:,} appearances.",
            details={"reason": "quota", "limit": MAX_APPEARANCES},
        )


async def delete_appearance(
    connection: Connection, library_id: str, member_id: str, video_id: str, *, speaker: str, now: datetime
) -> CastAppearance:
    """The voice print made from it is erased as well, and the speaker is not recognized as this member again.

    Raises NOT_FOUND if the speaker is not this member.
    """
    existing = await _find(connection, library_id, video_id, speaker)
    if existing is None or existing["member_id"] != member_id:
        raise not_found()
    await exclude_member(connection, library_id, member_id, video_id, speaker=speaker, now=now)
    await _delete(connection, library_id, video_id, speaker)
    return _appearance(existing)


async def pending_embedding(connection: Connection, library_id: str, appearance_id: str) -> PendingEmbedding | None:
    """None if it is no longer wanted."""
    row = await connection.fetchrow(
        """SELECT video_id, speaker FROM cast_appearances
           WHERE library_id = $1 AND id = $2 AND embedding_status = 'pending'""",
        library_id,
        appearance_id,
    )
    return PendingEmbedding(row["video_id"], row["speaker"]) if row is not None else None


async def save_embedding(
    connection: Connection,
    library_id: str,
    appearance_id: str,
    vector: "Vector",
    *,
    engine: str,
    secret_box: SecretBox,
) -> None:
    """Store the voice print of a confirmed speaker, unless it is no longer wanted."""
    if await pending_embedding(connection, library_id, appearance_id) is None:
        return
    sealed = seal_embedding(secret_box, vector, appearance_id=appearance_id)
    columns = {"embedding_status": "ready", "failure": None, "engine": engine, "sealed_embedding": sealed}
    await update(connection, "cast_appearances", library_id, appearance_id, columns=columns)


async def fail_embedding(connection: Connection, library_id: str, appearance_id: str, *, reason: str) -> None:
    """Record why a voice print could not be made."""
    await connection.execute(
        """UPDATE cast_appearances SET embedding_status = 'failed', failure = $3
           WHERE library_id = $1 AND id = $2 AND embedding_status = 'pending'""",
        library_id,
        appearance_id,
        reason,
    )


async def members_of(connection: Connection, library_id: str, video_id: str) -> Mapping[str, str]:
    """The id of the member by speaker, for the speakers of a video who are known."""
    rows = await connection.fetch(
        "SELECT speaker, member_id FROM cast_appearances WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return {row["speaker"]: row["member_id"] for row in rows}


async def voices_of(connection: Connection, library_id: str, video_id: str, *, language: str) -> Mapping[str, str]:
    """The id of the voice by speaker, for the speakers of a video who have one in this language."""
    rows = await connection.fetch(
        """SELECT a.speaker, m.voices FROM cast_appearances a
           JOIN cast_members m ON m.library_id = a.library_id AND m.id = a.member_id
           WHERE a.library_id = $1 AND a.video_id = $2""",
        library_id,
        video_id,
    )
    found = {row["speaker"]: voice_for(row["voices"], language) for row in rows}
    return {speaker: voice for speaker, voice in found.items() if voice is not None}
