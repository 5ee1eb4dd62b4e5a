"""A library with its money, as the application moves it and as the schema's owner sees it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import pytest

from cutroom.credits import escrow, ledger
from cutroom.credits.escrow import NewLines
from cutroom.credits.ledger import Funds
from cutroom.credits.pricing import Action, Work
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

SPEECH = Work(Action.SPEECH, "speech")


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
        async with self.transaction() as connection:
            return await escrow.put_lines(connection, self.library_id, lines, now=system_clock())

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
async def books(runtime: Runtime, accounts: Accounts, person: Person) -> AsyncIterator[Books]:
    """A library without credits; whatever a test does with it, its books are right at the end."""
    opened = Books(runtime, accounts.connection, person.library_id)
    yield opened
    assert await opened.faults() == []


AddVideo = Callable[..., Awaitable[str]]


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
