"""Records what scans have found and what runs have deleted."""

from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime, timedelta

from cutroom.platform.db import Connection
from cutroom.retention.policy.rules import Count, UsageKind

REPORTS_KEPT = timedelta(days=90)
LIBRARY = ""  # stands for the objects of a library that belong to no video


async def save_usage(
    connection: Connection, library_id: str, video_id: str, counts: Mapping[tuple[UsageKind, date], Count]
) -> None:
    """Replaces what is known of a video."""
    await connection.execute("DELETE FROM storage_usage WHERE library_id = $1 AND video_id = $2", library_id, video_id)
    await connection.executemany(
        """INSERT INTO storage_usage (library_id, video_id, kind, changed_on, objects, bytes)
           VALUES ($1, $2, $3, $4, $5, $6)""",
        [
            (library_id, video_id, kind.value, day, count.objects, count.size_bytes)
            for (kind, day), count in counts.items()
        ],
    )


async def forget_missing(
    connection: Connection, library_id: str, *, after: str | None, until: str | None, seen: Collection[str]
) -> None:
    """Removes videos that a page of the scan has not found; without `until` the page was the last one."""
    await connection.execute(
        """DELETE FROM storage_usage WHERE library_id = $1 AND video_id > $2 AND ($3::text IS NULL OR video_id <= $3)
               AND video_id <> ALL ($4::text[])""",
        library_id,
        after or LIBRARY,
        until,
        list(seen),
    )


async def save_deletions(
    connection: Connection, library_id: str, video_id: str, *, run_at: datetime, counts: Mapping[UsageKind, Count]
) -> None:
    """Reports what is about to be deleted. A retry, which finds less, does not lower the figures."""
    rows: Iterable[tuple[object, ...]] = [
        (library_id, run_at, video_id, kind.value, count.objects, count.size_bytes) for kind, count in counts.items()
    ]
    await connection.executemany(
        """INSERT INTO retention_deletions AS d (library_id, run_at, video_id, kind, objects, bytes)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (library_id, run_at, video_id, kind) DO UPDATE
               SET objects = greatest(d.objects, excluded.objects), bytes = greatest(d.bytes, excluded.bytes)""",
        rows,
    )


async def finish_scan(connection: Connection, library_id: str, *, now: datetime) -> None:
    """Sums up the library, and removes old reports."""
    await connection.execute(
        """INSERT INTO storage_scans (library_id, originals_bytes, intermediates_bytes, outputs_bytes, unknown_objects,
               measured_at)
           SELECT $1, coalesce(sum(bytes) FILTER (WHERE kind = 'original'), 0),
               coalesce(sum(bytes) FILTER (WHERE kind IN ('intermediate', 'download')), 0),
               coalesce(sum(bytes) FILTER (WHERE kind NOT IN ('original', 'intermediate', 'download')), 0),
               coalesce(sum(objects) FILTER (WHERE kind = 'unknown'), 0), $2
           FROM storage_usage WHERE library_id = $1
           ON CONFLICT (library_id) DO UPDATE SET originals_bytes = excluded.originals_bytes,
               intermediates_bytes = excluded.intermediates_bytes, outputs_bytes = excluded.outputs_bytes,
               unknown_objects = excluded.unknown_objects, measured_at = excluded.measured_at""",
        library_id,
        now,
    )
    await connection.execute(
        "DELETE FROM retention_deletions WHERE library_id = $1 AND run_at < $2", library_id, now - REPORTS_KEPT
    )
