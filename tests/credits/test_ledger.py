"""The ledger on the real database: balanced, append-only, once per reference, and moved through one door only."""

import asyncio
from typing import Any

import asyncpg
import pytest

from cutroom.credits import ledger
from cutroom.credits.ledger import Funds, Movement
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert, register_json_codec
from cutroom.platform.ids import new_id
from dev.scratch import Accounts
from tests.credits.conftest import Accountancy, Books

MAX_BIGINT = 2**63 - 1
MOVE = "SELECT move_credits($1, $2, $3, $4, $5, now())"
POST = "SELECT post_movement($1, $2, $3, $4, $5, now())"


async def grant_alone(accounts: Accounts, library_id: str, millicredits: int, reference: str) -> str:
    """A grant over a connection of its own, so that several can be under way."""
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
    """Entries as raw rows, past the code that knows how."""
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


async def test_a_library_without_grants_has_nothing(books: Books) -> None:
    assert await books.funds() == Funds(wallet=0, escrow=0, overdraft=0, is_frozen=False)


async def test_a_grant_has_two_sides_that_cancel_out(books: Books) -> None:
    granted = await books.grant(12_345)
    assert await books.entries() == [(granted, "grant", -12_345), (granted, "wallet", 12_345)]
    assert await books.accounts() == Accountancy(wallet=12_345, escrow=0, revenue=0, granted=-12_345)


async def test_the_balance_is_the_sum_of_all_grants(books: Books) -> None:
    amounts = [1, 999, 1_000, 250_000, 10**12, 1]
    for amount in amounts:
        await books.grant(amount)
    async with books.transaction() as connection:
        assert await ledger.balance(connection, books.library_id) == sum(amounts)


async def test_a_reference_grants_once(books: Books) -> None:
    await books.grant(500, "invoice-1")
    with pytest.raises(CutroomError) as refused:
        await books.grant(700, "invoice-1")
    assert (refused.value.code, refused.value.details) == (Code.ALREADY_EXISTS, {"reference": "invoice-1"})
    assert (await books.funds()).wallet == 500


async def test_a_refused_grant_leaves_the_rest_of_its_transaction_usable(books: Books) -> None:
    await books.grant(500, "invoice-1")
    async with books.owner.transaction():
        for reference in ("invoice-1", "invoice-2"):
            try:
                await books.grant(7, reference)
            except CutroomError:
                continue
    assert (await books.funds()).wallet == 507


async def test_two_libraries_may_use_one_reference(books: Books, accounts: Accounts) -> None:
    other = Books(books.runtime, books.owner, (await accounts.person()).library_id)
    for each in (books, other):
        await each.grant(500, "welcome")
        assert await each.accounts() == Accountancy(wallet=500, escrow=0, revenue=0, granted=-500)


@pytest.mark.parametrize("millicredits", [0, -1, -(10**9)])
async def test_a_grant_of_nothing_or_less_is_refused(books: Books, millicredits: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        await books.grant(millicredits)
    assert await books.entries() == []


async def test_a_balance_that_would_overflow_is_refused_whole(books: Books) -> None:
    await books.grant(MAX_BIGINT)
    with pytest.raises(asyncpg.NumericValueOutOfRangeError):
        await books.grant(1)
    assert (await books.funds()).wallet == MAX_BIGINT


async def test_concurrent_grants_to_one_wallet_add_up(books: Books, accounts: Accounts) -> None:
    grants = (grant_alone(accounts, books.library_id, amount, new_id()) for amount in range(1, 16))
    await asyncio.gather(*grants)
    assert (await books.funds()).wallet == sum(range(1, 16))


async def test_concurrent_grants_with_one_reference_happen_once(books: Books, accounts: Accounts) -> None:
    outcomes = await asyncio.gather(
        *(grant_alone(accounts, books.library_id, 100, "invoice-1") for _ in range(10)), return_exceptions=True
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, CutroomError)]
    assert [error.code for error in refused] == [Code.ALREADY_EXISTS] * 9
    assert await books.accounts() == Accountancy(wallet=100, escrow=0, revenue=0, granted=-100)


# Each movement has two sides.


@pytest.mark.parametrize(
    ("movement", "sides", "left"),
    [
        (Movement.CAPTURE, {"escrow": -300, "revenue": 300}, Accountancy(700, 0, 300, -1_000)),
        (Movement.RELEASE, {"escrow": -300, "wallet": 300}, Accountancy(1_000, 0, 0, -1_000)),
    ],
)
async def test_a_settlement_moves_out_of_escrow_and_cancels_out(
    books: Books, movement: Movement, sides: dict[str, int], left: Accountancy
) -> None:
    await books.grant(1_000)
    (line_id,) = await books.put(300, holder="work")
    await (books.capture if movement is Movement.CAPTURE else books.release)("work")
    rows = await books.owner.fetch(
        """SELECT e.account, e.millicredits FROM ledger_entries e
           JOIN ledger_transactions t ON t.library_id = e.library_id AND t.id = e.transaction_id
           WHERE t.library_id = $1 AND t.kind = $2 AND t.reference = $3""",
        books.library_id,
        movement.value,
        line_id,
    )
    assert {row["account"]: row["millicredits"] for row in rows} == sides
    assert await books.accounts() == left


async def test_a_hold_moves_into_escrow_in_one_movement_for_all_its_lines(books: Books) -> None:
    granted = await books.grant(1_000)
    line_ids = await books.put(300, 200, 1, holder="work")
    assert await books.accounts() == Accountancy(wallet=499, escrow=501, revenue=0, granted=-1_000)
    held = [entry for entry in await books.entries() if entry[0] != granted]
    assert [entry[1:] for entry in held] == [("escrow", 501), ("wallet", -501)]
    assert await books.kinds() == ["grant", "hold"]
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
async def test_an_unbalanced_transaction_is_refused_at_commit_even_for_the_owner(
    books: Books, sides: dict[str, int]
) -> None:
    transaction = books.owner.transaction()
    await transaction.start()
    await post(books.owner, books.library_id, sides)  # each side by itself is no fault yet
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="does not sum to zero"):
        await transaction.commit()
    assert await books.entries() == []


@pytest.mark.parametrize(
    ("sides", "kind"), [({"": 1, "wallet": -1}, "grant"), ({"Wallet": 1, "wallet": -1}, "grant"), ({}, "gift")]
)
async def test_an_unknown_account_or_kind_is_refused(books: Books, sides: dict[str, int], kind: str) -> None:
    async def pay() -> None:
        async with books.owner.transaction():
            await post(books.owner, books.library_id, sides, kind)

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
async def test_the_row_of_balances_keeps_its_own_rules_even_for_the_owner(books: Books, change: str) -> None:
    await books.grant(1_000)
    with pytest.raises(asyncpg.CheckViolationError):
        await books.owner.execute(f"UPDATE ledger_balances SET {change} WHERE library_id = $1", books.library_id)  # noqa: S608
    assert await books.accounts() == Accountancy(wallet=1_000, escrow=0, revenue=0, granted=-1_000)


@pytest.mark.parametrize("first", ["capture", "release"])
@pytest.mark.parametrize("second", ["capture", "release"])
async def test_the_database_itself_settles_a_line_once(books: Books, first: str, second: str) -> None:
    """Whatever the code above believes: a line that was captured cannot be released, nor captured again."""
    await books.grant(1_000)
    (line_id,) = await books.put(300, holder="work")
    await books.put(500)  # there is enough in escrow for a mistake
    await (books.capture if first == "capture" else books.release)("work")
    before = await books.accounts()

    async def again() -> None:
        async with books.transaction() as connection:
            await connection.execute(MOVE, books.library_id, new_id(), second, line_id, 300)

    with pytest.raises(asyncpg.UniqueViolationError):
        await again()
    assert await books.accounts() == before


async def test_a_movement_id_is_used_once(books: Books) -> None:
    await books.grant(1_000)
    await books.put(300)
    (hold_id,) = [row[0] for row in await books.entries() if row[1:] == ("escrow", 300)]

    async def again() -> None:
        async with books.transaction() as connection:
            await connection.execute(MOVE, books.library_id, hold_id, "hold", new_id(), 300)

    with pytest.raises(asyncpg.UniqueViolationError):
        await again()


async def test_the_owner_moves_by_the_same_rules(books: Books) -> None:
    await books.grant(1_000)
    arguments: tuple[Any, ...] = (books.library_id, new_id(), "hold", new_id(), 1_001)
    assert await books.owner.fetchval(POST, *arguments) is None
    assert await books.accounts() == Accountancy(wallet=1_000, escrow=0, revenue=0, granted=-1_000)
