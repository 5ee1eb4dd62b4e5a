"""Where speakers are recognized, the voices to compare with, and what was recognized."""

import logging
from collections.abc import Sequence
from datetime import datetime

from cutroom.cast.exclusions import forget_exclusions, list_exclusions
from cutroom.cast.matching import CastVoice, RecognizedSpeaker
from cutroom.cast.rules import MAX_APPEARANCES
from cutroom.cast.schemas import CastRecognition, CastRecognitionState
from cutroom.cast.sealed_embeddings import unseal_embedding
from cutroom.library.folders import folders_around, require_folders, videos_inside
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

MAX_COMPARED = 20  # voice prints per member, the newest
_PRINTS = """SELECT member_id, name, id, sealed_embedding FROM (
        SELECT a.member_id, m.name, a.id, a.sealed_embedding,
            row_number() OVER (PARTITION BY a.member_id ORDER BY a.id DESC) AS position
        FROM cast_members m JOIN cast_appearances a ON a.library_id = m.library_id AND a.member_id = m.id
        WHERE m.library_id = $1 AND (m.folder_id IS NULL OR m.folder_id = ANY ($2::text[]))
          AND a.embedding_status = 'ready' AND a.engine = $3) AS prints
    WHERE position <= $4 ORDER BY member_id, id"""
_COLUMNS = "id, member_id, source, similarity, embedding_status, failure, engine, sealed_embedding, created_at"

_log = logging.getLogger(__name__)


async def get_recognition(connection: Connection, library_id: str) -> CastRecognitionState:
    rows = await connection.fetch("SELECT folder_id FROM cast_scopes WHERE library_id = $1 ORDER BY id", library_id)
    folder_ids = [row["folder_id"] for row in rows]
    return CastRecognitionState(
        recognize_speakers=None in folder_ids, folder_ids=[each for each in folder_ids if each is not None]
    )


async def set_recognition(
    connection: Connection, library_id: str, wanted: CastRecognition, *, now: datetime
) -> CastRecognitionState:
    """Erases the voice prints of videos in which speakers are no longer recognized."""
    folder_ids = list(dict.fromkeys(wanted.folder_ids))
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('cast ' || $1, 0))", library_id)
    await require_folders(connection, library_id, folder_ids)
    await connection.execute("DELETE FROM cast_scopes WHERE library_id = $1", library_id)
    for folder_id in [*([None] if wanted.recognize_speakers else []), *folder_ids]:
        row = {"library_id": library_id, "id": new_id(), "folder_id": folder_id, "created_at": now}
        await insert(connection, "cast_scopes", row)
    await erase_outside(connection, library_id)
    return await get_recognition(connection, library_id)


async def erase_outside(connection: Connection, library_id: str) -> None:
    """Erase the voice prints of videos in which speakers are not recognized, such as those that were moved."""
    state = await get_recognition(connection, library_id)
    if state.recognize_speakers:
        return
    rows = await connection.fetch(
        "SELECT DISTINCT video_id FROM cast_appearances WHERE library_id = $1 AND embedding_status <> 'none'",
        library_id,
    )
    video_ids = [row["video_id"] for row in rows]
    inside = await videos_inside(connection, library_id, state.folder_ids, video_ids)
    await connection.execute(
        """UPDATE cast_appearances SET embedding_status = 'none', failure = NULL, engine = NULL, sealed_embedding = NULL
           WHERE library_id = $1 AND embedding_status <> 'none' AND video_id = ANY ($2::text[])""",
        library_id,
        [each for each in video_ids if each not in inside],
    )


async def is_recognizing(connection: Connection, library_id: str, video_id: str) -> bool:
    """Whether the library has opted in for this video."""
    found: bool = await connection.fetchval(
        """SELECT EXISTS (SELECT FROM cast_scopes
                          WHERE library_id = $1 AND (folder_id IS NULL OR folder_id = ANY ($2::text[])))""",
        library_id,
        await folders_around(connection, library_id, video_id),
    )
    return found


async def load_cast(
    connection: Connection, library_id: str, video_id: str, *, engine: str, secret_box: SecretBox
) -> list[CastVoice]:
    """The members to compare the speakers of a video with; none where speakers are not recognized."""
    if not await is_recognizing(connection, library_id, video_id):
        return []
    await erase_outside(connection, library_id)
    folder_ids = await folders_around(connection, library_id, video_id)
    rows = await connection.fetch(_PRINTS, library_id, folder_ids, engine, MAX_COMPARED)
    cast: dict[str, CastVoice] = {}
    for row in rows:
        try:
            vector = unseal_embedding(secret_box, row["sealed_embedding"], appearance_id=row["id"])
        except ValueError:  # restored under another secret key
            _log.warning("voice print unreadable", extra={"member_id": row["member_id"]})
            continue
        known = cast.get(row["member_id"], CastVoice(row["member_id"], row["name"], ()))
        cast[row["member_id"]] = CastVoice(known.member_id, known.name, (*known.vectors, vector))
    return list(cast.values())


async def replace_recognized(
    connection: Connection, library_id: str, video_id: str, recognized: Sequence[RecognizedSpeaker], *, now: datetime
) -> None:
    """Store who was recognized in a new transcript, in place of who spoke in the one before.

    A confirmed speaker who is recognized again stays confirmed, with the voice print, under the new speaker id.
    """
    rows = await connection.fetch(
        f"""SELECT {_COLUMNS} FROM cast_appearances
            WHERE library_id = $1 AND video_id = $2 AND source = 'confirmed' ORDER BY id""",  # noqa: S608 (a constant)
        library_id,
        video_id,
    )
    confirmed = {row["member_id"]: dict(row) for row in rows}
    await connection.execute(
        "DELETE FROM cast_appearances WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    await forget_exclusions(connection, library_id, video_id)  # of other speakers, with ids that are used again
    for each in recognized:
        row = confirmed.get(each.member_id) or {
            "id": new_id(),
            "member_id": each.member_id,
            "source": "recognized",
            "similarity": each.similarity,
            "embedding_status": "none",
            "created_at": now,
        }
        await insert(
            connection,
            "cast_appearances",
            {**row, "library_id": library_id, "video_id": video_id, "speaker": each.speaker},
        )


async def add_recognized(
    connection: Connection, library_id: str, video_id: str, recognized: Sequence[RecognizedSpeaker], *, now: datetime
) -> list[RecognizedSpeaker]:
    """Store who was recognized in an existing transcript, whose row the caller has locked; return who was added.

    Speakers who are a member already stay as they are, and so do those of whom people have said that they are not.
    """
    known = await connection.fetch(
        "SELECT speaker, member_id FROM cast_appearances WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    speakers, members = {row["speaker"] for row in known}, {row["member_id"] for row in known}
    excluded = await list_exclusions(connection, library_id, video_id)
    counts = await connection.fetch(
        """SELECT member_id, count(*) AS appearances FROM cast_appearances
           WHERE library_id = $1 AND member_id = ANY ($2::text[]) GROUP BY member_id""",
        library_id,
        [each.member_id for each in recognized],
    )
    full = {row["member_id"] for row in counts if row["appearances"] >= MAX_APPEARANCES}
    added = [
        each
        for each in recognized
        if each.speaker not in speakers
        and each.member_id not in members | full
        and (each.speaker, each.member_id) not in excluded
    ]
    for each in added:
        row = {
            "library_id": library_id,
            "id": new_id(),
            "member_id": each.member_id,
            "video_id": video_id,
            "speaker": each.speaker,
            "source": "recognized",
            "similarity": each.similarity,
            "embedding_status": "none",
            "created_at": now,
        }
        await insert(connection, "cast_appearances", row)
    return added
