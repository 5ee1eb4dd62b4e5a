"""Speakers of videos whom people have said are not a member of the cast: they are not recognized as this member."""

from datetime import datetime

from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id


async def exclude_member(
    connection: Connection, library_id: str, member_id: str, video_id: str, *, speaker: str, now: datetime
) -> None:
    await connection.execute(
        """INSERT INTO cast_exclusions (library_id, id, member_id, video_id, speaker, created_at)
           VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING""",
        library_id,
        new_id(),
        member_id,
        video_id,
        speaker,
        now,
    )


async def allow_member(connection: Connection, library_id: str, member_id: str, video_id: str, *, speaker: str) -> None:
    await connection.execute(
        """DELETE FROM cast_exclusions
           WHERE library_id = $1 AND member_id = $2 AND video_id = $3 AND speaker = $4""",
        library_id,
        member_id,
        video_id,
        speaker,
    )


async def list_exclusions(connection: Connection, library_id: str, video_id: str) -> set[tuple[str, str]]:
    """Pairs of a speaker and the id of a member."""
    rows = await connection.fetch(
        "SELECT speaker, member_id FROM cast_exclusions WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return {(row["speaker"], row["member_id"]) for row in rows}


async def forget_exclusions(connection: Connection, library_id: str, video_id: str) -> None:
    """Of a video that was transcribed again."""
    await connection.execute(
        "DELETE FROM cast_exclusions WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
