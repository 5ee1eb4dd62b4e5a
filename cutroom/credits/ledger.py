"""The only code that moves money: each movement is one balanced transaction, made by the database itself."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import asyncpg

from cutroom.credits.pricing import credits_of
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id

HOLD_TRIES = 3  # credits may come back between a refusal and the look at why; then they can be held after all


class Movement(StrEnum):
    """Where money goes: from grant to wallet, to escrow, and from there to revenue or back."""

    GRANT = "grant"
    HOLD = "hold"
    CAPTURE = "capture"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Funds:
    """What a library has, in milli-credits. The wallet does not count what is in escrow."""

    wallet: int = 0
    escrow: int = 0
    overdraft: int = 0  # how far the wallet may go below zero; more than none is usage billing
    is_frozen: bool = False

    @property
    def available(self) -> int:
        return self.wallet + self.overdraft

    @property
    def usage_billing(self) -> bool:
        return self.overdraft > 0


async def funds(connection: Connection, library_id: str) -> Funds:
    row = await connection.fetchrow(
        """SELECT wallet, escrow, overdraft, frozen_at IS NOT NULL AS is_frozen
           FROM ledger_balances WHERE library_id = $1""",
        library_id,
    )
    return Funds(**dict(row)) if row is not None else Funds()


async def balance(connection: Connection, library_id: str) -> int:
    """Spendable milli-credits: the wallet, without what is in escrow."""
    return (await funds(connection, library_id)).wallet


async def grant(connection: Connection, library_id: str, *, millicredits: int, reference: str, now: datetime) -> str:
    """Give credits to a library's wallet, once per reference. Only the schema's owner can."""
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
    """From the wallet into escrow, if it can pay; what is left in the wallet."""
    has = Funds()
    for _ in range(HOLD_TRIES):
        left: int | None = await connection.fetchval(
            "SELECT move_credits($1, $2, 'hold', $3, $4, $5)", library_id, transaction_id, reference, millicredits, now
        )
        if left is not None:
            return left
        has = await funds(connection, library_id)
        if has.is_frozen or has.available < millicredits:
            break
    raise _refusal(has, millicredits)


async def settle(
    connection: Connection, library_id: str, *, movement: Movement, line_id: str, millicredits: int, now: datetime
) -> None:
    """Out of escrow: captured as revenue, or released to the wallet."""
    await connection.execute(
        "SELECT move_credits($1, $2, $3, $4, $5, $6)",
        library_id,
        new_id(),
        movement.value,
        line_id,
        millicredits,
        now,
    )


def _refusal(has: Funds, required: int) -> CutroomError:
    if has.is_frozen:
        return CutroomError(
            Code.FAILED_PRECONDITION, message="Spending is paused while the books of this library are looked at."
        )
    details = {
        "required": credits_of(required),
        "available": credits_of(has.available),
        "shortfall": credits_of(required - has.available),
    }
    return CutroomError(Code.INSUFFICIENT_CREDITS, details=details)
