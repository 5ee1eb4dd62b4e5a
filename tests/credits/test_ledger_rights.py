"""What the application's role cannot do to the ledger, whatever statement it sends."""

import asyncpg
import pytest

from cutroom.credits import ledger
from cutroom.credits.ledger import Funds
from cutroom.credits.models import EscrowLine
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.credits.conftest import Books

MOVE = "SELECT move_credits($1, $2, $3, $4, $5, now())"

APPEND_ONLY = ["ledger_balances", "ledger_transactions", "ledger_entries", "escrow_lines"]
FORBIDDEN = [
    *(f"DELETE FROM {table}" for table in APPEND_ONLY),  # noqa: S608
    *(f"TRUNCATE {table} CASCADE" for table in APPEND_ONLY),
    *(f"ALTER TABLE {table} DISABLE TRIGGER ALL" for table in APPEND_ONLY),
    *(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY" for table in APPEND_ONLY),
    *(f"DROP TABLE {table} CASCADE" for table in APPEND_ONLY),
    "UPDATE ledger_balances SET wallet = wallet + 1000, granted = granted - 1000",
    "UPDATE ledger_balances SET escrow = 0",
    "UPDATE ledger_balances SET revenue = 0",
    "UPDATE ledger_balances SET overdraft = 1000000",
    "UPDATE ledger_balances SET frozen_at = NULL",
    "UPDATE ledger_balances SET checked_at = now()",
    "UPDATE ledger_entries SET millicredits = 0",
    "UPDATE ledger_entries SET account = 'wallet'",
    "UPDATE ledger_transactions SET reference = 'x'",
    "UPDATE ledger_transactions SET kind = 'hold'",
    "INSERT INTO ledger_balances (library_id) VALUES ('{library}')",
    "INSERT INTO ledger_transactions VALUES ('{library}', 'x', 'grant', 'x', now())",
    "INSERT INTO ledger_entries VALUES ('{library}', '{grant}', 'revenue', 0)",
    "SELECT post_movement('{library}', 'x', 'grant', 'x', 1000, now())",
    "SELECT post_movement('{library}', 'x', 'hold', 'x', 1, now())",
    "SELECT move_credits('{library}', 'x', 'grant', 'x', 1000, now())",
    "SELECT move_credits('{library}', 'x', 'GRANT', 'x', 1000, now())",
    "SELECT move_credits('{library}', 'x', 'refund', 'x', 1000, now())",
    "SELECT move_credits('{library}', 'x', '', 'x', 1000, now())",
    "SELECT * FROM ledger_faults('{library}')",
    "CREATE OR REPLACE FUNCTION ledger_faults(text) RETURNS void LANGUAGE sql AS ''",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
async def test_the_application_cannot_write_to_the_books_or_make_money(books: Books, statement: str) -> None:
    granted = await books.grant(1_000)
    before = await books.entries(), await books.accounts()

    async def cheat() -> None:
        async with books.transaction() as connection:
            await connection.execute(statement.format(library=books.library_id, grant=granted))

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await cheat()
    assert (await books.entries(), await books.accounts()) == before


CHANGEABLE = {"holder", "state", "ended_at"}
FIXED = sorted(column.name for column in EscrowLine.__table__.columns if column.name not in CHANGEABLE)


@pytest.mark.parametrize("column", FIXED)
async def test_the_application_cannot_change_what_a_line_says(books: Books, column: str) -> None:
    await books.grant(1_000)
    await books.put(300)

    async def rewrite() -> None:
        async with books.transaction() as connection:
            await connection.execute(f"UPDATE escrow_lines SET {column} = {column}")  # noqa: S608

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await rewrite()


async def test_the_application_cannot_grant(books: Books) -> None:
    async def grant() -> None:
        async with books.transaction() as connection:
            await ledger.grant(connection, books.library_id, millicredits=1, reference="x", now=system_clock())

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await grant()
    await books.grant(1_000)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):  # also where there are balances already
        await grant()


@pytest.mark.parametrize("movement", ["hold", "capture", "release"])
@pytest.mark.parametrize("inside", ["another library", "no library"])
async def test_credits_move_only_in_the_library_that_was_entered(
    books: Books, runtime: Runtime, accounts: Accounts, movement: str, inside: str
) -> None:
    await books.grant(1_000)
    await books.put(300)
    before = await books.accounts()
    other = await accounts.person()
    arguments = (books.library_id, new_id(), movement, new_id(), 100)

    async def meddle() -> None:
        if inside == "no library":
            async with runtime.database.connection() as connection:
                await connection.execute(MOVE, *arguments)
        else:
            async with runtime.database.transaction(other.library_id) as connection:
                await connection.execute(MOVE, *arguments)

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await meddle()
    assert await books.accounts() == before


async def test_one_library_sees_nothing_of_anothers_money(books: Books, runtime: Runtime, accounts: Accounts) -> None:
    await books.grant(1_000)
    await books.put(300)
    other = await accounts.person()
    async with runtime.database.transaction(other.library_id) as connection:
        assert await ledger.funds(connection, books.library_id) == Funds()
        for table in APPEND_ONLY:
            assert await connection.fetch(f"SELECT * FROM {table} WHERE library_id = $1", books.library_id) == []  # noqa: S608
        changed = await connection.execute("UPDATE escrow_lines SET holder = 'thief'")
        assert changed == "UPDATE 0"


async def test_a_line_cannot_be_put_into_another_library(books: Books, person: Person, accounts: Accounts) -> None:
    theirs = (await accounts.person()).library_id

    async def smuggle() -> None:
        async with books.transaction() as connection:
            row = {
                "library_id": theirs,
                "id": new_id(),
                "hold_id": new_id(),
                "holder": "work",
                "action": "speech",
                "product": "speech",
                "terms": {},
                "pricing_version": "test",
                "millicredits": 1,
                "state": "open",
                "created_at": system_clock(),
            }
            await insert(connection, "escrow_lines", row)

    assert person.library_id != theirs
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await smuggle()


@pytest.mark.parametrize(
    ("movement", "millicredits", "error"),
    [
        ("hold", 0, asyncpg.CheckViolationError),
        ("hold", -100, asyncpg.CheckViolationError),  # else it would be a way out of escrow
        ("capture", -100, asyncpg.CheckViolationError),
        ("release", -100, asyncpg.CheckViolationError),  # and this a way below zero
        ("release", 301, asyncpg.CheckViolationError),  # more than is in escrow
        ("capture", 301, asyncpg.CheckViolationError),
        ("capture", None, asyncpg.NotNullViolationError),
        (None, 100, asyncpg.NotNullViolationError),
    ],
)
async def test_an_amount_that_makes_no_sense_moves_nothing(
    books: Books, movement: str | None, millicredits: int | None, error: type[Exception]
) -> None:
    await books.grant(1_000)
    await books.put(300)
    before = await books.entries(), await books.accounts()

    async def move() -> None:
        async with books.transaction() as connection:
            await connection.execute(MOVE, books.library_id, new_id(), movement, new_id(), millicredits)

    with pytest.raises(error):
        await move()
    assert (await books.entries(), await books.accounts()) == before
