"""The ledger on the real database: balanced, append-only, once per reference, and right under pressure."""

import asyncio

import asyncpg
import pytest

from cutroom.credits import ledger
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

MAX_BIGINT = 2**63 - 1


async def give(runtime: Runtime, library_id: str, millicredits: int, reference: str | None = None) -> str:
    async with runtime.database.transaction(library_id) as connection:
        return await ledger.grant(
            connection,
            library_id,
            millicredits=millicredits,
            reference=reference or new_id(),
            now=system_clock(),
        )


async def entries(accounts: Accounts, library_id: str) -> list[tuple[str, str, int]]:
    rows = await accounts.connection.fetch(
        """SELECT transaction_id, account, millicredits FROM ledger_entries
           WHERE library_id = $1 ORDER BY transaction_id, account""",
        library_id,
    )
    return [(row["transaction_id"], row["account"], row["millicredits"]) for row in rows]


async def balances(accounts: Accounts, library_id: str) -> dict[str, int]:
    rows = await accounts.connection.fetch(
        "SELECT account, millicredits FROM ledger_balances WHERE library_id = $1", library_id
    )
    return {row["account"]: row["millicredits"] for row in rows}


async def check_books(accounts: Accounts, library_id: str) -> None:
    """Every transaction sums to zero, and every balance is the sum of its entries."""
    unbalanced = await accounts.connection.fetch(
        """SELECT transaction_id FROM ledger_entries WHERE library_id = $1
           GROUP BY transaction_id HAVING sum(millicredits) <> 0""",
        library_id,
    )
    assert unbalanced == []
    sums: dict[str, int] = {}
    for _, account, millicredits in await entries(accounts, library_id):
        sums[account] = sums.get(account, 0) + millicredits
    assert await balances(accounts, library_id) == sums


async def post(connection: Connection, library_id: str, sides: dict[str, int]) -> None:
    """Entries as raw rows, past the code that knows how."""
    transaction_id = new_id()
    row = {
        "library_id": library_id,
        "id": transaction_id,
        "kind": "test",
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


async def test_a_library_without_grants_has_nothing(runtime: Runtime, person: Person) -> None:
    async with runtime.database.transaction(person.library_id) as connection:
        assert await ledger.balance(connection, person.library_id) == 0


async def test_a_grant_has_two_sides_that_cancel_out(runtime: Runtime, accounts: Accounts, person: Person) -> None:
    granted = await give(runtime, person.library_id, 12_345)
    assert await entries(accounts, person.library_id) == [
        (granted, "grant", -12_345),
        (granted, "wallet", 12_345),
    ]
    await check_books(accounts, person.library_id)


async def test_the_balance_is_the_sum_of_all_grants(runtime: Runtime, accounts: Accounts, person: Person) -> None:
    amounts = [1, 999, 1_000, 250_000, 10**12, 1]
    for amount in amounts:
        await give(runtime, person.library_id, amount)
    async with runtime.database.transaction(person.library_id) as connection:
        assert await ledger.balance(connection, person.library_id) == sum(amounts)
    await check_books(accounts, person.library_id)


async def test_a_reference_grants_once(runtime: Runtime, accounts: Accounts, person: Person) -> None:
    await give(runtime, person.library_id, 500, "invoice-1")
    with pytest.raises(CutroomError) as refused:
        await give(runtime, person.library_id, 700, "invoice-1")
    assert (refused.value.code, refused.value.details) == (Code.ALREADY_EXISTS, {"reference": "invoice-1"})
    assert (await balances(accounts, person.library_id))["wallet"] == 500
    await check_books(accounts, person.library_id)


async def test_a_refused_grant_leaves_the_rest_of_its_transaction_usable(
    runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    await give(runtime, person.library_id, 500, "invoice-1")
    async with runtime.database.transaction(person.library_id) as connection:
        for reference in ("invoice-1", "invoice-2"):
            try:
                await ledger.grant(
                    connection, person.library_id, millicredits=7, reference=reference, now=system_clock()
                )
            except CutroomError:
                continue
    assert (await balances(accounts, person.library_id))["wallet"] == 507
    await check_books(accounts, person.library_id)


async def test_two_libraries_may_use_one_reference(runtime: Runtime, accounts: Accounts, person: Person) -> None:
    other = await accounts.person()
    for library_id in (person.library_id, other.library_id):
        await give(runtime, library_id, 500, "welcome")
        assert await balances(accounts, library_id) == {"grant": -500, "wallet": 500}


@pytest.mark.parametrize("millicredits", [0, -1, -(10**9)])
async def test_a_grant_of_nothing_or_less_is_refused(
    runtime: Runtime, accounts: Accounts, person: Person, millicredits: int
) -> None:
    with pytest.raises(ValueError, match="positive"):
        await give(runtime, person.library_id, millicredits)
    assert await entries(accounts, person.library_id) == []


async def test_a_balance_that_would_overflow_is_refused_whole(
    runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    await give(runtime, person.library_id, MAX_BIGINT)
    with pytest.raises(asyncpg.NumericValueOutOfRangeError):
        await give(runtime, person.library_id, 1)
    assert (await balances(accounts, person.library_id))["wallet"] == MAX_BIGINT
    await check_books(accounts, person.library_id)


async def test_concurrent_grants_to_one_wallet_add_up(runtime: Runtime, accounts: Accounts, person: Person) -> None:
    await asyncio.gather(*(give(runtime, person.library_id, amount) for amount in range(1, 61)))
    assert (await balances(accounts, person.library_id))["wallet"] == sum(range(1, 61))
    await check_books(accounts, person.library_id)


async def test_concurrent_grants_with_one_reference_happen_once(
    runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    outcomes = await asyncio.gather(
        *(give(runtime, person.library_id, 100, "invoice-1") for _ in range(15)), return_exceptions=True
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, CutroomError)]
    assert len(refused) == 14
    assert {error.code for error in refused} == {Code.ALREADY_EXISTS}
    assert await balances(accounts, person.library_id) == {"grant": -100, "wallet": 100}


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
    accounts: Accounts, person: Person, sides: dict[str, int]
) -> None:
    transaction = accounts.connection.transaction()
    await transaction.start()
    await post(accounts.connection, person.library_id, sides)  # each side by itself is no fault yet
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="does not sum to zero"):
        await transaction.commit()
    assert await entries(accounts, person.library_id) == []


async def test_a_balanced_transaction_of_many_sides_is_accepted(accounts: Accounts, person: Person) -> None:
    async with accounts.connection.transaction():
        await post(accounts.connection, person.library_id, {"wallet": -7, "escrow": 4, "revenue": 2, "grant": 1})
    assert len(await entries(accounts, person.library_id)) == 4


@pytest.mark.parametrize("afterwards", ["", "another library"])
async def test_leaving_the_library_before_the_commit_does_not_hide_an_imbalance(
    runtime: Runtime, accounts: Accounts, person: Person, afterwards: str
) -> None:
    """The check runs at commit, behind the same wall as the rows: rows it cannot see must not pass as balanced."""

    async def cheat() -> None:
        async with runtime.database.transaction(person.library_id) as connection:
            await post(connection, person.library_id, {"wallet": 1_000_000})
            await connection.execute("SELECT set_config('cutroom.library_id', $1, true)", afterwards)

    with pytest.raises(asyncpg.IntegrityConstraintViolationError):
        await cheat()
    assert await entries(accounts, person.library_id) == []


@pytest.mark.parametrize("account", ["", "Wallet", "gold"])
async def test_an_unknown_account_is_refused(accounts: Accounts, person: Person, account: str) -> None:
    async def pay() -> None:
        async with accounts.connection.transaction():
            await post(accounts.connection, person.library_id, {account: 1, "wallet": -1})

    with pytest.raises(asyncpg.CheckViolationError):
        await pay()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_entries SET millicredits = 0",
        "DELETE FROM ledger_entries",
        "TRUNCATE ledger_entries",
        "UPDATE ledger_transactions SET reference = 'x'",
        "DELETE FROM ledger_transactions",
        "TRUNCATE ledger_transactions",
        "DELETE FROM ledger_balances",
        "ALTER TABLE ledger_entries DISABLE TRIGGER ALL",
        "DROP TABLE ledger_entries",
    ],
)
async def test_the_application_cannot_rewrite_what_has_been_posted(
    runtime: Runtime, accounts: Accounts, person: Person, statement: str
) -> None:
    await give(runtime, person.library_id, 1_000)
    before = await entries(accounts, person.library_id)

    async def rewrite() -> None:
        async with runtime.database.transaction(person.library_id) as connection:
            await connection.execute(statement)

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await rewrite()
    assert await entries(accounts, person.library_id) == before


async def test_one_library_cannot_see_or_move_anothers_credits(
    runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    other = await accounts.person()
    await give(runtime, other.library_id, 1_000)
    async with runtime.database.transaction(person.library_id) as connection:
        assert await ledger.balance(connection, other.library_id) == 0

    async def meddle() -> None:
        async with runtime.database.transaction(person.library_id) as connection:
            await ledger.grant(connection, other.library_id, millicredits=1, reference="x", now=system_clock())

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await meddle()
    assert (await balances(accounts, other.library_id))["wallet"] == 1_000
