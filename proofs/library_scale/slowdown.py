"""Compares the hottest queries at full size with the same at ten thousand videos, through PgBouncer."""

import json
import statistics
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from cutroom.platform.db import Connection, Database, enter_library
from cutroom.platform.pooler import Pooler
from cutroom.platform.settings import Settings
from dev.pgbouncer import pgbouncer
from dev.scratch import Accounts, drop_scratch, scratch
from proofs.library_scale.data import load
from proofs.library_scale.hot_queries import ACTIVE_LIBRARIES, HOT_QUERIES, HotQuery, Subject, now
from proofs.library_scale.query_plans import scanned_tables
from proofs.library_scale.rows import MadeRows, make_rows
from proofs.stage.report import Report

SMALL_DATABASE = "proof_library_scale_small"
SMALL_VIDEOS = 10_000
SMALL_LIBRARIES = 10
SUBJECT_LIBRARIES = 10  # whose rows the queries read
GOAL_RATIO = 2.0
LARGE_ROWS = 10_000  # a sequential scan of a smaller table may be the best plan
_SCANS = "SELECT relname, seq_scan FROM pg_stat_xact_user_tables WHERE relname = ANY ($1)"
_LARGE = """
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reltuples >= $1
"""
_SCANNING = "SELECT count(*) FROM events WHERE payload ->> 'id' = 'none'"
_SCANNING_FUNCTION = f"""
CREATE FUNCTION pg_temp.scan_events() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN ({_SCANNING}); END $$
"""
_LIBRARIES = "SELECT library_id FROM videos GROUP BY 1 ORDER BY count(*) DESC LIMIT $1"
_SUBJECTS = """
SELECT j.library_id, j.video_id, j.id AS running_job_id FROM unnest($1::text[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT library_id, video_id, id FROM jobs WHERE library_id = l.id AND status = 'processing' ORDER BY id LIMIT 8
) j
"""


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Median milliseconds inside PostgreSQL at both sizes, and what was scanned sequentially."""

    name: str
    small_ms: float
    full_ms: float
    scanned: tuple[str, ...]

    @property
    def ratio(self) -> float:
        return self.full_ms / self.small_ms


@dataclass(frozen=True, slots=True)
class Measured:
    """One execution."""

    milliseconds: float
    scanned: frozenset[str]


@dataclass(frozen=True, slots=True)
class Site:
    """A generated database, the subjects of its executions, and its large tables."""

    database: Database
    subjects: Sequence[Subject]
    large_tables: Sequence[str]
    rows: MadeRows

    async def measure(self, query: HotQuery, number: int) -> Measured:
        """Execute the query in a transaction that is rolled back."""
        subject = self.subjects[number % len(self.subjects)]
        async with self.database.unauthenticated() as connection:
            transaction = connection.transaction()
            await transaction.start()
            try:
                await enter_library(connection, subject.library_id)
                await connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
                before = await self._scans(connection)
                arguments = query.arguments(subject, now())
                explain = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query.sql}"
                document: dict[str, Any] = json.loads(await connection.fetchval(explain, *arguments))[0]
                after = await self._scans(connection)
            finally:
                await transaction.rollback()
        scanned = {table for table in after if after[table] > before.get(table, 0)}
        scanned |= scanned_tables(document["Plan"]) & set(self.large_tables)
        return Measured(document["Execution Time"], frozenset(scanned))

    async def _scans(self, connection: Connection) -> dict[str, int]:
        """Sequential scans of large tables so far, including those inside functions, which EXPLAIN does not show."""
        rows = await connection.fetch(_SCANS, list(self.large_tables))
        return {row["relname"]: row["seq_scan"] for row in rows}


async def prove_slowdown(
    report: Report, accounts: Accounts, pooled: Settings, *, jobs_per_video: int, rounds: int
) -> None:
    """Add rows around the videos of the full database, generate the small one, and compare them."""
    settings = await scratch(SMALL_DATABASE)
    try:
        small_accounts = await Accounts.open(settings)
        try:
            await load(small_accounts, videos=SMALL_VIDEOS, libraries=SMALL_LIBRARIES)
            with pgbouncer(settings) as small_pooled:
                async with (
                    _open_site(small_accounts, small_pooled, jobs_per_video=jobs_per_video) as small,
                    _open_site(accounts, pooled, jobs_per_video=jobs_per_video) as full,
                ):
                    await _check_meter(report, accounts, full)
                    with report.timed("hot queries"):
                        slowdowns = await _compare(small, full, rounds=rounds)
                    _report(report, small, full, slowdowns)
        finally:
            await small_accounts.close()
    finally:
        await drop_scratch(SMALL_DATABASE)


@asynccontextmanager
async def _open_site(accounts: Accounts, pooled: Settings, *, jobs_per_video: int) -> AsyncIterator[Site]:
    """Generate the rows around the videos, and choose the largest libraries as subjects."""
    owner = accounts.connection
    libraries = [row["library_id"] for row in await owner.fetch(_LIBRARIES, SUBJECT_LIBRARIES)]
    rows = await make_rows(accounts, libraries, jobs_per_video=jobs_per_video)
    outbox_ids = [row["id"] for row in await owner.fetch("SELECT id FROM outbox ORDER BY id LIMIT 10")]
    subjects = [
        Subject(**dict(row), neighbors=libraries[:ACTIVE_LIBRARIES], outbox_ids=outbox_ids)
        for row in await owner.fetch(_SUBJECTS, libraries)
    ]
    large = [row["relname"] for row in await owner.fetch(_LARGE, LARGE_ROWS)]
    url = pooled.database_url.get_secret_value()
    database = await Database.connect(url, 1, application="cutroom-proof", pooler=pooled.database_pooler)
    try:
        yield Site(database, subjects, large, rows)
    finally:
        await database.close()


async def _check_meter(report: Report, accounts: Accounts, site: Site) -> None:
    """A scan is noticed in a statement and inside a function, here as the owner, whom no policy leads to an index."""
    assert accounts.settings.owner_database_url is not None
    url = accounts.settings.owner_database_url.get_secret_value()
    owner = await Database.connect(url, 1, application="cutroom-proof")
    try:
        async with owner.connection() as connection:
            await connection.execute(_SCANNING_FUNCTION)
        for where, sql in (("a statement", _SCANNING), ("a function", "SELECT pg_temp.scan_events()")):
            measured = await replace(site, database=owner).measure(HotQuery(where, sql, lambda *_: ()), 0)
            report.claim(
                f"a sequential scan in {where} is noticed",
                expected="partitions of events",
                measured=", ".join(measured.scanned),
                holds=bool(measured.scanned) and all(each.startswith("events") for each in measured.scanned),
            )
    finally:
        await owner.close()


def _report(report: Report, small: Site, full: Site, slowdowns: Sequence[Slowdown]) -> None:
    for site, size in ((small, "small"), (full, "full")):
        rows = site.rows
        report.note(
            f"{size} size: {rows.jobs} jobs, {rows.ledger_entries} ledger entries, {rows.events} events, "
            f"generated in {rows.seconds:.0f} s"
        )
    for each in slowdowns:
        report.claim_time(
            f"{each.name}, {full.rows.jobs} jobs relative to {small.rows.jobs}",
            expected=f"<= {GOAL_RATIO} times",
            measured=f"{each.full_ms:.3f} ms to {each.small_ms:.3f} ms, {each.ratio:.2f} times",
            holds=each.ratio <= GOAL_RATIO,
        )
    scanned = [f"{each.name}: {', '.join(each.scanned)}" for each in slowdowns if each.scanned]
    report.claim(
        "hot queries that scan a large table sequentially",
        expected="0",
        measured="; ".join(scanned) or 0,
        holds=not scanned,
    )
    report.figures(
        jobs=full.rows.jobs,
        queries=len(slowdowns),
        slowdown_max=round(max(each.ratio for each in slowdowns), 2),
        sequential_scans=len(scanned),
        pooler=str(Pooler.SESSION),
    )


async def _compare(small: Site, full: Site, *, rounds: int) -> list[Slowdown]:
    """Measure both databases in turn, after as many executions that only warm up their caches."""
    times: dict[tuple[str, bool], list[float]] = defaultdict(list)
    scanned: dict[str, set[str]] = defaultdict(set)
    for number in range(-rounds, rounds):
        for query in HOT_QUERIES:
            for site in (small, full):
                measured = await site.measure(query, number % rounds)
                if site is full:
                    scanned[query.name] |= measured.scanned
                if number >= 0:
                    times[query.name, site is full].append(measured.milliseconds)
    return [
        Slowdown(
            query.name,
            statistics.median(times[query.name, False]),
            statistics.median(times[query.name, True]),
            tuple(sorted(scanned[query.name])),
        )
        for query in HOT_QUERIES
    ]
