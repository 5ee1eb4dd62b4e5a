"""Thousands of random credit operations, 32 concurrently, compared with a model and with the raw ledger."""

import asyncio
import random
import time
from collections import Counter

import asyncpg

from cutroom.accounts.plans import PlanName
from cutroom.credits import escrow
from cutroom.credits.pricing import load_prices
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import JobRef
from cutroom.platform.clock import system_clock
from proofs.credits.ledger_model import Model
from proofs.credits.requests import RESERVATION_LIFETIME, NothingToDoError, RolledBackError
from proofs.credits.stage import Stage
from proofs.credits.steps import FAILURE, Steps
from proofs.stage.ledger_audit import CHECKER, audit_ledger, audit_library
from proofs.stage.price_model import random_seconds
from proofs.stage.report import Report

CONCURRENCY = 32
ROUND_OPERATIONS = 350  # operations between two pauses, at which the ledger must equal the model
WATCH_SECONDS = 1.0  # between audits during a round
VIDEOS = 6
SHOWN = 12  # printed violations
# Initial milli-credits, overdraft, plan and weight: one library is hot, one has few credits.
LIBRARIES = (
    (500_000, 0, PlanName.BUSINESS, 6),
    (300_000, 50_000, PlanName.BUSINESS, 3),
    (20_000, 0, PlanName.BUSINESS, 2),
    (300_000, 0, PlanName.FREE, 2),
    (300_000, 0, PlanName.CREATOR, 1),
)
OPERATIONS = {
    "quote": 8,
    "reserve": 20,
    "consume": 16,
    "pay": 12,
    "concurrent_duplicates": 3,
    "begin": 20,
    "finish": 14,
    "fail": 5,
    "double": 5,
    "repeat": 5,
    "expire": 6,
    "misuse": 6,
    "grant": 3,
    "learn_duration": 1,
    "wait": 4,
}
UNCOUNTED = {"learn_duration", "wait"}  # they move no credits
BY_WORKFLOWS = {"begin", "finish", "fail", "double", "expire"}
RETRIES = 3
# Timeouts on a slow machine: the transaction is rolled back.
OVERLOADED = (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError, TimeoutError)
BALANCES = "SELECT wallet, escrow, revenue, granted, overdraft FROM ledger_balances WHERE library_id = $1"
UNFINISHED = "SELECT id, attempt FROM jobs WHERE library_id = $1 AND status IN ('queued', 'processing')"
MUST_HAPPEN = (
    "reserved",
    "refused for insufficient credits",
    "consumed",
    "consumption refused",
    "paid from the wallet",
    "began",
    "could not be paid at start",
    "finished",
    "failed",
    "failed with their dependency",
    "second end ignored",
    "retried",
    "repeated without effect",
    "lines expired",
    "misuse refused",
    "rolled back",
)

# Manipulations of the ledger; the audit in Python and ledger_faults must both detect each.
TAMPERINGS = (
    "UPDATE ledger_balances SET wallet = wallet + 1, granted = granted - 1 WHERE library_id = $1",
    "UPDATE ledger_balances SET wallet = wallet + escrow, escrow = 0 WHERE library_id = $1",
    "UPDATE ledger_entries SET millicredits = millicredits + 1 WHERE library_id = $1 AND account = 'revenue'",
    "DELETE FROM ledger_entries WHERE library_id = $1 AND account = 'escrow' AND millicredits < 0",
    "UPDATE escrow_lines SET state = 'open', ended_at = NULL WHERE library_id = $1 AND state = 'captured'",
    "UPDATE escrow_lines SET state = 'captured' WHERE library_id = $1 AND state = 'released' AND holder IS NOT NULL",
    "DELETE FROM escrow_lines WHERE library_id = $1 AND state = 'released'",
    "UPDATE jobs SET status = 'ready', error_code = NULL WHERE library_id = $1 AND status = 'failed'",
)


class RandomWalk:
    """The libraries, and the concurrent actors on them."""

    def __init__(self, stage: Stage, *, seed: int) -> None:
        self.stage = stage
        self.seed = seed
        self.models: list[Model] = []
        self.operations = 0
        self.audits = 0
        self.surprises: Counter[str] = Counter()
        self.done: Counter[str] = Counter()

    async def open(self) -> None:
        rng = random.Random(self.seed)
        for millicredits, overdraft, plan, _ in LIBRARIES:
            tenant = await self.stage.tenant(millicredits=millicredits, overdraft=overdraft, plan=plan)
            videos = await self.stage.videos(tenant, rng, count=VIDEOS)
            coming = {video: random_seconds(rng) for video, seconds in videos.items() if seconds is None}
            self.models.append(Model(tenant, system_clock(), videos, coming, millicredits, millicredits))

    async def run(self, operations: int) -> None:
        prices = load_prices()
        actors = [
            Steps(self.stage, self.models, random.Random(f"{self.seed} {number}"), prices=prices)
            for number in range(CONCURRENCY)
        ]
        while self.operations < operations:
            self.left = ROUND_OPERATIONS
            watching = asyncio.create_task(self._audit_meanwhile())
            await asyncio.gather(*(self._act(actor) for actor in actors))
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await self.audit_at_rest()
        for actor in actors:
            self.done += actor.done

    async def _act(self, actor: Steps) -> None:
        names, weights = list(OPERATIONS), list(OPERATIONS.values())
        shares = [share for *_, share in LIBRARIES]
        while self.left > 0:
            (on,), (name,) = actor.rng.choices(self.models, shares), actor.rng.choices(names, weights)
            try:
                await self._step(actor, name, on)
            except NothingToDoError:
                continue
            except RolledBackError:
                self.done["rolled back"] += 1
            except OVERLOADED:
                self.done["timed out"] += 1
            except asyncpg.PostgresError as error:
                self.surprises[f"{name}: {type(error).__name__}"] += 1
            if name in UNCOUNTED:
                continue
            self.left -= 1
            self.operations += 1
            self.done[f"requested: {name}"] += 1
            await self._observe(on)

    async def _step(self, actor: Steps, name: str, on: Model) -> None:
        """Run one operation; deadlocks are retried as Temporal would, except in operations of callers."""
        for left in reversed(range(RETRIES if name in BY_WORKFLOWS else 1)):
            try:
                await getattr(actor, name)(on)
            except asyncpg.DeadlockDetectedError:
                if not left:
                    raise
                self.done["retried after a deadlock"] += 1
            else:
                return

    async def _observe(self, on: Model) -> None:
        granted = on.grants_done
        async with self.stage.owner.acquire() as connection:
            row = await connection.fetchrow(BALANCES, on.library_id)
        assert row is not None
        on.observe(dict(row), granted_before=granted)
        self.audits += 1

    async def _audit_meanwhile(self) -> None:
        """Audit raw entries while operations run: a snapshot never contains part of a transaction."""
        rng = random.Random(self.seed)
        while True:
            await self._audit(rng.choice(self.models))
            await asyncio.sleep(WATCH_SECONDS)

    async def _audit(self, on: Model) -> None:
        audit = await audit_library(self.stage.owner, on.library_id, is_subscriber=on.tenant.is_subscriber)
        on.violations += audit.faults
        self.audits += 1

    async def audit_at_rest(self) -> None:
        for on in self.models:
            audit = await audit_library(self.stage.owner, on.library_id, is_subscriber=on.tenant.is_subscriber)
            on.compare(audit)
            self.audits += 1

    async def close_accounts(self) -> None:
        """Fail unfinished jobs and expire reservations: everything that was not captured is back in the wallet."""
        for on in self.models:
            later = on.clock + RESERVATION_LIFETIME
            async with self.stage.owner.acquire() as connection:
                unfinished = await connection.fetch(UNFINISHED, on.library_id)
            for job in unfinished:
                async with self.stage.database.transaction(on.library_id) as inside:
                    ref = JobRef(on.library_id, job["id"], job["attempt"])
                    await lifecycle.fail(inside, ref, failure=FAILURE, now=later)
            async with self.stage.database.transaction(on.library_id) as inside:
                await escrow.expire(inside, on.library_id, reservation_id=None, now=later)
            audit = await audit_library(self.stage.owner, on.library_id, is_subscriber=on.tenant.is_subscriber)
            captured = sum(line.millicredits for line in on.lines.values() if line.state == "captured")
            found = (audit.balances["wallet"], audit.balances["escrow"], audit.balances["revenue"])
            on.violations += audit.faults
            on.expect(found == (on.grants_done - captured, 0, captured), f"final balances {found}")

    async def detect_tampering(self) -> tuple[int, int]:
        """How many manipulations the audit in Python detects, and how many ledger_faults detects."""
        on, by_us, by_database = self.models[0], 0, 0
        async with self.stage.owner.acquire() as connection:
            for tampering in TAMPERINGS:
                transaction = connection.transaction()
                await transaction.start()
                await connection.execute(tampering, on.library_id)
                faults = (await audit_ledger(connection, on.library_id)).faults
                await transaction.rollback()
                theirs = [fault for fault in faults if fault.startswith(CHECKER)]
                by_us += len(faults) > len(theirs)
                by_database += bool(theirs)
        return by_us, by_database


async def prove_random_walk(report: Report, stage: Stage, *, operations: int, seed: int) -> None:
    walk, began = RandomWalk(stage, seed=seed), time.perf_counter()
    await walk.open()
    await walk.run(operations)
    seconds = time.perf_counter() - began
    by_us, by_database = await walk.detect_tampering()
    await walk.close_accounts()
    violations = [what for on in walk.models for what in on.violations]
    for what in violations[:SHOWN]:
        report.note(f"violation: {what}")
    report.note(f"seed {seed}; {dict(sorted(walk.done.items()))}")
    report.claim(
        f"random operations on {len(LIBRARIES)} libraries, {CONCURRENCY} concurrently",
        expected=f">= {operations}",
        measured=f"{walk.operations} in {seconds:.0f} s",
        holds=walk.operations >= operations,
    )
    report.claim(
        f"... violations in {walk.audits} audits", expected="0", measured=len(violations), holds=not violations
    )
    report.claim(
        "... unexpected database errors",
        expected="none",
        measured=dict(walk.surprises) or "none",
        holds=not walk.surprises,
    )
    idle = [name for name in MUST_HAPPEN if not walk.done[name]]
    report.claim("... outcomes that never occurred", expected="none", measured=idle or "none", holds=not idle)
    every = len(TAMPERINGS)
    report.claim(
        "manipulations detected by the audit in Python, and by ledger_faults",
        expected=f"{every}, {every}",
        measured=f"{by_us}, {by_database}",
        holds=by_us == by_database == every,
    )
    report.figures(operations=walk.operations, violations=len(violations), walk_surprises=sum(walk.surprises.values()))
    report.figures(walk_timeouts=walk.done["timed out"], walk_deadlocks=walk.done["retried after a deadlock"])
    report.figures(seed=seed, looks=walk.audits, tamperings_seen=min(by_us, by_database))
