"""Reads and stores the optimized scripts of transcripts."""

from cutroom.platform.db import Connection
from cutroom.products.transcripts.optimizing.script import OptimizedScript


async def find_script(connection: Connection, library_id: str, video_id: str) -> OptimizedScript:
    """The script of a video; of revision 0 if there is none."""
    row = await connection.fetchval(
        "SELECT optimized FROM transcripts WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return OptimizedScript.from_row(row)


async def has_script(connection: Connection, library_id: str, video_id: str) -> bool:
    """Whether a video has an optimized script."""
    found: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM transcripts WHERE library_id = $1 AND video_id = $2 AND optimized IS NOT NULL)",
        library_id,
        video_id,
    )
    return found


async def save_script(connection: Connection, library_id: str, video_id: str, script: OptimizedScript) -> None:
    """Store a script of a transcript whose row is locked."""
    await connection.execute(
        "UPDATE transcripts SET optimized = $3 WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
        script.to_row(),
    )
