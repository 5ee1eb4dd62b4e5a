"""Fixtures: a library's ledger, accessed as the application and as the schema owner."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest

from cutroom.credits import escrow, ledger
from cutroom.credits.activities import CreditActivities, ReservationTimer
from cutroom.credits.escrow import NewEscrowLines, create_lines, price_items
from cutroom.credits.ledger import AccountBalances
from cutroom.credits.pricing import Action, BillableItem, load_prices
from cutroom.credits.rules import Charge
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.support.transcribed_videos import advertise_languages, insert_video, withdraw_languages

PRICES = load_prices()
SPEECH = BillableItem(Action.SPEECH, "speech")
DAY = timedelta(days=1)
LONG = [f"{first}{second}" for first in "abc" for second in "abcdefghijklmnopqrstuvwxyz"]
LANGUAGES = [*LONG, "de", "es", "fr", "hi", "ja", "pt", "pt-BR"]

AddVideo = Callable[..., Awaitable[str]]
Act = Callable[[Connection], Awaitable[Any]]


class LedgerAccounts(NamedTuple):
    """The four accounts, in milli-credits."""

    wallet: int
    escrow: int
    revenue: int
    granted: int


@dataclass(frozen=True)
class LibraryLedger:
    """The ledger of one library."""

    runtime: Runtime
    owner: Connection  # the schema owner, which bypasses row-level security
    library_id: str

    def transaction(self) -> AbstractAsyncContextManager[Connection]:
        """Open a transaction as the application role, scoped to this library."""
        return self.runtime.database.transaction(self.library_id)

    async def grant(self, millicredits: int, reference: str | None = None) -> str:
        return await ledger.grant(
            self.owner,
            self.library_id,
            millicredits=millicredits,
            reference=reference or new_id(),
            now=system_clock(),
        )

    async def hold_lines(
        self,
        *millicredits: int,
        holder: str | None = None,
        reservation_id: str | None = None,
        expires_at: datetime | None = None,
    ) -> list[str]:
        """Hold amounts in milli-credits, one line each, for a holder or a reservation."""
        lines = NewEscrowLines(
            [(SPEECH, amount) for amount in millicredits],
            video_id=None,
            duration=None,
            pricing_version="test",
            holder=holder or (None if reservation_id else new_id()),
            reservation_id=reservation_id,
            expires_at=expires_at,
        )
        if lines.holder is not None:
            await self.add_job(lines.holder, *(item for item, _ in lines.priced))
        async with self.transaction() as connection:
            return await create_lines(connection, self.library_id, lines, now=system_clock())

    async def add_job(self, holder: str, *items: BillableItem) -> None:
        """Insert the job of a holder with a charge for these items, unless the test created it."""
        job_id, _, attempt = holder.partition(".")
        async with self.transaction() as connection:
            await connection.execute(
                """INSERT INTO jobs (library_id, id, type, status, attempt, plan, depends_on, charge, progress,
                       created_at, updated_at)
                   VALUES ($1, $2, 'transcript', 'processing', $3, '{"fixture": true}', '{}', $4, 0, now(), now())
                   ON CONFLICT (library_id, id) DO UPDATE SET attempt = excluded.attempt, charge = excluded.charge
                       WHERE jobs.plan ? 'fixture'""",
                self.library_id,
                job_id,
                int(attempt or 1),
                Charge(items, is_subscriber=False).as_json(),
            )

    async def capture(self, holder: str) -> None:
        async with self.transaction() as connection:
            await escrow.capture(connection, self.library_id, holder=holder, now=system_clock())

    async def release(self, holder: str) -> None:
        async with self.transaction() as connection:
            await escrow.release(connection, self.library_id, holder=holder, now=system_clock())

    async def expire(self, now: datetime, reservation_id: str | None = None) -> int:
        async with self.transaction() as connection:
            return await escrow.expire(connection, self.library_id, reservation_id=reservation_id, now=now)

    async def balances(self) -> AccountBalances:
        async with self.transaction() as connection:
            return await ledger.get_balances(connection, self.library_id)

    async def set_overdraft(self, millicredits: int) -> None:
        """Enable usage billing with this overdraft."""
        await self.owner.execute(
            "UPDATE ledger_balances SET overdraft = $2 WHERE library_id = $1", self.library_id, millicredits
        )

    async def freeze(self) -> None:
        await self.owner.execute("UPDATE ledger_balances SET frozen_at = now() WHERE library_id = $1", self.library_id)

    async def accounts(self) -> LedgerAccounts:
        row = await self.owner.fetchrow(
            "SELECT wallet, escrow, revenue, granted FROM ledger_balances WHERE library_id = $1", self.library_id
        )
        return LedgerAccounts(*row) if row is not None else LedgerAccounts(0, 0, 0, 0)

    async def entries(self) -> list[tuple[str, str, int]]:
        rows = await self.owner.fetch(
            """SELECT transaction_id, account, millicredits FROM ledger_entries
               WHERE library_id = $1 ORDER BY transaction_id, account""",
            self.library_id,
        )
        return [tuple(row) for row in rows]

    async def kinds(self) -> list[str]:
        """Return the kinds of all transactions, sorted."""
        rows = await self.owner.fetch(
            "SELECT kind FROM ledger_transactions WHERE library_id = $1 ORDER BY kind", self.library_id
        )
        return [row["kind"] for row in rows]

    async def states(self, *line_ids: str) -> list[str]:
        rows = await self.owner.fetch(
            "SELECT id, state FROM escrow_lines WHERE library_id = $1 AND id = ANY($2)", self.library_id, line_ids
        )
        by_id = {row["id"]: row["state"] for row in rows}
        return [by_id[line_id] for line_id in line_ids]

    async def faults(self) -> list[tuple[Any, ...]]:
        rows = await self.owner.fetch("SELECT * FROM ledger_faults($1)", self.library_id)
        return [tuple(row) for row in rows]


@pytest.fixture
async def library_ledger(
    runtime: Runtime, accounts: Accounts, person: Person, clock: MovableClock
) -> AsyncIterator[LibraryLedger]:
    """A library without credits; its ledger must be consistent after the test."""
    assert not clock.shift  # the API uses the system time until a test shifts it
    opened = LibraryLedger(runtime, accounts.connection, person.library_id)
    yield opened
    clock.shift = timedelta()
    assert await opened.faults() == []


@pytest.fixture
async def add_video(accounts: Accounts, person: Person) -> AsyncIterator[AddVideo]:
    """Insert a transcribed video directly; its duration may be unknown. Every language of LANGUAGES can be made."""

    async def add(duration_seconds: float | None, library_id: str | None = None, *, transcript: str = "ready") -> str:
        return await insert_video(
            accounts.connection,
            library_id or person.library_id,
            duration_seconds=duration_seconds,
            transcript=transcript,
        )

    await advertise_languages(accounts.connection, LANGUAGES)
    yield add
    await withdraw_languages(accounts.connection)


async def hold(
    library_ledger: LibraryLedger, charge: Charge, holder: str, video_id: str | None = None, now: datetime | None = None
) -> bool:
    await library_ledger.add_job(holder, *charge.items)
    async with library_ledger.transaction() as connection:
        return await escrow.hold(
            connection,
            library_ledger.library_id,
            charge,
            holder=holder,
            video_id=video_id,
            prices=PRICES,
            now=now or system_clock(),
        )


async def ensure_held_for(
    library_ledger: LibraryLedger, charge: Charge, holder: str, video_id: str | None = None
) -> None:
    await library_ledger.add_job(holder, *charge.items)
    async with library_ledger.transaction() as connection:
        await escrow.ensure_held(
            connection,
            library_ledger.library_id,
            charge,
            holder=holder,
            video_id=video_id,
            prices=PRICES,
            now=system_clock(),
        )


async def reserve(
    library_ledger: LibraryLedger, video_id: str, *items: BillableItem, seconds: int = 60, lifetime: timedelta = DAY
) -> tuple[str, list[str]]:
    """Create a reservation; return its id and its line ids."""
    reservation_id, now = new_id(), system_clock()
    priced = price_items(items, prices=PRICES, duration=seconds * 1000, is_subscriber=False)
    lines = NewEscrowLines(
        priced,
        video_id=video_id,
        duration=seconds * 1000,
        pricing_version=PRICES.version,
        reservation_id=reservation_id,
        expires_at=now + lifetime,
    )
    async with library_ledger.transaction() as connection:
        return reservation_id, await create_lines(connection, library_ledger.library_id, lines, now=now)


def charge_for(*items: BillableItem, reservation: str | None = None, lines: tuple[str, ...] = ()) -> Charge:
    return Charge(items, is_subscriber=False, reservation_id=reservation, line_ids=lines)


async def run_overlapping(library_ledger: LibraryLedger, first: Act, second: Act) -> list[Any]:
    """Run two overlapping transactions: the second starts before the first commits."""

    async def follow() -> Any:  # noqa: ANN401 (the result of the action)
        async with library_ledger.transaction() as connection:
            return await second(connection)

    async with library_ledger.transaction() as connection:
        result = await first(connection)
        following = asyncio.create_task(follow())
        await asyncio.wait({following}, timeout=0.2)
    return [result, *await asyncio.gather(following, return_exceptions=True)]


@dataclass
class FixedClock:
    """A clock that only changes when set."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def fixed_clock() -> FixedClock:
    return FixedClock(system_clock())


@pytest.fixture
def credit_activities(library_ledger: LibraryLedger, fixed_clock: FixedClock) -> CreditActivities:
    return CreditActivities(database=library_ledger.runtime.database, clock=fixed_clock)


async def reserve_until(
    library_ledger: LibraryLedger, *millicredits: int, expires_at: datetime
) -> tuple[ReservationTimer, list[str]]:
    reservation_id = new_id()
    lines = await library_ledger.hold_lines(*millicredits, reservation_id=reservation_id, expires_at=expires_at)
    return ReservationTimer(library_ledger.library_id, reservation_id, expires_at), lines


async def claim_line(library_ledger: LibraryLedger, line_id: str, holder: str) -> None:
    """Assign a line to a holder."""
    await library_ledger.add_job(holder, SPEECH)
    await library_ledger.owner.execute("UPDATE escrow_lines SET holder = $2 WHERE id = $1", line_id, holder)


async def check_times(library_ledger: LibraryLedger) -> tuple[datetime | None, datetime | None]:
    """Return `checked_at` and `frozen_at`."""
    row = await library_ledger.owner.fetchrow(
        "SELECT checked_at, frozen_at FROM ledger_balances WHERE library_id = $1", library_ledger.library_id
    )
    assert row is not None
    return row["checked_at"], row["frozen_at"]
