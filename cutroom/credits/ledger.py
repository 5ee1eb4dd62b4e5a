"""Posts ledger transactions; each is balanced and enforced by a database function."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import asyncpg

from cutroom.credits.pricing import to_credits
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.webhooks.publishing import publish_event

# Nothing but the balance of the row changes in the function.
_HOLD = """SELECT move_credits($1, $2, 'hold', $3, $4, $5) AS wallet, b.overdraft, b.low_balance
    FROM (SELECT) AS one LEFT JOIN ledger_balances b ON b.library_id = $1"""
HOLD_ATTEMPTS = 3  # credits may be released between a refused hold and reading the balance


class TransactionKind(StrEnum):
    """Grant to wallet, wallet to escrow, escrow to revenue, or escrow back to wallet."""

    GRANT = "grant"
    HOLD = "hold"
    CAPTURE = "capture"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class AccountBalances:
    """A library's balances in milli-credits. The wallet excludes the escrow."""

    wallet: int = 0
    escrow: int = 0
    overdraft: int = 0  # how far the wallet may go below zero; positive with usage billing
    is_frozen: bool = False

    @property
    def available(self) -> int:
        return self.wallet + self.overdraft

    @property
    def usage_billing(self) -> bool:
        return self.overdraft > 0


async def get_balances(connection: Connection, library_id: str) -> AccountBalances:
    row = await connection.fetchrow(
        """SELECT wallet, escrow, overdraft, frozen_at IS NOT NULL AS is_frozen
           FROM ledger_balances WHERE library_id = $1""",
        library_id,
    )
    return AccountBalances(**dict(row)) if row is not None else AccountBalances()


async def get_totals(connection: Connection, library_id: str) -> dict[str, int]:
    """Return what was ever granted and spent, and what is left, in milli-credits."""
    row = await connection.fetchrow(
        "SELECT -granted AS granted, revenue, wallet FROM ledger_balances WHERE library_id = $1", library_id
    )
    return {"granted": row["granted"], "spent": row["revenue"], "left": row["wallet"]} if row is not None else {}


async def wallet_balance(connection: Connection, library_id: str) -> int:
    """Return the wallet's milli-credits, excluding the escrow."""
    return (await get_balances(connection, library_id)).wallet


async def grant(connection: Connection, library_id: str, *, millicredits: int, reference: str, now: datetime) -> str:
    """Add credits to a wallet, once per reference. Requires the role that owns the schema."""
    if millicredits <= 0:
        raise ValueError("a grant must be positive")
    transaction_id = new_id()
    try:
        async with connection.transaction():
            await connection.execute(
                "INSERT INTO ledger_balances (library_id) VALUES ($1) ON CONFLICT DO NOTHING", library_id
            )
            await connection.execute(
                "SELECT post_movement($1, $2, 'grant', $3, $4, $5)",
                library_id,
                transaction_id,
                reference,
                millicredits,
                now,
            )
    except asyncpg.UniqueViolationError as error:
        raise CutroomError(Code.ALREADY_EXISTS, details={"reference": reference}) from error
    return transaction_id


async def hold(
    connection: Connection, library_id: str, *, transaction_id: str, reference: str, millicredits: int, now: datetime
) -> int:
    """Move credits from the wallet into escrow and return the new wallet balance, or raise INSUFFICIENT_CREDITS."""
    balances = AccountBalances()
    for _ in range(HOLD_ATTEMPTS):
        row = await connection.fetchrow(_HOLD, library_id, transaction_id, reference, millicredits, now)
        wallet: int | None = row["wallet"] if row is not None else None
        if row is not None and wallet is not None:
            await _warn_if_low(connection, library_id, row, millicredits=millicredits, now=now)
            return wallet
        balances = await get_balances(connection, library_id)
        if balances.is_frozen or balances.available < millicredits:
            break
    raise _refusal(balances, millicredits)


async def _warn_if_low(
    connection: Connection, library_id: str, row: asyncpg.Record, *, millicredits: int, now: datetime
) -> None:
    """Publish `credits.low` if this hold has taken what can be spent below the threshold."""
    available = row["wallet"] + row["overdraft"]
    if available < row["low_balance"] <= available + millicredits:
        data = {
            "balance": to_credits(row["wallet"]),
            "available": to_credits(available),
            "threshold": to_credits(row["low_balance"]),
        }
        await publish_event(connection, library_id, type="credits.low", data=data, now=now)


async def settle(
    connection: Connection, library_id: str, *, kind: TransactionKind, line_id: str, millicredits: int, now: datetime
) -> None:
    """Capture escrow as revenue, or release it to the wallet."""
    await connection.execute(
        "SELECT move_credits($1, $2, $3, $4, $5, $6)",
        library_id,
        new_id(),
        kind.value,
        line_id,
        millicredits,
        now,
    )


def _refusal(balances: AccountBalances, required: int) -> CutroomError:
    if balances.is_frozen:
        return CutroomError(
            Code.FAILED_PRECONDITION, message="Spending is paused while this library's ledger is under review."
        )
    details = {
        "required": to_credits(required),
        "available": to_credits(balances.available),
        "shortfall": to_credits(required - balances.available),
    }
    return CutroomError(Code.INSUFFICIENT_CREDITS, details=details)


async def set_overdraft(connection: Connection, library_id: str, *, millicredits: int) -> None:
    """Sets how far below zero the wallet may go; 0 turns usage billing off."""
    await connection.execute(
        """INSERT INTO ledger_balances (library_id, overdraft) VALUES ($1, $2)
           ON CONFLICT (library_id) DO UPDATE SET overdraft = excluded.overdraft""",
        library_id,
        millicredits,
    )


async def set_low_balance(connection: Connection, library_id: str, *, millicredits: int) -> None:
    """Sets the balance below which a library is warned."""
    await connection.execute(
        """INSERT INTO ledger_balances (library_id, low_balance) VALUES ($1, $2)
           ON CONFLICT (library_id) DO UPDATE SET low_balance = excluded.low_balance""",
        library_id,
        millicredits,
    )


async def unfreeze(connection: Connection, library_id: str) -> None:
    """Allows holds again after a failed ledger check was resolved."""
    await connection.execute("UPDATE ledger_balances SET frozen_at = NULL WHERE library_id = $1", library_id)
