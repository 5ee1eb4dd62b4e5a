"""Kills processes with SIGKILL inside transactions and right after commits, and audits the ledger after each."""

import asyncio
import json
import os
import random
import signal
import sys
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from cutroom.credits import escrow
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.clock import system_clock
from dev.child_process import die_with_parent
from dev.scratch import environment_of
from proofs.credits.crashing_process import APPLICATION
from proofs.credits.stage import Stage, Tenant
from proofs.stage.ledger_audit import audit_library
from proofs.stage.price_model import milli
from proofs.stage.report import Report

LIBRARIES = 2
MILLICREDITS = 5_000_000
MAX_STATEMENTS = 14  # of a transaction, before the kill
WARM_UP = 12  # maximum of transactions before the kill
COMMIT_KILL_INTERVAL = 4  # every fourth kill comes right after a commit
COMMITS = {"reserved", "held", "begun", "ended", "expired"}
LINE_SECONDS = 120  # imports take long on a loaded machine
DISCONNECT_SECONDS = 10  # for the database to notice a killed client
OPEN_CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()"
UNFINISHED = "SELECT id, attempt FROM jobs WHERE library_id = $1 AND status IN ('queued', 'processing')"
# Partial transactions: jobs without a hold, reservations without a timer, timers without a reservation.
PARTIAL_TRANSACTIONS = """SELECT
    (SELECT count(*) FROM jobs j WHERE library_id = $1 AND charge IS NOT NULL AND status <> 'failed'
        AND NOT EXISTS (SELECT FROM escrow_lines l WHERE l.library_id = j.library_id AND l.holder = j.id))
  + (SELECT count(*) FROM jobs j WHERE library_id = $1
        AND NOT EXISTS (SELECT FROM outbox o WHERE o.workflow_id = j.id))
  + (SELECT count(*) FROM escrow_lines l WHERE library_id = $1 AND reservation_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM outbox o WHERE o.workflow_id = 'reservation_' || l.reservation_id))
  + (SELECT count(*) FROM outbox o WHERE library_id = $1 AND NOT is_job
        AND NOT EXISTS (SELECT FROM escrow_lines l
                        WHERE l.library_id = o.library_id AND 'reservation_' || l.reservation_id = o.workflow_id))"""


@dataclass(slots=True)
class KillTest:
    """Starts one process after another and kills each."""

    stage: Stage
    tenants: list[Tenant]
    videos: list[str]
    process: asyncio.subprocess.Process
    rng: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    async def kill_one(self) -> None:
        """Run a process, kill it at a random point, and audit what it left."""
        who = [
            {"key": tenant.key.secret, "video": video} for tenant, video in zip(self.tenants, self.videos, strict=True)
        ]
        assignment = {"tenants": who, "seed": self.rng.random()}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(assignment).encode() + b"\n")
        pid = int((await self._line())[1])
        committed = await self._kill(pid)
        self.violations += [
            f"transactions outlived their process: {left}" for left in [await self._open_connections()] if left
        ]
        self.violations += await self._missing_commits(committed)
        for tenant in self.tenants:
            self.violations += (await audit_library(self.stage.owner, tenant.library_id)).faults
            async with self.stage.owner.acquire() as connection:
                partial = await connection.fetchval(PARTIAL_TRANSACTIONS, tenant.library_id)
            self.violations += [f"{partial} partial transactions"] * bool(partial)

    async def _line(self) -> list[str]:
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), LINE_SECONDS)
        words = line.decode().split()
        if not words or words[0] == "error":
            raise RuntimeError(f"the process ended by itself: {line.decode()}")
        return words

    async def _kill(self, pid: int) -> list[list[str]]:
        """Kill the process; returns the commits that it reported."""
        warm_up = self.rng.randint(0, WARM_UP)
        depth = self.rng.randint(1, MAX_STATEMENTS)
        self.counts["kills"] += 1
        if self.counts["kills"] % COMMIT_KILL_INTERVAL == 0:
            depth = 0
        statements: Counter[str] = Counter()
        committed: list[list[str]] = []
        is_dead = False
        while (words := await self._line()) != ["died"]:
            if words[0] == "inside":
                statements[words[1]] += 1
            elif words[0] == "outside":
                statements[words[1]] = 0
                committed += [words[2:]] if words[3] in COMMITS else []
            hit = words[0] == "outside" if depth == 0 else statements[words[1]] >= depth
            if not is_dead and len(committed) >= warm_up and hit:
                os.kill(pid, signal.SIGKILL)
                is_dead = True
        inside = [actor for actor, count in statements.items() if count]
        self.counts["inside" if inside else "between"] += 1
        self.counts["right after a commit"] += depth == 0
        self.counts["open transactions"] += len(inside)
        self.counts["committed"] += len(committed)
        return committed

    async def _open_connections(self) -> int:
        left = 0
        for _ in range(DISCONNECT_SECONDS * 20):
            async with self.stage.owner.acquire() as connection:
                left = await connection.fetchval(OPEN_CONNECTIONS, APPLICATION)
            if not left:
                break
            await asyncio.sleep(0.05)
        return left

    async def _missing_commits(self, committed: list[list[str]]) -> list[str]:
        """Reported commits that are not in the database."""
        lost = []
        async with self.stage.owner.acquire() as connection:
            for library_id, kind, *words in committed:
                found: Any
                expected: Any
                if kind == "reserved":
                    sql = "SELECT sum(millicredits) FROM escrow_lines WHERE library_id = $1 AND reservation_id = $2"
                    expected = milli(float(words[1]))
                elif kind == "held":
                    sql = "SELECT count(*) FROM escrow_lines WHERE library_id = $1 AND holder = $2"
                    expected = int(words[1])
                elif kind == "ended":
                    sql, expected = "SELECT status FROM jobs WHERE library_id = $1 AND id = $2", words[1]
                elif kind == "expired":
                    sql = """SELECT count(*) FROM escrow_lines WHERE library_id = $1 AND reservation_id = $2
                             AND state = 'open' AND holder IS NULL"""
                    expected = 0
                else:
                    continue
                found = await connection.fetchval(sql, library_id, words[0])
                if found != expected:
                    lost.append(f"lost {kind} {words}: {found}")
                self.counts["checked"] += 1
        return lost

    async def close_accounts(self) -> None:
        """Fail all jobs and expire all reservations: everything that was not captured is released."""
        later = system_clock() + timedelta(days=2)
        for tenant in self.tenants:
            async with self.stage.owner.acquire() as connection:
                unfinished = await connection.fetch(UNFINISHED, tenant.library_id)
            for job in unfinished:
                async with self.stage.database.transaction(tenant.library_id) as inside:
                    ref = JobRef(tenant.library_id, job["id"], job["attempt"])
                    await lifecycle.fail(inside, ref, failure=Failure("INTERNAL", "Closing."), now=later)
            async with self.stage.database.transaction(tenant.library_id) as inside:
                await escrow.expire(inside, tenant.library_id, reservation_id=None, now=later)
            audit = await audit_library(self.stage.owner, tenant.library_id)
            is_complete = (
                audit.balances["escrow"] == 0 and audit.balances["wallet"] == MILLICREDITS - audit.balances["revenue"]
            )
            self.violations += audit.faults + [f"not restored: {audit.balances}"] * (not is_complete)


async def prove_kills(report: Report, stage: Stage, *, kills: int, seed: int) -> None:
    tenants = [await stage.tenant(millicredits=MILLICREDITS) for _ in range(LIBRARIES)]
    videos = [await stage.video(tenant, 30.0, transcript=None) for tenant in tenants]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proofs.credits.crashing_process"),
        env=environment_of(stage.settings),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        preexec_fn=die_with_parent,
    )
    kill_test = KillTest(stage, tenants, videos, process, random.Random(seed))
    try:
        while kill_test.counts["inside"] < kills:
            await kill_test.kill_one()
        await kill_test.close_accounts()
    finally:
        process.kill()
        await process.wait()
    for what in kill_test.violations[:10]:
        report.note(f"violation: {what}")
    report.claim(
        f"processes killed with SIGKILL inside {kill_test.counts['open transactions']} open transactions",
        expected=f">= {kills}",
        measured=kill_test.counts["inside"],
        holds=kill_test.counts["inside"] >= kills,
    )
    after = kill_test.counts["right after a commit"]
    report.claim("... right after a commit", expected="> 0", measured=after, holds=after > 0)
    report.claim(
        f"... faults afterwards; {kill_test.counts['checked']} of {kill_test.counts['committed']} commits checked",
        expected="0",
        measured=len(kill_test.violations),
        holds=not kill_test.violations,
    )
    report.figures(
        crash_violations=len(kill_test.violations), crashes_inside=kill_test.counts["inside"], crashes_after=after
    )
