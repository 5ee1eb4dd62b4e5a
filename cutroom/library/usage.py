"""Maintains each library's totals of stored bytes and media time, so that reading them costs one row."""

from dataclasses import dataclass

from cutroom.platform.db import Connection

TODAY = "(now() AT TIME ZONE 'UTC')::date"
THIS_MONTH = "date_trunc('month', now() AT TIME ZONE 'UTC')::date"


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals of a library; as an argument, what to add to them."""

    source_bytes: int = 0
    imported_milliseconds: int = 0
    processed_milliseconds: int = 0  # of media in finished transcripts, captions and dubs
    failed_jobs: int = 0  # of the day, canceled ones included


async def add_usage(connection: Connection, library_id: str, added: Usage) -> None:
    """Adds to the totals. The row stays locked until commit: call it after other rows of the library were locked."""
    if added == Usage():
        return
    await connection.execute(
        f"""INSERT INTO library_usage AS u (library_id, source_bytes, imported_milliseconds, processed_milliseconds,
               month, month_milliseconds, day, day_failed_jobs)
           VALUES ($1, $2, $3, $4, {THIS_MONTH}, greatest(0, $3::bigint), {TODAY}, $5)
           ON CONFLICT (library_id) DO UPDATE SET
               source_bytes = u.source_bytes + excluded.source_bytes,
               imported_milliseconds = u.imported_milliseconds + excluded.imported_milliseconds,
               processed_milliseconds = u.processed_milliseconds + excluded.processed_milliseconds,
               month = excluded.month,
               month_milliseconds = greatest(0, excluded.imported_milliseconds
                   + CASE WHEN u.month = excluded.month THEN u.month_milliseconds ELSE 0 END),
               day = excluded.day,
               day_failed_jobs = excluded.day_failed_jobs
                   + CASE WHEN u.day = excluded.day THEN u.day_failed_jobs ELSE 0 END""",  # noqa: S608
        library_id,
        added.source_bytes,
        added.imported_milliseconds,
        added.processed_milliseconds,
        added.failed_jobs,
    )


async def count_failed_today(connection: Connection, library_id: str) -> int:
    """Jobs of the library that have failed or were canceled since midnight UTC."""
    count: int | None = await connection.fetchval(
        f"SELECT day_failed_jobs FROM library_usage WHERE library_id = $1 AND day = {TODAY}",  # noqa: S608
        library_id,
    )
    return count or 0
