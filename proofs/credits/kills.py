"""Processes killed with -9 inside their transactions, and right after them; the books are read after each."""

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
from dev.scratch import environment_of
from proofs.credits.crashing_process import APPLICATION
from proofs.credits.stage import Stage, Tenant
from proofs.stage.ledger_audit import look
from proofs.stage.price_model import milli
from proofs.stage.report import Report

LIBRARIES = 2
MILLICREDITS = 5_000_000
MOST_STATEMENTS = 14  # of a transaction, after which it is killed at the latest
WARM_UP = 12  # transactions, at most, that a process finishes before it is hunted
BETWEEN = 4  # every so many kills, one comes right after a commit
COMMITS = {"reserved", "held", "begun", "ended", "expired"}
LINE_SECONDS = 120  # on a busy machine, to import everything
LAST_SECONDS = 10  # in which the database must have noticed that a process is gone
STILL_THERE = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()"
UNFINISHED = "SELECT id, attempt FROM jobs WHERE library_id = $1 AND status IN ('queued', 'processing')"
# Halves of transactions: a job without its price, a reservation without its timer, a timer without its reservation.
HALVES = """SELECT
    (SELECT count(*) FROM jobs j WHERE library_id = $1 AND bill IS NOT NULL AND status <> 'failed'
        AND NOT EXISTS (SELECT FROM escrow_lines l WHERE l.library_id = j.library_id AND l.holder = j.id))
  + (SELECT count(*) FROM jobs j WHERE library_id = $1
        AND NOT EXISTS (SELECT FROM outbox o WHERE o.workflow_id = j.id))
  + (SELECT count(*) FROM escrow_lines l WHERE library_id = $1 AND reservation_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM outbox o WHERE o.workflow_id = 'reservation_' || l.reservation_id))
  + (SELECT count(*) FROM outbox o WHERE library_id = $1 AND NOT is_job
        AND NOT EXISTS (SELECT FROM escrow_lines l
                        WHERE l.library_id = o.library_id AND 'reservation_' || l.reservation_id = o.workflow_id))"""


@dataclass(slots=True)
class Hunt:
    """One process after another, each told to work and killed."""

    stage: Stage
    tenants: list[Tenant]
    videos: list[str]
    process: asyncio.subprocess.Process
    chance: random.Random
    seen: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    async def once(self) -> None:
        """Let a process work for a while, kill it at a moment of chance, and look at what it left."""
        who = [
            {"key": tenant.key.secret, "video": video} for tenant, video in zip(self.tenants, self.videos, strict=True)
        ]
        told = {"tenants": who, "seed": self.chance.random()}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(told).encode() + b"\n")
        pid = int((await self._line())[1])
        committed = await self._kill(pid)
        self.broken += [f"a transaction outlived its process: {left}" for left in [await self._left_over()] if left]
        self.broken += await self._lost(committed)
        for tenant in self.tenants:
            self.broken += (await look(self.stage.owner, tenant.library_id)).faults
            async with self.stage.owner.acquire() as connection:
                halves = await connection.fetchval(HALVES, tenant.library_id)
            self.broken += [f"{halves} halves of transactions"] * bool(halves)

    async def _line(self) -> list[str]:
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), LINE_SECONDS)
        words = line.decode().split()
        if not words or words[0] == "error":
            raise RuntimeError(f"the process that was to be killed ended by itself: {line.decode()}")
        return words

    async def _kill(self, pid: int) -> list[list[str]]:
        """Everything that was committed before it died, by its own words."""
        warm_up = self.chance.randint(0, WARM_UP)
        depth = self.chance.randint(1, MOST_STATEMENTS)
        self.seen["kills"] += 1
        if self.seen["kills"] % BETWEEN == 0:
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
        self.seen["inside" if inside else "between"] += 1
        self.seen["right after a commit"] += depth == 0
        self.seen["open transactions"] += len(inside)
        self.seen["committed"] += len(committed)
        return committed

    async def _left_over(self) -> int:
        left = 0
        for _ in range(LAST_SECONDS * 20):
            async with self.stage.owner.acquire() as connection:
                left = await connection.fetchval(STILL_THERE, APPLICATION)
            if not left:
                break
            await asyncio.sleep(0.05)
        return left

    async def _lost(self, committed: list[list[str]]) -> list[str]:
        """What was committed is there, whatever came after."""
        lost = []
        async with self.stage.owner.acquire() as connection:
            for library_id, kind, *words in committed:
                found: Any
                wanted: Any
                if kind == "reserved":
                    sql = "SELECT sum(millicredits) FROM escrow_lines WHERE library_id = $1 AND reservation_id = $2"
                    wanted = milli(float(words[1]))
                elif kind == "held":
                    sql = "SELECT count(*) FROM escrow_lines WHERE library_id = $1 AND holder = $2"
                    wanted = int(words[1])
                elif kind == "ended":
                    sql, wanted = "SELECT status FROM jobs WHERE library_id = $1 AND id = $2", words[1]
                elif kind == "expired":
                    sql = """SELECT count(*) FROM escrow_lines WHERE library_id = $1 AND reservation_id = $2
                             AND state = 'open' AND holder IS NULL"""
                    wanted = 0
                else:
                    continue
                found = await connection.fetchval(sql, library_id, words[0])
                if found != wanted:
                    lost.append(f"{kind} {words} was lost: {found}")
                self.seen["checked"] += 1
        return lost

    async def close_accounts(self) -> None:
        """Nobody is left: what was not captured comes back, all of it."""
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
            books = await look(self.stage.owner, tenant.library_id)
            whole = (
                books.balances["escrow"] == 0 and books.balances["wallet"] == MILLICREDITS - books.balances["revenue"]
            )
            self.broken += books.faults + [f"not whole: {books.balances}"] * (not whole)


async def prove_kills(report: Report, stage: Stage, *, kills: int, seed: int) -> None:
    tenants = [await stage.tenant(millicredits=MILLICREDITS) for _ in range(LIBRARIES)]
    videos = [await stage.video(tenant, 30.0) for tenant in tenants]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proofs.credits.crashing_process", env=environment_of(stage.settings), stdin=-1, stdout=-1
    )
    hunt = Hunt(stage, tenants, videos, process, random.Random(seed))
    try:
        while hunt.seen["inside"] < kills:
            await hunt.once()
        await hunt.close_accounts()
    finally:
        process.kill()
        await process.wait()
    for what in hunt.broken[:10]:
        report.note(f"broken: {what}")
    report.claim(
        f"processes killed with -9 inside {hunt.seen['open transactions']} open transactions",
        wanted=f">= {kills}",
        measured=hunt.seen["inside"],
        holds=hunt.seen["inside"] >= kills,
    )
    after = hunt.seen["right after a commit"]
    report.claim("... and right after a commit", wanted="> 0", measured=after, holds=after > 0)
    report.claim(
        f"... faults afterwards; {hunt.seen['checked']} of {hunt.seen['committed']} commits looked for",
        wanted="0",
        measured=len(hunt.broken),
        holds=not hunt.broken,
    )
    report.figures(crash_violations=len(hunt.broken), crashes_inside=hunt.seen["inside"], crashes_after=after)
