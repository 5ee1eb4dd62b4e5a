"""Statements on the ledger that the application role must not be able to execute."""

import asyncpg
import pytest

from cutroom.credits import ledger
from cutroom.credits.ledger import AccountBalances
from cutroom.credits.models import EscrowLine
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.credits.conftest import LibraryLedger

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
async def test_application_role_cannot_write_ledger_tables(library_ledger: LibraryLedger, statement: str) -> None:
    granted = await library_ledger.grant(1_000)
    before = await library_ledger.entries(), await library_ledger.accounts()

    async def execute() -> None:
        async with library_ledger.transaction() as connection:
            await connection.execute(statement.format(library=library_ledger.library_id, grant=granted))

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await execute()
    assert (await library_ledger.entries(), await library_ledger.accounts()) == before


CHANGEABLE = {"holder", "state", "ended_at"}
FIXED = sorted(column.name for column in EscrowLine.__table__.columns if column.name not in CHANGEABLE)


@pytest.mark.parametrize("column", FIXED)
async def test_application_role_cannot_change_line_terms(library_ledger: LibraryLedger, column: str) -> None:
    await library_ledger.grant(1_000)
    await library_ledger.hold_lines(300)

    async def update() -> None:
        async with library_ledger.transaction() as connection:
            await connection.execute(f"UPDATE escrow_lines SET {column} = {column}")  # noqa: S608

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await update()


async def test_application_role_cannot_grant(library_ledger: LibraryLedger) -> None:
    async def grant() -> None:
        async with library_ledger.transaction() as connection:
            await ledger.grant(connection, library_ledger.library_id, millicredits=1, reference="x", now=system_clock())

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await grant()
    await library_ledger.grant(1_000)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):  # also for an existing balance row
        await grant()


@pytest.mark.parametrize("movement", ["hold", "capture", "release"])
@pytest.mark.parametrize("inside", ["another library", "no library"])
async def test_credits_move_only_within_scoped_library(
    library_ledger: LibraryLedger, runtime: Runtime, accounts: Accounts, movement: str, inside: str
) -> None:
    await library_ledger.grant(1_000)
    await library_ledger.hold_lines(300)
    before = await library_ledger.accounts()
    other = await accounts.person()
    arguments = (library_ledger.library_id, new_id(), movement, new_id(), 100)

    async def move() -> None:
        if inside == "no library":
            async with runtime.database.connection() as connection:
                await connection.execute(MOVE, *arguments)
        else:
            async with runtime.database.transaction(other.library_id) as connection:
                await connection.execute(MOVE, *arguments)

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await move()
    assert await library_ledger.accounts() == before


async def test_ledger_rows_of_other_libraries_are_hidden(
    library_ledger: LibraryLedger, runtime: Runtime, accounts: Accounts
) -> None:
    await library_ledger.grant(1_000)
    await library_ledger.hold_lines(300)
    other = await accounts.person()
    async with runtime.database.transaction(other.library_id) as connection:
        assert await ledger.get_balances(connection, library_ledger.library_id) == AccountBalances()
        for table in APPEND_ONLY:
            query = f"SELECT * FROM {table} WHERE library_id = $1"  # noqa: S608
            assert await connection.fetch(query, library_ledger.library_id) == []
        changed = await connection.execute("UPDATE escrow_lines SET holder = 'thief'")
        assert changed == "UPDATE 0"


async def test_line_cannot_be_inserted_into_other_library(
    library_ledger: LibraryLedger, person: Person, accounts: Accounts
) -> None:
    theirs = (await accounts.person()).library_id

    async def insert_line() -> None:
        async with library_ledger.transaction() as connection:
            row = {
                "library_id": theirs,
                "id": new_id(),
                "hold_id": new_id(),
                "holder": "job",
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
        await insert_line()


@pytest.mark.parametrize(
    ("movement", "millicredits", "error"),
    [
        ("hold", 0, asyncpg.CheckViolationError),
        ("hold", -100, asyncpg.CheckViolationError),  # would move credits out of escrow
        ("capture", -100, asyncpg.CheckViolationError),
        ("release", -100, asyncpg.CheckViolationError),  # would allow a negative balance
        ("release", 301, asyncpg.CheckViolationError),  # exceeds the escrow
        ("capture", 301, asyncpg.CheckViolationError),
        ("capture", None, asyncpg.NotNullViolationError),
        (None, 100, asyncpg.NotNullViolationError),
    ],
)
async def test_invalid_amount_is_rejected(
    library_ledger: LibraryLedger, movement: str | None, millicredits: int | None, error: type[Exception]
) -> None:
    await library_ledger.grant(1_000)
    await library_ledger.hold_lines(300)
    before = await library_ledger.entries(), await library_ledger.accounts()

    async def move() -> None:
        async with library_ledger.transaction() as connection:
            await connection.execute(MOVE, library_ledger.library_id, new_id(), movement, new_id(), millicredits)

    with pytest.raises(error):
        await move()
    assert (await library_ledger.entries(), await library_ledger.accounts()) == before
