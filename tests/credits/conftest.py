"""A library with its money, as the application moves it and as the schema's owner sees it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pytest

from cutroom.credits import escrow, ledger
from cutroom.credits.activities import CreditActivities, ReservationTimer
from cutroom.credits.escrow import NewLines, price_all, put_lines
from cutroom.credits.ledger import Funds
from cutroom.credits.pricing import Action, Work, load_prices
from cutroom.credits.rules import Bill
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock

PRICES = load_prices()
SPEECH = Work(Action.SPEECH, "speech")
DAY = timedelta(days=1)

AddVideo = Callable[..., Awaitable[str]]
Act = Callable[[Connection], Awaitable[Any]]


class Accountancy(NamedTuple):
    """The four accounts, in milli-credits."""

    wallet: int
    escrow: int
    revenue: int
    granted: int


@dataclass(frozen=True)
class Books:
    """The money of one library."""

    runtime: Runtime
    owner: Connection  # of the schema: nothing is closed to it
    library_id: str

    def transaction(self) -> AbstractAsyncContextManager[Connection]:
        """As the application, inside this library."""
        return self.runtime.database.transaction(self.library_id)

    async def grant(self, millicredits: int, reference: str | None = None) -> str:
        return await ledger.grant(
            self.owner,
            self.library_id,
            millicredits=millicredits,
            reference=reference or new_id(),
            now=system_clock(),
        )

    async def put(
        self,
        *millicredits: int,
        holder: str | None = None,
        reservation_id: str | None = None,
        expires_at: datetime | None = None,
    ) -> list[str]:
        """Hold so many milli-credits, a line each; for a holder unless a reservation is named."""
        lines = NewLines(
            [(SPEECH, amount) for amount in millicredits],
            video_id=None,
            duration=None,
            pricing_version="test",
            holder=holder or (None if reservation_id else new_id()),
            reservation_id=reservation_id,
            expires_at=expires_at,
        )
        if lines.holder is not None:
            await self.add_work(lines.holder, *(work for work, _ in lines.priced))
        async with self.transaction() as connection:
            return await put_lines(connection, self.library_id, lines, now=system_clock())

    async def add_work(self, holder: str, *works: Work) -> None:
        """Have a job whose attempt this is, with a bill for these works; a job of the test's own stays as it is."""
        job_id, _, attempt = holder.partition(".")
        async with self.transaction() as connection:
            await connection.execute(
                """INSERT INTO jobs (library_id, id, type, status, attempt, plan, depends_on, bill, progress,
                       created_at, updated_at)
                   VALUES ($1, $2, 'transcript', 'processing', $3, '{"made": true}', '{}', $4, 0, now(), now())
                   ON CONFLICT (library_id, id) DO UPDATE SET attempt = excluded.attempt, bill = excluded.bill
                       WHERE jobs.plan ? 'made'""",
                self.library_id,
                job_id,
                int(attempt or 1),
                Bill(works, is_subscriber=False).as_json(),
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

    async def funds(self) -> Funds:
        async with self.transaction() as connection:
            return await ledger.funds(connection, self.library_id)

    async def allow_debt(self, millicredits: int) -> None:
        """Usage billing, down to so far below zero."""
        await self.owner.execute(
            "UPDATE ledger_balances SET overdraft = $2 WHERE library_id = $1", self.library_id, millicredits
        )

    async def freeze(self) -> None:
        await self.owner.execute("UPDATE ledger_balances SET frozen_at = now() WHERE library_id = $1", self.library_id)

    async def accounts(self) -> Accountancy:
        row = await self.owner.fetchrow(
            "SELECT wallet, escrow, revenue, granted FROM ledger_balances WHERE library_id = $1", self.library_id
        )
        return Accountancy(*row) if row is not None else Accountancy(0, 0, 0, 0)

    async def entries(self) -> list[tuple[str, str, int]]:
        rows = await self.owner.fetch(
            """SELECT transaction_id, account, millicredits FROM ledger_entries
               WHERE library_id = $1 ORDER BY transaction_id, account""",
            self.library_id,
        )
        return [tuple(row) for row in rows]

    async def kinds(self) -> list[str]:
        """The movements there were, by kind."""
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
async def books(runtime: Runtime, accounts: Accounts, person: Person, clock: MovableClock) -> AsyncIterator[Books]:
    """A library without credits; whatever a test does with it, its books are right at the end."""
    assert not clock.shift  # the API's time is the system's, until a test moves it
    opened = Books(runtime, accounts.connection, person.library_id)
    yield opened
    clock.shift = timedelta()
    assert await opened.faults() == []


@pytest.fixture
def add_video(accounts: Accounts, person: Person) -> AddVideo:
    """Put a video into a library, past the API; its duration need not be known."""

    async def add(duration_seconds: float | None, library_id: str | None = None) -> str:
        video_id = new_id()
        row = {
            "library_id": library_id or person.library_id,
            "id": video_id,
            "status": "ready",
            "import_status": "ready",
            "duration_seconds": duration_seconds,
            "created_at": system_clock(),
        }
        await insert(accounts.connection, "videos", row)
        return video_id

    return add


async def hold(books: Books, bill: Bill, holder: str, video_id: str | None = None, now: datetime | None = None) -> bool:
    await books.add_work(holder, *bill.works)
    async with books.transaction() as connection:
        return await escrow.hold(
            connection,
            books.library_id,
            bill,
            holder=holder,
            video_id=video_id,
            prices=PRICES,
            now=now or system_clock(),
        )


async def ensure(books: Books, bill: Bill, holder: str, video_id: str | None = None) -> None:
    await books.add_work(holder, *bill.works)
    async with books.transaction() as connection:
        await escrow.ensure_held(
            connection, books.library_id, bill, holder=holder, video_id=video_id, prices=PRICES, now=system_clock()
        )


async def reserve(
    books: Books, video_id: str, *works: Work, seconds: int = 60, lasts: timedelta = DAY
) -> tuple[str, list[str]]:
    """The reservation's id and those of its lines."""
    reservation_id, now = new_id(), system_clock()
    priced = price_all(works, prices=PRICES, duration=seconds * 1000, is_subscriber=False)
    lines = NewLines(
        priced,
        video_id=video_id,
        duration=seconds * 1000,
        pricing_version=PRICES.version,
        reservation_id=reservation_id,
        expires_at=now + lasts,
    )
    async with books.transaction() as connection:
        return reservation_id, await put_lines(connection, books.library_id, lines, now=now)


def paying(*works: Work, reservation: str | None = None, lines: tuple[str, ...] = ()) -> Bill:
    return Bill(works, is_subscriber=False, reservation_id=reservation, line_ids=lines)


async def at_once(books: Books, first: Act, second: Act) -> list[Any]:
    """Two transactions that overlap: the second begins while the first has acted and not committed."""

    async def follow() -> Any:  # noqa: ANN401 (whatever it gives)
        async with books.transaction() as connection:
            return await second(connection)

    async with books.transaction() as connection:
        given = await first(connection)
        following = asyncio.create_task(follow())
        await asyncio.wait({following}, timeout=0.2)
    return [given, *await asyncio.gather(following, return_exceptions=True)]


@dataclass
class SetClock:
    """A clock that stands still until it is set."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def hand() -> SetClock:
    return SetClock(system_clock())


@pytest.fixture
def credit(books: Books, hand: SetClock) -> CreditActivities:
    return CreditActivities(database=books.runtime.database, clock=hand)


async def reserve_until(books: Books, *millicredits: int, expires_at: datetime) -> tuple[ReservationTimer, list[str]]:
    reservation_id = new_id()
    lines = await books.put(*millicredits, reservation_id=reservation_id, expires_at=expires_at)
    return ReservationTimer(books.library_id, reservation_id, expires_at), lines


async def use(books: Books, line_id: str, holder: str) -> None:
    """As work does that consumes a line."""
    await books.add_work(holder, SPEECH)
    await books.owner.execute("UPDATE escrow_lines SET holder = $2 WHERE id = $1", line_id, holder)


async def state_of(books: Books) -> tuple[datetime | None, datetime | None]:
    """When the books were checked, and since when they are frozen."""
    row = await books.owner.fetchrow(
        "SELECT checked_at, frozen_at FROM ledger_balances WHERE library_id = $1", books.library_id
    )
    assert row is not None
    return row["checked_at"], row["frozen_at"]
