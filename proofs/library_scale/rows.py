"""Generates the rows around the videos: jobs, ledger entries, events, keys and a queue of workflow starts."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from cutroom.platform.db import Connection
from dev.scratch import Accounts

# The finished jobs of a video, of which the short form makes fewer.
_KINDS = """
(1, 'import', '', NULL, NULL, NULL), (2, 'transcript', '', NULL, NULL, NULL),
(3, 'dub', '_es_plus', 'es', 'plus', NULL), (4, 'captions', '_es', 'es', NULL, NULL),
(5, 'shorts', '', NULL, NULL, NULL), (6, 'thumbnail', '', NULL, NULL, NULL),
(7, 'packaging', '_generateTitle', NULL, NULL, 'generateTitle'), (8, 'captions', '_en', 'en', NULL, NULL),
(9, 'dub', '_fr_plus', 'fr', 'plus', NULL), (10, 'dub', '_de_plus', 'de', 'plus', NULL)
"""
JOBS_PER_VIDEO = 10
_MAKE_JOBS = f"""
INSERT INTO jobs (library_id, id, type, status, video_id, language, product, automation_type, principal_id, attempt,
                  plan, depends_on, progress, result, created_at, updated_at, queued_at, started_at, finished_at,
                  media_seconds, reached_seconds, charge)
SELECT v.library_id, k.type || '_' || v.id || k.suffix, k.type, 'ready', v.id, k.language, k.product, k.automation,
       v.library_id, 1, '{{"quality": "standard"}}', '{{}}', 100, '{{"durationSeconds": 30.5, "segments": 12}}',
       v.created_at, v.created_at + interval '9 minutes', v.created_at, v.created_at,
       v.created_at + interval '9 minutes', v.duration_seconds, '{{1,2,4,6,8,10,12,14,16,18}}',
       '{{"items": [{{"action": "make", "product": "any", "terms": {{}}}}]}}'
FROM videos v CROSS JOIN (VALUES {_KINDS}) AS k (number, type, suffix, language, product, automation)
WHERE k.number <= $1::integer
"""  # noqa: S608
# A library has at most eight jobs at work (`running_jobs_per_library`), and a queue behind them.
_MAKE_UNFINISHED = """
INSERT INTO jobs (library_id, id, type, status, video_id, principal_id, attempt, plan, depends_on, progress,
                  created_at, updated_at, queued_at, started_at, media_seconds, reached_seconds)
SELECT v.library_id, 'download_' || v.id, 'download', CASE WHEN v.place <= 8 THEN 'processing' ELSE 'queued' END,
       v.id, v.library_id, 1, '{}', '{}', 0, now(), now(), now(), CASE WHEN v.place <= 8 THEN now() END,
       v.duration_seconds, CASE WHEN v.place <= 8 THEN '{}'::real[] END
FROM libraries l CROSS JOIN LATERAL (
    SELECT *, row_number() OVER (ORDER BY id DESC) AS place FROM videos
     WHERE library_id = l.id ORDER BY id DESC LIMIT 28
) v
"""
# The relay keeps the queue short, however large the installation is: the same rows at every size.
_MAKE_QUEUE = """
INSERT INTO outbox (library_id, workflow, workflow_id, queue, argument, is_job)
SELECT j.library_id, 'DownloadWorkflow', j.id, 'media',
       jsonb_build_object('library_id', j.library_id, 'job_id', j.id, 'attempt', 1), true
FROM unnest($1::text[]) AS l (id)
CROSS JOIN LATERAL (SELECT * FROM jobs WHERE library_id = l.id AND status = 'queued' ORDER BY id LIMIT 10) j
"""
_MAKE_LEDGER = (
    """INSERT INTO ledger_balances (library_id, wallet, escrow, granted)
       SELECT library_id, 1000000000, 1000 * count(*), -1000000000 - 1000 * count(*) FROM videos GROUP BY library_id
       ON CONFLICT (library_id) DO UPDATE
       SET wallet = excluded.wallet, escrow = excluded.escrow, granted = excluded.granted, revenue = 0""",
    """INSERT INTO ledger_transactions (library_id, id, kind, reference, created_at)
       SELECT library_id, id, 'hold', id, created_at FROM videos""",
    """INSERT INTO ledger_entries (library_id, transaction_id, account, millicredits)
       SELECT v.library_id, v.id, a.account, a.amount
       FROM videos v CROSS JOIN (VALUES ('wallet', -1000), ('escrow', 1000)) AS a (account, amount)""",
)
_MAKE_EVENTS = """
INSERT INTO events (library_id, id, type, payload, created_at)
SELECT library_id, id, 'job.ready', jsonb_build_object('id', 'import_' || id, 'status', 'ready'), created_at FROM videos
"""
_MAKE_KEYS = """
INSERT INTO api_keys (id, library_id, user_id, name, hash, hint, scopes, created_at)
SELECT m.library_id, m.library_id, m.user_id, 'scale', sha256(m.library_id::bytea), 'scale', '{}', now()
FROM members m
"""
LARGE_TABLES = ("jobs", "ledger_entries", "ledger_transactions", "events")  # what refers to others first
_INDEXES = "SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = $1"
_CONSTRAINTS = """
SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
WHERE conrelid = $1::text::regclass AND contype IN ('p', 'f') ORDER BY contype -- foreign keys before primary keys
"""


@dataclass(frozen=True, slots=True)
class MadeRows:
    """How many rows there are, and how long it took to generate them."""

    jobs: int
    ledger_entries: int
    events: int
    seconds: float


async def make_rows(accounts: Accounts, queue_of: Sequence[str], *, jobs_per_video: int) -> MadeRows:
    """Fill the tables; `queue_of` are the libraries with workflow starts in the outbox."""
    started, connection = time.perf_counter(), accounts.connection
    async with _without_indexes(connection):
        await connection.execute(_MAKE_JOBS, jobs_per_video)
        for statement in _MAKE_LEDGER:
            await connection.execute(statement)
        await connection.execute(_MAKE_EVENTS)
    await connection.execute(_MAKE_UNFINISHED)
    await connection.execute(_MAKE_KEYS)
    await connection.execute(_MAKE_QUEUE, list(queue_of))
    for table in (*LARGE_TABLES, "videos", "ledger_balances", "outbox", "api_keys", "libraries", "members"):
        await connection.execute(f"VACUUM (ANALYZE) {table}")
    seconds = time.perf_counter() - started
    jobs, entries, events = [
        int(await connection.fetchval(f"SELECT count(*) FROM {table}"))  # noqa: S608
        for table in ("jobs", "ledger_entries", "events")
    ]
    return MadeRows(jobs, entries, events, seconds)


@asynccontextmanager
async def _without_indexes(connection: Connection) -> AsyncIterator[None]:
    """Load without indexes, keys and the write-ahead log, and create the same indexes and keys afterwards."""
    keys, indexes = [], []
    await connection.execute("SET maintenance_work_mem = '1GB'")
    for table in LARGE_TABLES:
        for key in await connection.fetch(_CONSTRAINTS, table):
            keys.append(f"ALTER TABLE {table} ADD CONSTRAINT {key['name']} {key['definition']}")
            await connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {key['name']}")
        for index in await connection.fetch(_INDEXES, table):
            indexes.append(index["definition"])
            await connection.execute(f"DROP INDEX {index['name']}")
        await connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        await connection.execute(f"ALTER TABLE {table} SET UNLOGGED")
    yield
    for definition in (*reversed(keys), *indexes):
        await connection.execute(definition)
    for table in LARGE_TABLES:
        await connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
