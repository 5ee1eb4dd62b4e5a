"""The ledger on PostgreSQL: balanced, append-only, idempotent, and changed only through its functions."""

import asyncio
from typing import Any

import asyncpg
import pytest

from cutroom.credits import ledger
from cutroom.credits.ledger import AccountBalances, TransactionKind
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert, register_json_codec
from cutroom.platform.ids import new_id
from dev.scratch import Accounts
from tests.credits.conftest import LedgerAccounts, LibraryLedger

MAX_BIGINT = 2**63 - 1
MOVE = "SELECT move_credits($1, $2, $3, $4, $5, now())"
POST = "SELECT post_movement($1, $2, $3, $4, $5, now())"


async def grant_alone(accounts: Accounts, library_id: str, millicredits: int, reference: str) -> str:
    """Grant on a separate connection, so that grants can run concurrently."""
    assert accounts.settings.owner_database_url is not None
    connection = await asyncpg.connect(accounts.settings.owner_database_url.get_secret_value())
    try:
        await register_json_codec(connection)
        return await ledger.grant(
            connection, library_id, millicredits=millicredits, reference=reference, now=system_clock()
        )
    finally:
        await connection.close()


async def post(connection: Connection, library_id: str, sides: dict[str, int], kind: str = "grant") -> None:
    """Insert raw ledger rows, bypassing the functions."""
    transaction_id = new_id()
    row = {
        "library_id": library_id,
        "id": transaction_id,
        "kind": kind,
        "reference": transaction_id,
        "created_at": system_clock(),
    }
    await insert(connection, "ledger_transactions", row)
    for account, millicredits in sides.items():
        side = {
            "library_id": library_id,
            "transaction_id": transaction_id,
            "account": account,
            "millicredits": millicredits,
        }
        await insert(connection, "ledger_entries", side)


# Grants.


async def test_balance_without_grants_is_zero(library_ledger: LibraryLedger) -> None:
    assert await library_ledger.balances() == AccountBalances(wallet=0, escrow=0, overdraft=0, is_frozen=False)


async def test_grant_entries_balance(library_ledger: LibraryLedger) -> None:
    granted = await library_ledger.grant(12_345)
    assert await library_ledger.entries() == [(granted, "grant", -12_345), (granted, "wallet", 12_345)]
    assert await library_ledger.accounts() == LedgerAccounts(wallet=12_345, escrow=0, revenue=0, granted=-12_345)


async def test_balance_is_sum_of_grants(library_ledger: LibraryLedger) -> None:
    amounts = [1, 999, 1_000, 250_000, 10**12, 1]
    for amount in amounts:
        await library_ledger.grant(amount)
    async with library_ledger.transaction() as connection:
        assert await ledger.wallet_balance(connection, library_ledger.library_id) == sum(amounts)


async def test_duplicate_grant_reference_is_rejected(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(500, "invoice-1")
    with pytest.raises(CutroomError) as refused:
        await library_ledger.grant(700, "invoice-1")
    assert (refused.value.code, refused.value.details) == (Code.ALREADY_EXISTS, {"reference": "invoice-1"})
    assert (await library_ledger.balances()).wallet == 500


async def test_rejected_grant_keeps_outer_transaction_usable(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(500, "invoice-1")
    async with library_ledger.owner.transaction():
        for reference in ("invoice-1", "invoice-2"):
            try:
                await library_ledger.grant(7, reference)
            except CutroomError:
                continue
    assert (await library_ledger.balances()).wallet == 507


async def test_grant_references_are_scoped_to_library(library_ledger: LibraryLedger, accounts: Accounts) -> None:
    other = LibraryLedger(library_ledger.runtime, library_ledger.owner, (await accounts.person()).library_id)
    for each in (library_ledger, other):
        await each.grant(500, "welcome")
        assert await each.accounts() == LedgerAccounts(wallet=500, escrow=0, revenue=0, granted=-500)


@pytest.mark.parametrize("millicredits", [0, -1, -(10**9)])
async def test_non_positive_grant_is_rejected(library_ledger: LibraryLedger, millicredits: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        await library_ledger.grant(millicredits)
    assert await library_ledger.entries() == []


async def test_overflowing_grant_is_rejected(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(MAX_BIGINT)
    with pytest.raises(asyncpg.NumericValueOutOfRangeError):
        await library_ledger.grant(1)
    assert (await library_ledger.balances()).wallet == MAX_BIGINT


async def test_concurrent_grants_are_summed(library_ledger: LibraryLedger, accounts: Accounts) -> None:
    grants = (grant_alone(accounts, library_ledger.library_id, amount, new_id()) for amount in range(1, 16))
    await asyncio.gather(*grants)
    assert (await library_ledger.balances()).wallet == sum(range(1, 16))


async def test_concurrent_grants_with_same_reference_apply_once(
    library_ledger: LibraryLedger, accounts: Accounts
) -> None:
    outcomes = await asyncio.gather(
        *(grant_alone(accounts, library_ledger.library_id, 100, "invoice-1") for _ in range(10)), return_exceptions=True
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, CutroomError)]
    assert [error.code for error in refused] == [Code.ALREADY_EXISTS] * 9
    assert await library_ledger.accounts() == LedgerAccounts(wallet=100, escrow=0, revenue=0, granted=-100)


# Transactions balance.


@pytest.mark.parametrize(
    ("movement", "sides", "left"),
    [
        (TransactionKind.CAPTURE, {"escrow": -300, "revenue": 300}, LedgerAccounts(700, 0, 300, -1_000)),
        (TransactionKind.RELEASE, {"escrow": -300, "wallet": 300}, LedgerAccounts(1_000, 0, 0, -1_000)),
    ],
)
async def test_settlement_entries_balance(
    library_ledger: LibraryLedger, movement: TransactionKind, sides: dict[str, int], left: LedgerAccounts
) -> None:
    await library_ledger.grant(1_000)
    (line_id,) = await library_ledger.hold_lines(300, holder="job")
    await (library_ledger.capture if movement is TransactionKind.CAPTURE else library_ledger.release)("job")
    rows = await library_ledger.owner.fetch(
        """SELECT e.account, e.millicredits FROM ledger_entries e
           JOIN ledger_transactions t ON t.library_id = e.library_id AND t.id = e.transaction_id
           WHERE t.library_id = $1 AND t.kind = $2 AND t.reference = $3""",
        library_ledger.library_id,
        movement.value,
        line_id,
    )
    assert {row["account"]: row["millicredits"] for row in rows} == sides
    assert await library_ledger.accounts() == left


async def test_hold_uses_one_transaction_for_all_lines(library_ledger: LibraryLedger) -> None:
    granted = await library_ledger.grant(1_000)
    line_ids = await library_ledger.hold_lines(300, 200, 1, holder="job")
    assert await library_ledger.accounts() == LedgerAccounts(wallet=499, escrow=501, revenue=0, granted=-1_000)
    held = [entry for entry in await library_ledger.entries() if entry[0] != granted]
    assert [entry[1:] for entry in held] == [("escrow", 501), ("wallet", -501)]
    assert await library_ledger.kinds() == ["grant", "hold"]
    assert len(set(line_ids)) == 3


UNBALANCED = [
    {"wallet": 1},
    {"wallet": -1},
    {"wallet": 1_000, "grant": -999},
    {"wallet": 1_000, "grant": 1_000},
    {"wallet": 5, "escrow": -2, "revenue": -2},
    {"wallet": MAX_BIGINT, "escrow": MAX_BIGINT},
]


@pytest.mark.parametrize("sides", UNBALANCED)
async def test_unbalanced_transaction_is_rejected_at_commit(
    library_ledger: LibraryLedger, sides: dict[str, int]
) -> None:
    transaction = library_ledger.owner.transaction()
    await transaction.start()
    await post(library_ledger.owner, library_ledger.library_id, sides)  # checked at commit
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="does not sum to zero"):
        await transaction.commit()
    assert await library_ledger.entries() == []


@pytest.mark.parametrize(
    ("sides", "kind"), [({"": 1, "wallet": -1}, "grant"), ({"Wallet": 1, "wallet": -1}, "grant"), ({}, "gift")]
)
async def test_unknown_account_or_kind_is_rejected(
    library_ledger: LibraryLedger, sides: dict[str, int], kind: str
) -> None:
    async def pay() -> None:
        async with library_ledger.owner.transaction():
            await post(library_ledger.owner, library_ledger.library_id, sides, kind)

    with pytest.raises(asyncpg.CheckViolationError):
        await pay()


@pytest.mark.parametrize(
    "change",
    [
        "wallet = wallet + 1",
        "escrow = escrow + 1",
        "wallet = -1, escrow = 1001",
        "wallet = 2000, escrow = -1000",
        "wallet = 2000, revenue = -1000",
        "wallet = 0, granted = 1, escrow = -1",
        "overdraft = -1",
    ],
)
async def test_balance_constraints_apply_to_schema_owner(library_ledger: LibraryLedger, change: str) -> None:
    await library_ledger.grant(1_000)
    statement = f"UPDATE ledger_balances SET {change} WHERE library_id = $1"  # noqa: S608
    with pytest.raises(asyncpg.CheckViolationError):
        await library_ledger.owner.execute(statement, library_ledger.library_id)
    assert await library_ledger.accounts() == LedgerAccounts(wallet=1_000, escrow=0, revenue=0, granted=-1_000)


@pytest.mark.parametrize("first", ["capture", "release"])
@pytest.mark.parametrize("second", ["capture", "release"])
async def test_database_rejects_second_settlement(library_ledger: LibraryLedger, first: str, second: str) -> None:
    """A captured line can be neither released nor captured again, even by direct SQL."""
    await library_ledger.grant(1_000)
    (line_id,) = await library_ledger.hold_lines(300, holder="job")
    await library_ledger.hold_lines(500)  # enough escrow for a second settlement
    await (library_ledger.capture if first == "capture" else library_ledger.release)("job")
    before = await library_ledger.accounts()

    async def again() -> None:
        async with library_ledger.transaction() as connection:
            await connection.execute(MOVE, library_ledger.library_id, new_id(), second, line_id, 300)

    with pytest.raises(asyncpg.UniqueViolationError):
        await again()
    assert await library_ledger.accounts() == before


async def test_transaction_id_is_unique(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_000)
    await library_ledger.hold_lines(300)
    (hold_id,) = [row[0] for row in await library_ledger.entries() if row[1:] == ("escrow", 300)]

    async def again() -> None:
        async with library_ledger.transaction() as connection:
            await connection.execute(MOVE, library_ledger.library_id, hold_id, "hold", new_id(), 300)

    with pytest.raises(asyncpg.UniqueViolationError):
        await again()


async def test_move_credits_rules_apply_to_schema_owner(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_000)
    arguments: tuple[Any, ...] = (library_ledger.library_id, new_id(), "hold", new_id(), 1_001)
    assert await library_ledger.owner.fetchval(POST, *arguments) is None
    assert await library_ledger.accounts() == LedgerAccounts(wallet=1_000, escrow=0, revenue=0, granted=-1_000)
