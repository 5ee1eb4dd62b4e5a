"""The only code that moves money: each movement is one balanced transaction."""

from collections.abc import Mapping
from datetime import datetime

import asyncpg

from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id

MILLICREDITS = 1000  # in one credit


async def grant(connection: Connection, library_id: str, *, millicredits: int, reference: str, now: datetime) -> str:
    """Give credits to a library's wallet, once per reference."""
    if millicredits <= 0:
        raise ValueError("a grant must be positive")
    sides = {"grant": -millicredits, "wallet": millicredits}
    return await _post(connection, library_id, kind="grant", reference=reference, sides=sides, now=now)


async def balance(connection: Connection, library_id: str) -> int:
    """Spendable milli-credits: the wallet, without what is in escrow."""
    found = await connection.fetchval(
        "SELECT millicredits FROM ledger_balances WHERE library_id = $1 AND account = 'wallet'", library_id
    )
    return int(found or 0)


async def _post(
    connection: Connection,
    library_id: str,
    *,
    kind: str,
    reference: str,
    sides: Mapping[str, int],
    now: datetime,
) -> str:
    transaction_id = new_id()
    transaction = {
        "library_id": library_id,
        "id": transaction_id,
        "kind": kind,
        "reference": reference,
        "created_at": now,
    }
    async with connection.transaction():
        try:
            await insert(connection, "ledger_transactions", transaction)
        except asyncpg.UniqueViolationError as error:
            raise CutroomError(Code.ALREADY_EXISTS, details={"reference": reference}) from error
        for account, millicredits in sorted(sides.items()):  # one lock order for all: no deadlocks
            entry = {
                "library_id": library_id,
                "transaction_id": transaction_id,
                "account": account,
                "millicredits": millicredits,
            }
            await insert(connection, "ledger_entries", entry)
            await connection.execute(
                """INSERT INTO ledger_balances (library_id, account, millicredits) VALUES ($1, $2, $3)
                   ON CONFLICT (library_id, account)
                   DO UPDATE SET millicredits = ledger_balances.millicredits + excluded.millicredits""",
                library_id,
                account,
                millicredits,
            )
    return transaction_id
