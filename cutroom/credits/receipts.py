"""Builds job receipts and library statements from the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.credits.pricing import Term, to_credits
from cutroom.platform.db import Connection

MAX_STATEMENT = 1_000
SETTLEMENT_ACCOUNTS = {"capture": ("escrow", "revenue"), "release": ("escrow", "wallet")}


async def receipt(
    connection: Connection, library_id: str, *, holder: str, refused_price: float | None = None
) -> dict[str, Any]:
    """Return what a holder was quoted, and what was held, captured and returned, with the ledger entry ids.

    If nothing was held, `quoted` is the refused price, or absent if no price was known. Of a job that proved to be a
    draft, the difference to the draft rate is returned.
    """
    rows = await connection.fetch(
        """SELECT l.id, l.action, l.product, l.language, l.millicredits, l.state, l.pricing_version, l.hold_id,
               l.reservation_id, l.terms, l.replaces, t.id AS settled_id, t.kind AS settled_kind
           FROM escrow_lines l LEFT JOIN ledger_transactions t
             ON t.library_id = l.library_id AND t.reference = l.id AND t.kind IN ('capture', 'release')
           WHERE l.library_id = $1 AND l.holder = $2 ORDER BY l.id""",
        library_id,
        holder,
    )

    held = sum(row["millicredits"] for row in rows if row["replaces"] is None)
    captured, is_open = (
        sum(row["millicredits"] for row in rows if row["state"] == state) for state in ("captured", "open")
    )
    quoted = to_credits(held) if rows else refused_price
    return {
        **({"quoted": quoted} if quoted is not None else {}),
        "held": to_credits(held),
        "captured": to_credits(captured),
        "returned": to_credits(held - captured - is_open),
        "lines": [_line(row) for row in rows],
    }


@dataclass(frozen=True, slots=True)
class HeldCredits:
    """The milli-credits that a job attempt held, charged and returned."""

    holder: str
    held: int
    charged: int
    returned: int
    held_at: datetime
    settled_at: datetime | None
    reservation_id: str | None


async def list_held(connection: Connection, library_id: str, holders: Sequence[str]) -> list[HeldCredits]:
    """Sum up what each holder held; those that held nothing are left out."""
    rows = await connection.fetch(
        """SELECT holder, min(created_at) AS held_at, max(ended_at) AS settled_at,
               max(reservation_id) AS reservation_id,
               coalesce(sum(millicredits) FILTER (WHERE replaces IS NULL), 0)::bigint AS held,
               coalesce(sum(millicredits) FILTER (WHERE state = 'captured'), 0)::bigint AS charged,
               coalesce(sum(millicredits) FILTER (WHERE state = 'open'), 0)::bigint AS open
           FROM escrow_lines WHERE library_id = $1 AND holder = ANY ($2) GROUP BY holder ORDER BY holder""",
        library_id,
        list(holders),
    )
    return [
        HeldCredits(
            holder=row["holder"],
            held=row["held"],
            charged=row["charged"],
            returned=row["held"] - row["charged"] - row["open"],
            held_at=row["held_at"],
            settled_at=row["settled_at"],
            reservation_id=row["reservation_id"],
        )
        for row in rows
    ]


def _line(row: asyncpg.Record) -> dict[str, Any]:
    entries = [f"{row['hold_id']}/wallet", f"{row['hold_id']}/escrow"]
    entries += [f"{row['settled_id']}/{account}" for account in SETTLEMENT_ACCOUNTS.get(row["settled_kind"], ())]
    line = {
        "lineItemId": row["id"],
        "reservationId": row["reservation_id"],
        "actionKey": row["action"],
        "product": row["product"],
        "targetLanguageCode": row["language"],
        "credits": to_credits(row["millicredits"]),
        "quality": "draft" if row["terms"].get(Term.DRAFT) else None,
        "replaces": row["replaces"],
        "pricingVersion": row["pricing_version"],
        "state": row["state"],
        "entries": entries,
    }
    return {name: value for name, value in line.items() if value is not None}


async def statement(connection: Connection, library_id: str, *, limit: int = MAX_STATEMENT) -> list[dict[str, Any]]:
    """Return a library's transactions, newest first, with their effect on wallet and escrow."""
    rows = await connection.fetch(
        """SELECT t.id, t.kind, t.reference, t.created_at,
               coalesce(sum(e.millicredits) FILTER (WHERE e.account = 'wallet'), 0)::bigint AS wallet,
               coalesce(sum(e.millicredits) FILTER (WHERE e.account = 'escrow'), 0)::bigint AS escrow
           FROM (SELECT * FROM ledger_transactions WHERE library_id = $1 ORDER BY id DESC LIMIT $2) t
           JOIN ledger_entries e ON e.library_id = t.library_id AND e.transaction_id = t.id
           GROUP BY t.id, t.kind, t.reference, t.created_at ORDER BY t.id DESC""",
        library_id,
        min(limit, MAX_STATEMENT),
    )
    return [
        {
            "transactionId": row["id"],
            "at": row["created_at"].isoformat(),
            "kind": row["kind"],
            "reference": row["reference"],
            "wallet": to_credits(row["wallet"]),
            "escrow": to_credits(row["escrow"]),
        }
        for row in rows
    ]


async def list_holders(connection: Connection, library_id: str, *, after: str, limit: int) -> list[str]:
    """Return the ids of jobs for which credits were held, in their order after an id."""
    rows = await connection.fetch(
        """SELECT DISTINCT holder FROM escrow_lines
           WHERE library_id = $1 AND holder > $2 ORDER BY holder LIMIT $3""",
        library_id,
        after,
        limit,
    )
    return [row["holder"] for row in rows]
