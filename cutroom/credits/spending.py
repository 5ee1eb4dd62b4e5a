"""Refuses a price that would take the jobs of a request above its spending limit."""

from dataclasses import dataclass

from cutroom.accounts.spending import SpendingLimit
from cutroom.credits.pricing import to_credits
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection

OVER_LIMIT = "over_limit"

# Jobs of one request are of one video, or a single job without one. A holder is named after the attempt, see
# `jobs.ids.workflow_id`; what was released again does not count.
CHARGED = """SELECT coalesce(sum(l.millicredits), 0)::bigint FROM jobs j JOIN escrow_lines l
        ON l.library_id = j.library_id
        AND l.holder = CASE j.attempt WHEN 1 THEN j.id ELSE j.id || '.' || j.attempt END
    WHERE j.library_id = $1 AND j.video_id = $2 AND j.charge -> 'limit' ->> 'id' = $3
      AND l.state IN ('open', 'captured')"""


@dataclass(frozen=True, slots=True)
class Budget:
    """The spending limit of a request, and what its jobs have been charged of it."""

    limit: SpendingLimit
    charged: int

    def require(self, price: int) -> None:
        """Raise FAILED_PRECONDITION if a price does not fit; the caller holds it before the transaction ends."""
        if self.charged + price > self.limit.millicredits:
            raise over_limit(self.limit, price=price, charged=self.charged)


async def open_budget(connection: Connection, library_id: str, limit: SpendingLimit, *, video_id: str | None) -> Budget:
    """Lock the limit until the transaction ends, so that jobs of a request that start together are charged in turn.

    It is locked before reservation lines and the wallet.
    """
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('spending limit ' || $1, 0))", f"{library_id} {limit.id}"
    )
    return Budget(limit, await connection.fetchval(CHARGED, library_id, video_id, limit.id))


def over_limit(limit: SpendingLimit, *, price: int, charged: int = 0) -> CutroomError:
    """The error of a price above the limit, in credits."""
    details: dict[str, str | float] = {
        "reason": OVER_LIMIT,
        "price": to_credits(price),
        "limit": to_credits(limit.millicredits),
    }
    message = f"The price of {_credits(price)} is above the spending limit of {_credits(limit.millicredits)}."
    if charged:
        details["charged"] = to_credits(charged)
        message = (
            f"The price of {_credits(price)} and the {_credits(charged)} that this request was already charged "
            f"are above the spending limit of {_credits(limit.millicredits)}."
        )
    return CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)


def _credits(millicredits: int) -> str:
    text = f"{to_credits(millicredits):.3f}".rstrip("0").rstrip(".")
    return f"{text} credit" if text == "1" else f"{text} credits"
