"""Maintains each library's totals of stored bytes and media time, so that reading them costs one row."""

from dataclasses import dataclass

from cutroom.platform.db import Connection

GET_USAGE = """SELECT source_bytes, imported_milliseconds, processed_milliseconds FROM library_usage
    WHERE library_id = $1"""


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals of a library; as an argument, what to add to them."""

    source_bytes: int = 0
    imported_milliseconds: int = 0
    processed_milliseconds: int = 0  # of media in finished transcripts, captions and dubs


async def get_usage(connection: Connection, library_id: str) -> Usage:
    row = await connection.fetchrow(GET_USAGE, library_id)
    return Usage() if row is None else Usage(**dict(row))


async def add_usage(connection: Connection, library_id: str, added: Usage) -> None:
    """Adds to the totals. The row stays locked until commit: call it after other rows of the library were locked."""
    if added == Usage():
        return
    await connection.execute(
        """INSERT INTO library_usage AS u (library_id, source_bytes, imported_milliseconds, processed_milliseconds)
           VALUES ($1, $2, $3, $4)
           ON CONFLICT (library_id) DO UPDATE SET
               source_bytes = u.source_bytes + excluded.source_bytes,
               imported_milliseconds = u.imported_milliseconds + excluded.imported_milliseconds,
               processed_milliseconds = u.processed_milliseconds + excluded.processed_milliseconds""",
        library_id,
        added.source_bytes,
        added.imported_milliseconds,
        added.processed_milliseconds,
    )
