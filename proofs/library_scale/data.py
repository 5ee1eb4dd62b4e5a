"""Generates a million videos in a thousand libraries inside PostgreSQL, in chronological order."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id
from dev.scratch import Accounts, Person

BIG_PERCENT = 21  # of all videos are in the one big library
SPAN_SECONDS = 365 * 24 * 3600
FIRST_SECONDS = 1_750_000_000  # creation time of the oldest video

# The same ids as platform/ids.py: ten characters of time, sixteen random ones, in Crockford's base 32.
_BASE_32 = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME = " || ".join(f"substr('{_BASE_32}', ((ms >> {shift}) & 31)::int + 1, 1)" for shift in range(45, -1, -5))
_CHANCE = "translate(lower(encode(decode(substr(md5(random()::text), 1, 24), 'hex'), 'base64')), 'ilou+/', '01v0wx')"
# Consecutive videos belong to different libraries (19 steps modulo 100), so a library's rows are spread over the table.
# Small libraries differ in size: the first is about sixty times the last.
_MAKE_VIDEOS = f"""
INSERT INTO videos (library_id, id, status, title, description, duration_seconds, provider, media_type,
                    default_language_code, import_status, transcript_status, transcript_language, created_at)
SELECT l.library_id, {_TIME} || {_CHANCE}, 'ready', 'Recording ' || n, 'Take ' || n || ' of many, cut and graded.',
       30 + n % 3600, 'https', 'video', 'en', 'ready', 'ready', 'en', to_timestamp(ms / 1000.0)
FROM (SELECT n, ($2::bigint + $3::bigint * n / $1::bigint) * 1000 + n % 1000 AS ms,
             CASE WHEN n * 19 % 100 < $5::int THEN 0
                  ELSE 1 + floor(($4::int - 1) * power(random(), 2))::int END AS number
      FROM generate_series(0, $1::bigint - 1) AS n OFFSET 0) AS made
JOIN scale_libraries l USING (number) ORDER BY ms
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class LoadedData:
    """The big library, and the small library of median size."""

    big: Person
    small: Person
    videos: int
    libraries: int
    seconds: float


async def load(accounts: Accounts, *, videos: int, libraries: int) -> LoadedData:
    started, connection = time.perf_counter(), accounts.connection
    async with connection.transaction():
        people = [await accounts.person() for _ in range(libraries)]
    await _make_videos(connection, people, videos)
    await connection.execute("VACUUM (ANALYZE) videos")
    seconds = time.perf_counter() - started
    sizes = await connection.fetch("SELECT library_id, count(*) FROM videos GROUP BY 1 ORDER BY 2")
    by_library = {person.library_id: person for person in people}
    return LoadedData(
        big=by_library[sizes[-1]["library_id"]],
        small=by_library[sizes[len(sizes) // 2]["library_id"]],
        videos=sum(row["count"] for row in sizes),
        libraries=len(sizes),
        seconds=seconds,
    )


async def _make_videos(connection: Connection, people: Sequence[Person], videos: int) -> None:
    await connection.execute("CREATE TEMPORARY TABLE scale_libraries (number int PRIMARY KEY, library_id text)")
    rows = [(number, person.library_id) for number, person in enumerate(people)]
    await connection.copy_records_to_table("scale_libraries", records=rows)
    await connection.execute(_MAKE_VIDEOS, videos, FIRST_SECONDS, SPAN_SECONDS, len(people), BIG_PERCENT)
    sample = await connection.fetch("SELECT id FROM videos TABLESAMPLE SYSTEM (1)")
    if not sample or not all(is_id(row["id"]) for row in sample):
        raise RuntimeError("generated ids differ from the service's format")


async def ids_newest_first(connection: Connection, library_id: str) -> list[str]:
    """All ids of a library from the database, to compare with the API's pages."""
    rows = await connection.fetch("SELECT id FROM videos WHERE library_id = $1", library_id)
    return sorted((row["id"] for row in rows), reverse=True)
