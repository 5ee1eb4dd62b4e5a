"""Every way in which books can be wrong is seen, by its name; and whoever's books are wrong spends nothing more."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from cutroom.credits import ledger
from cutroom.credits.rules import Bill
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts
from tests.credits.conftest import SPEECH, Books

ACCOUNTS = "movement between the wrong accounts"
UNBALANCED = "transaction does not sum to zero"
BALANCE = "balance is not the sum of its entries"
ESCROW = "escrow is not the sum of open lines"
SETTLED = "line is not settled as it says"
NO_LINE = "settlement without a line"
HOLD = "hold is not the sum of its lines"
NO_HOLD = "line without a hold"
HOLDS = "finished job holds escrow"
UNCHARGED = "ready job was never charged"
GONE = "balance is gone"
NO_WORK = "line of a holder that no work has"
WORKS = "lines are not the works of the bill"
EVERY_FAULT = {ACCOUNTS, UNBALANCED, BALANCE, ESCROW, SETTLED, NO_LINE, HOLD, NO_HOLD, HOLDS, UNCHARGED}
EVERY_FAULT |= {GONE, NO_WORK, WORKS}

BILL = Bill((SPEECH,), is_subscriber=False).as_json()


@dataclass(frozen=True)
class World:
    """A library in which everything has happened once; names stand for ids in what breaks it."""

    books: Books
    names: dict[str, str] = field(default_factory=dict)

    async def add_job(self, name: str, status: str, attempt: int = 1, **columns: Any) -> str:  # noqa: ANN401
        job_id = self.names[name] = f"transcript_{new_id()}"
        now = system_clock()
        row = {
            "library_id": self.books.library_id,
            "id": job_id,
            "type": "transcript",
            "status": status,
            "attempt": attempt,
            "plan": {},
            "depends_on": [],
            "bill": BILL,
            "progress": 0,
            "created_at": now,
            "updated_at": now,
            "finished_at": now if status in {"ready", "failed"} else None,
            "error_code": "INTERNAL" if status == "failed" else None,
            **columns,
        }
        await insert(self.books.owner, "jobs", row)
        return job_id

    async def add_line(self, name: str, millicredits: int, **named: Any) -> None:  # noqa: ANN401
        (self.names[name],) = await self.books.put(millicredits, **named)


@pytest.fixture
async def world(books: Books) -> World:
    """Jobs queued, running, ready, failed and tried again; a reservation that is open and one that is over."""
    made = World(books, {"library": books.library_id})
    made.names["grant"] = await books.grant(100_000)
    await made.add_job("queued", "queued")
    await made.add_job("free", "ready", bill=None)
    await made.add_line("held", 1_000, holder=await made.add_job("running", "processing"))
    await made.add_line("captured", 2_000, holder=await made.add_job("ready", "ready"))
    await made.add_line("released", 3_000, holder=await made.add_job("failed", "failed"))
    again = await made.add_job("again", "ready", 2)
    await made.add_line("first", 4_000, holder=again)
    await books.release(again)
    await made.add_line("second", 4_000, holder=f"{again}.2")
    await books.capture(f"{again}.2")
    await books.capture(made.names["ready"])
    await books.release(made.names["failed"])
    tomorrow = system_clock() + timedelta(days=1)
    await made.add_line("reserved", 5_000, reservation_id=new_id(), expires_at=tomorrow)
    await made.add_line("expired", 6_000, reservation_id=new_id(), expires_at=tomorrow - timedelta(days=1))
    assert await books.expire(system_clock()) == 1
    return made


@asynccontextmanager
async def broken(world: World, *statements: str) -> AsyncIterator[Connection]:
    """The library with a fault in it, until the end of the block; only the schema's owner could do this."""
    owner = world.books.owner
    transaction = owner.transaction()
    await transaction.start()
    try:
        for statement in statements:
            changed = await owner.execute(statement.format(**world.names))
            assert not changed.endswith(" 0"), f"nothing was broken by {statement}"
        yield owner
    finally:
        await transaction.rollback()


ENTRY = "UPDATE ledger_entries SET millicredits = millicredits {change} WHERE transaction_id = '{{grant}}'"
POST = "SELECT post_movement('{{library}}', 'new', '{kind}', '{about}', {amount}, now())"

# How the books are broken, and every fault that is seen then.
BREAKS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "one side of a transaction is more": (
        (ENTRY.format(change="+ 1") + " AND account = 'wallet'",),
        {UNBALANCED, BALANCE},
    ),
    "one side of a transaction is gone": (
        ("DELETE FROM ledger_entries WHERE transaction_id = '{grant}' AND account = 'grant'",),
        {UNBALANCED, BALANCE, ACCOUNTS},
    ),
    "both sides of a transaction are gone": (
        ("DELETE FROM ledger_entries WHERE transaction_id = '{grant}'",),
        {UNBALANCED, BALANCE, ACCOUNTS},
    ),
    "both sides of a transaction are more": ((ENTRY.format(change="* 2"),), {BALANCE}),
    "a grant that was taken from revenue": (
        ("UPDATE ledger_entries SET account = 'revenue' WHERE transaction_id = '{grant}' AND account = 'grant'",),
        {BALANCE, ACCOUNTS},
    ),
    "a wallet has more than was granted": (
        ("UPDATE ledger_balances SET wallet = wallet + 1, granted = granted - 1 WHERE library_id = '{library}'",),
        {BALANCE},
    ),
    "revenue is more": (
        ("UPDATE ledger_balances SET wallet = wallet - 1, revenue = revenue + 1 WHERE library_id = '{library}'",),
        {BALANCE},
    ),
    "escrow is less": (
        ("UPDATE ledger_balances SET wallet = wallet + 1, escrow = escrow - 1 WHERE library_id = '{library}'",),
        {BALANCE, ESCROW},
    ),
    "an open line is worth more": (
        ("UPDATE escrow_lines SET millicredits = 1001 WHERE id = '{held}'",),
        {ESCROW, HOLD},
    ),
    "an open line is gone": (("DELETE FROM escrow_lines WHERE id = '{held}'",), {ESCROW, HOLD}),
    "an open line is said to be captured": (
        ("UPDATE escrow_lines SET state = 'captured', ended_at = now() WHERE id = '{held}'",),
        {ESCROW, SETTLED},
    ),
    "an open line is said to be released": (
        ("UPDATE escrow_lines SET state = 'released', ended_at = now() WHERE id = '{reserved}'",),
        {ESCROW, SETTLED},
    ),
    "a captured line is said to be released": (
        ("UPDATE escrow_lines SET state = 'released' WHERE id = '{captured}'",),
        {SETTLED, UNCHARGED},
    ),
    "a released line is said to be captured": (
        ("UPDATE escrow_lines SET state = 'captured' WHERE id = '{released}'",),
        {SETTLED},
    ),
    "a captured line is said to be open": (
        ("UPDATE escrow_lines SET state = 'open', ended_at = NULL WHERE id = '{captured}'",),
        {ESCROW, SETTLED, HOLDS, UNCHARGED},
    ),
    "a captured line was worth more": (
        ("UPDATE escrow_lines SET millicredits = 2001 WHERE id = '{captured}'",),
        {SETTLED, HOLD},
    ),
    "a captured line is released as well": (
        (
            "DROP INDEX ledger_transactions_settled_key",
            POST.format(kind="release", about="{captured}", amount=2_000),
        ),
        {ESCROW, SETTLED},
    ),
    "a line is captured twice": (
        (
            "DROP INDEX ledger_transactions_settled_key",
            "DROP INDEX ledger_transactions_reference_key",
            POST.format(kind="capture", about="{captured}", amount=2_000),
        ),
        {ESCROW, SETTLED},
    ),
    "an open line is captured and does not say so": (
        (POST.format(kind="capture", about="{held}", amount=1_000),),
        {ESCROW, SETTLED},
    ),
    "a line is released in part": (
        (
            "UPDATE escrow_lines SET state = 'released', ended_at = now() WHERE id = '{held}'",
            POST.format(kind="release", about="{held}", amount=999),
        ),
        {ESCROW, SETTLED},
    ),
    "a capture of no line": ((POST.format(kind="capture", about="nothing", amount=1),), {ESCROW, NO_LINE}),
    "a release of no line": ((POST.format(kind="release", about="nothing", amount=1),), {ESCROW, NO_LINE}),
    "a hold without lines": ((POST.format(kind="hold", about="nothing", amount=1),), {ESCROW, HOLD}),
    "a captured line is gone": (
        ("DELETE FROM escrow_lines WHERE id = '{captured}'",),
        {HOLD, NO_LINE, UNCHARGED},
    ),
    "a line without a hold": (
        ("UPDATE escrow_lines SET hold_id = 'nothing' WHERE id = '{held}'",),
        {HOLD, NO_HOLD},
    ),
    "a line whose hold is a grant": (
        ("UPDATE escrow_lines SET hold_id = '{grant}' WHERE id = '{held}'",),
        {HOLD, NO_HOLD},
    ),
    "a line that says another hold": (
        (
            "UPDATE escrow_lines SET hold_id = (SELECT hold_id FROM escrow_lines WHERE id = '{held}') "
            "WHERE id = '{reserved}'",
        ),
        {HOLD},
    ),
    "a ready job still holds": (
        ("UPDATE jobs SET status = 'ready', finished_at = now() WHERE id = '{running}'",),
        {HOLDS, UNCHARGED},
    ),
    "a failed job still holds": (
        ("UPDATE jobs SET status = 'failed', error_code = 'INTERNAL', finished_at = now() WHERE id = '{running}'",),
        {HOLDS},
    ),
    "an earlier attempt still holds": (("UPDATE jobs SET attempt = 2 WHERE id = '{running}'",), {HOLDS}),
    "a ready job never held anything": (
        ("UPDATE jobs SET status = 'ready', finished_at = now() WHERE id = '{queued}'",),
        {UNCHARGED},
    ),
    "a ready job got its credits back": (
        ("UPDATE jobs SET status = 'ready', error_code = NULL WHERE id = '{failed}'",),
        {UNCHARGED},
    ),
    "a balance is gone": (("DELETE FROM ledger_balances WHERE library_id = '{library}'",), {GONE}),
    "a line is held by nobody": (
        ("UPDATE escrow_lines SET holder = 'nobody' WHERE id = '{held}'",),
        {NO_WORK},
    ),
    "a captured line is held by nobody": (
        ("UPDATE escrow_lines SET holder = 'nobody' WHERE id = '{captured}'",),
        {NO_WORK, UNCHARGED},
    ),
    "a job is gone and its line is not": (("DELETE FROM jobs WHERE id = '{running}'",), {NO_WORK}),
    "a line is held by an attempt that never was": (
        ("UPDATE escrow_lines SET holder = '{failed}.2' WHERE id = '{released}'",),
        {NO_WORK},
    ),
    "a line is held by something like an attempt": (
        ("UPDATE escrow_lines SET holder = '{failed}.x' WHERE id = '{released}'",),
        {NO_WORK},
    ),
    "a line is of another language than the bill": (
        ("UPDATE escrow_lines SET language = 'de' WHERE id = '{captured}'",),
        {WORKS},
    ),
    "a line has other terms than the bill": (
        ("UPDATE escrow_lines SET terms = '{{\"words\": 1}}' WHERE id = '{held}'",),
        {WORKS},
    ),
    "a bill has more works than lines are held": (
        ("UPDATE jobs SET bill = jsonb_set(bill, '{{works,1}}', bill #> '{{works,0}}') WHERE id = '{running}'",),
        {WORKS},
    ),
    "a line is held by work that has another": (
        ("UPDATE escrow_lines SET holder = '{running}' WHERE id = '{released}'",),
        {WORKS},
    ),
    "work without a bill holds a line": (("UPDATE jobs SET bill = NULL WHERE id = '{running}'",), {WORKS}),
    "a later attempt was not charged": (("UPDATE jobs SET attempt = 3 WHERE id = '{again}'",), {UNCHARGED}),
}


async def test_healthy_books_have_no_fault_and_stay_open(world: World) -> None:
    books = world.books
    assert await books.faults() == []
    now = system_clock()
    assert await books.owner.fetch("SELECT * FROM check_ledger($1, $2)", books.library_id, now) == []
    row = await books.owner.fetchrow(
        "SELECT frozen_at, checked_at FROM ledger_balances WHERE library_id = $1", books.library_id
    )
    assert row is not None
    assert tuple(row) == (None, now)
    await books.put(1)


@pytest.mark.parametrize(("statements", "faults"), BREAKS.values(), ids=list(BREAKS))
async def test_a_fault_is_seen_by_its_name(world: World, statements: tuple[str, ...], faults: set[str]) -> None:
    async with broken(world, *statements):
        assert {fault[0] for fault in await world.books.faults()} == faults
    assert await world.books.faults() == []


def test_every_fault_is_broken_by_something() -> None:
    assert set().union(*(faults for _, faults in BREAKS.values())) == EVERY_FAULT


@pytest.mark.parametrize(("statements", "faults"), BREAKS.values(), ids=list(BREAKS))
async def test_a_fault_freezes_spending(world: World, statements: tuple[str, ...], faults: set[str]) -> None:
    library_id, now = world.books.library_id, system_clock()
    async with broken(world, *statements) as owner:
        seen = await owner.fetch("SELECT * FROM check_ledger($1, $2)", library_id, now)
        assert {row["fault"] for row in seen} == faults
        frozen_at = "SELECT frozen_at FROM ledger_balances WHERE library_id = $1"
        assert await owner.fetchval(frozen_at, library_id) == now
        await owner.execute("SELECT set_config('cutroom.library_id', $1, true)", library_id)
        with pytest.raises(CutroomError) as refused:
            await ledger.hold(owner, library_id, transaction_id=new_id(), reference=new_id(), millicredits=1, now=now)
        assert refused.value.code is Code.FAILED_PRECONDITION
        later = now + timedelta(hours=1)  # it is frozen since the first time
        await owner.fetch("SELECT * FROM check_ledger($1, $2)", library_id, later)
        assert await owner.fetchval(frozen_at, library_id) == now


async def test_a_fault_says_where_and_by_how_much(world: World) -> None:
    held = world.names["held"]
    async with broken(world, "UPDATE escrow_lines SET millicredits = 1001 WHERE id = '{held}'"):
        hold_id = await world.books.owner.fetchval("SELECT hold_id FROM escrow_lines WHERE id = $1", held)
        assert sorted(await world.books.faults()) == [(ESCROW, "escrow", 6_001, 6_000), (HOLD, hold_id, 1_001, 1_000)]
    more = "UPDATE ledger_balances SET wallet = wallet + 7, granted = granted - 7 WHERE library_id = '{library}'"
    async with broken(world, more):
        found = {fault[1:3]: fault[3] for fault in await world.books.faults()}
    wallet = (await world.books.accounts()).wallet
    assert found == {("wallet", wallet): wallet + 7, ("grant", -100_000): -100_007}


async def test_the_books_of_others_have_no_part_in_it(world: World, accounts: Accounts) -> None:
    neighbour = Books(world.books.runtime, world.books.owner, (await accounts.person()).library_id)
    await neighbour.grant(1_000)
    await neighbour.put(300)
    async with broken(world, "DELETE FROM ledger_entries WHERE library_id = '{library}'") as owner:
        assert await neighbour.faults() == []
        for library_id in (world.books.library_id, neighbour.library_id):
            await owner.fetch("SELECT * FROM check_ledger($1, now())", library_id)
        rows = await owner.fetch(
            "SELECT library_id FROM ledger_balances WHERE library_id = ANY($1) AND frozen_at IS NULL",
            [world.books.library_id, neighbour.library_id],
        )
        assert [row["library_id"] for row in rows] == [neighbour.library_id]


async def test_books_that_were_mended_stay_frozen_until_an_operator_looked(world: World) -> None:
    books = world.books
    await books.freeze()
    assert await books.owner.fetch("SELECT * FROM check_ledger($1, now())", books.library_id) == []
    assert (await books.funds()).is_frozen


async def test_the_application_may_have_its_books_checked(world: World) -> None:
    async with world.books.transaction() as connection:
        assert await connection.fetch("SELECT * FROM check_ledger($1, now())", world.books.library_id) == []
