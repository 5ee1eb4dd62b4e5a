"""Thousands of random operations on credits, 32 at once, against a model and against the raw entries."""

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
from proofs.credits.model import Model
from proofs.credits.requests import LASTS, GivenUpError, IdleError
from proofs.credits.stage import Stage
from proofs.credits.steps import FAILURE, Steps
from proofs.stage.ledger_audit import CHECKER, look, read_books
from proofs.stage.price_model import random_seconds
from proofs.stage.report import Report

AT_ONCE = 32
A_ROUND = 350  # operations between two moments of rest, at which the books must be the model's
WATCH_SECONDS = 1.0  # between two looks at raw entries meanwhile
VIDEOS = 6
SHOWN = 12  # broken observations that are printed
# Milli-credits at first, how far below zero, the plan, and how often it is chosen: one is hot, one is poor.
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
    "twins": 3,
    "begin": 20,
    "finish": 14,
    "fail": 5,
    "double": 5,
    "again": 5,
    "expire": 6,
    "misuse": 6,
    "grant": 3,
    "learn": 1,
    "wait": 4,
}
UNCOUNTED = {"learn", "wait"}  # they move no credits
BY_WORKFLOWS = {"begin", "finish", "fail", "double", "expire"}
RETRIES = 3
# A machine that is too slow for its limits on time; everything is rolled back, and nothing was done.
OVERLOADED = (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError, TimeoutError)
BALANCES = "SELECT wallet, escrow, revenue, granted, overdraft FROM ledger_balances WHERE library_id = $1"
UNFINISHED = "SELECT id, attempt FROM jobs WHERE library_id = $1 AND status IN ('queued', 'processing')"
MUST_HAPPEN = (
    "reserved",
    "refused for want of credits",
    "consumed",
    "consumption refused",
    "paid from the wallet",
    "began",
    "could not be paid when it began",
    "finished",
    "failed",
    "failed with what they waited for",
    "ended twice, in vain",
    "tried again",
    "asked again, in vain",
    "lines expired",
    "misuse refused",
    "rolled back",
)

# What somebody could do to the books; each must be seen by the check in Python and by the database's own.
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


class Walk:
    """The libraries, and everybody who acts on them."""

    def __init__(self, stage: Stage, *, seed: int) -> None:
        self.stage = stage
        self.seed = seed
        self.models: list[Model] = []
        self.operations = 0
        self.looks = 0
        self.surprises: Counter[str] = Counter()
        self.done: Counter[str] = Counter()

    async def open(self) -> None:
        chance = random.Random(self.seed)
        for millicredits, overdraft, plan, _ in LIBRARIES:
            tenant = await self.stage.tenant(millicredits=millicredits, overdraft=overdraft, plan=plan)
            videos = await self.stage.videos(tenant, chance, count=VIDEOS)
            coming = {video: random_seconds(chance) for video, seconds in videos.items() if seconds is None}
            self.models.append(Model(tenant, system_clock(), videos, coming, millicredits, millicredits))

    async def run(self, operations: int) -> None:
        prices = load_prices()
        actors = [
            Steps(self.stage, self.models, random.Random(f"{self.seed} {number}"), prices=prices)
            for number in range(AT_ONCE)
        ]
        while self.operations < operations:
            self.left = A_ROUND
            watching = asyncio.create_task(self._watch())
            await asyncio.gather(*(self._act(actor) for actor in actors))
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await self.rest()
        for actor in actors:
            self.done += actor.done

    async def _act(self, actor: Steps) -> None:
        names, weights = list(OPERATIONS), list(OPERATIONS.values())
        shares = [share for *_, share in LIBRARIES]
        while self.left > 0:
            (on,), (name,) = actor.chance.choices(self.models, shares), actor.chance.choices(names, weights)
            try:
                await self._step(actor, name, on)
            except IdleError:
                continue
            except GivenUpError:
                self.done["rolled back"] += 1
            except OVERLOADED:
                self.done["timed out"] += 1
            except asyncpg.PostgresError as error:
                self.surprises[f"{name}: {type(error).__name__}"] += 1
            if name in UNCOUNTED:
                continue
            self.left -= 1
            self.operations += 1
            self.done[f"asked: {name}"] += 1
            await self._observe(on)

    async def _step(self, actor: Steps, name: str, on: Model) -> None:
        """What a workflow does is tried again when the database undoes it; what a caller does is not."""
        for left in reversed(range(RETRIES if name in BY_WORKFLOWS else 1)):
            try:
                await getattr(actor, name)(on)
            except asyncpg.DeadlockDetectedError:
                if not left:
                    raise
                self.done["tried again after a deadlock"] += 1
            else:
                return

    async def _observe(self, on: Model) -> None:
        granted = on.grants_done
        async with self.stage.owner.acquire() as connection:
            row = await connection.fetchrow(BALANCES, on.library_id)
        assert row is not None
        on.observe(dict(row), granted_before=granted)
        self.looks += 1

    async def _watch(self) -> None:
        """Add up raw entries while everybody is paying: a snapshot is never half of a transaction."""
        chance = random.Random(self.seed)
        while True:
            await self._look(chance.choice(self.models))
            await asyncio.sleep(WATCH_SECONDS)

    async def _look(self, on: Model) -> None:
        books = await look(self.stage.owner, on.library_id, is_subscriber=on.tenant.is_subscriber)
        on.broken += books.faults
        self.looks += 1

    async def rest(self) -> None:
        for on in self.models:
            books = await look(self.stage.owner, on.library_id, is_subscriber=on.tenant.is_subscriber)
            on.compare(books)
            self.looks += 1

    async def close_accounts(self) -> None:
        """Fail what is unfinished and let time pass: then all that was not captured is back in the wallet."""
        for on in self.models:
            later = on.clock + LASTS
            async with self.stage.owner.acquire() as connection:
                unfinished = await connection.fetch(UNFINISHED, on.library_id)
            for job in unfinished:
                async with self.stage.database.transaction(on.library_id) as inside:
                    ref = JobRef(on.library_id, job["id"], job["attempt"])
                    await lifecycle.fail(inside, ref, failure=FAILURE, now=later)
            async with self.stage.database.transaction(on.library_id) as inside:
                await escrow.expire(inside, on.library_id, reservation_id=None, now=later)
            books = await look(self.stage.owner, on.library_id, is_subscriber=on.tenant.is_subscriber)
            captured = sum(line.millicredits for line in on.lines.values() if line.state == "captured")
            found = (books.balances["wallet"], books.balances["escrow"], books.balances["revenue"])
            on.broken += books.faults
            on.expect(found == (on.grants_done - captured, 0, captured), f"in the end there is {found}")

    async def tamper(self) -> tuple[int, int]:
        """How many of the tamperings the check in Python sees, and how many the database's own."""
        on, by_us, by_database = self.models[0], 0, 0
        async with self.stage.owner.acquire() as connection:
            for tampering in TAMPERINGS:
                transaction = connection.transaction()
                await transaction.start()
                await connection.execute(tampering, on.library_id)
                faults = (await read_books(connection, on.library_id)).faults
                await transaction.rollback()
                theirs = [fault for fault in faults if fault.startswith(CHECKER)]
                by_us += len(faults) > len(theirs)
                by_database += bool(theirs)
        return by_us, by_database


async def prove_walk(report: Report, stage: Stage, *, operations: int, seed: int) -> None:
    walk, began = Walk(stage, seed=seed), time.perf_counter()
    await walk.open()
    await walk.run(operations)
    seconds = time.perf_counter() - began
    by_us, by_database = await walk.tamper()
    await walk.close_accounts()
    broken = [what for on in walk.models for what in on.broken]
    for what in broken[:SHOWN]:
        report.note(f"broken: {what}")
    report.note(f"seed {seed}; {dict(sorted(walk.done.items()))}")
    report.claim(
        f"random operations on {len(LIBRARIES)} libraries, {AT_ONCE} at once",
        wanted=f">= {operations}",
        measured=f"{walk.operations} in {seconds:.0f} s",
        holds=walk.operations >= operations,
    )
    report.claim(f"... broken among {walk.looks} looks", wanted="0", measured=len(broken), holds=not broken)
    report.claim(
        "... errors that no caller should meet",
        wanted="none",
        measured=dict(walk.surprises) or "none",
        holds=not walk.surprises,
    )
    idle = [name for name in MUST_HAPPEN if not walk.done[name]]
    report.claim("... outcomes that never came about", wanted="none", measured=idle or "none", holds=not idle)
    every = len(TAMPERINGS)
    report.claim(
        "tamperings seen by the check in Python, and by the database's own",
        wanted=f"{every}, {every}",
        measured=f"{by_us}, {by_database}",
        holds=by_us == by_database == every,
    )
    report.figures(operations=walk.operations, violations=len(broken), walk_surprises=sum(walk.surprises.values()))
    report.figures(walk_timeouts=walk.done["timed out"], walk_deadlocks=walk.done["tried again after a deadlock"])
    report.figures(seed=seed, looks=walk.looks, tamperings_seen=min(by_us, by_database))
