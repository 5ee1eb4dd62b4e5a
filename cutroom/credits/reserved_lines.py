"""Claims lines of reservations for the jobs that they pay for."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from cutroom.credits.pricing import Action, BillableItem, to_milliseconds
from cutroom.credits.rules import Charge, ReservedLine, choose_lines, covers
from cutroom.library.service import get_duration
from cutroom.platform.db import Connection

MAX_LINES = 1_500  # in one reservation; the largest bundle has 1,113

# Lines are locked in id order to prevent deadlocks.
_LINES = """SELECT id, reservation_id, video_id, action, product, language, terms, duration_milliseconds, expires_at,
    holder IS NOT NULL OR state <> 'open' AS is_spent FROM escrow_lines"""
_RESERVED_LINES = f"""{_LINES} WHERE library_id = $1 AND reservation_id IS NOT NULL
    AND (reservation_id = $2 OR id = ANY($3)) ORDER BY id LIMIT {MAX_LINES} FOR UPDATE"""


async def lock_lines(connection: Connection, library_id: str, charges: Sequence[Charge]) -> None:
    """Lock all reserved lines that the charges may claim, in id order, before any of them is held."""
    reserved = [charge for charge in charges if charge.is_reserved]
    if reserved:
        await connection.execute(
            """SELECT id FROM escrow_lines WHERE library_id = $1 AND reservation_id IS NOT NULL
                 AND (reservation_id = ANY($2) OR id = ANY($3)) ORDER BY id FOR UPDATE""",
            library_id,
            list({charge.reservation_id for charge in reserved if charge.reservation_id is not None}),
            [line_id for charge in reserved for line_id in charge.line_ids],
        )


async def claim_reserved_lines(
    connection: Connection,
    library_id: str,
    charge: Charge,
    *,
    holder: str,
    video_id: str,
    duration: int | None,
    now: datetime,
) -> list[str]:
    """Claim one line for each item of a charge, and return their ids; raise CONFLICT if a line does not fit."""
    rows = await connection.fetch(_RESERVED_LINES, library_id, charge.reservation_id, list(charge.line_ids))
    lines = [_reserved_line(row) for row in rows]
    chosen = choose_lines(lines, charge, video_id=video_id, duration_milliseconds=duration, now=now)
    await _set_holder(connection, library_id, chosen, holder=holder)
    return chosen


async def sum_of_lines(connection: Connection, library_id: str, line_ids: Sequence[str]) -> int:
    """Return what lines cost together, in milli-credits."""
    total: int = await connection.fetchval(
        "SELECT coalesce(sum(millicredits), 0)::bigint FROM escrow_lines WHERE library_id = $1 AND id = ANY($2)",
        library_id,
        list(line_ids),
    )
    return total


async def claim_unused_line(
    connection: Connection,
    library_id: str,
    item: BillableItem,
    *,
    video_id: str,
    reservation_id: str | None,
    holder: str,
    now: datetime,
) -> ReservedLine | None:
    """Claim the oldest unused line that pays for an item of this video, of one reservation or of any."""
    rows = await connection.fetch(
        f"""{_LINES} WHERE library_id = $1 AND video_id = $2 AND action = $3 AND state = 'open' AND holder IS NULL
                AND reservation_id IS NOT NULL AND ($4::text IS NULL OR reservation_id = $4) AND expires_at > $5
            ORDER BY id FOR UPDATE""",
        library_id,
        video_id,
        item.action.value,
        reservation_id,
        now,
    )
    duration = await get_milliseconds(connection, library_id, video_id)
    lines = [_reserved_line(row) for row in rows]
    fitting = [each for each in lines if each.item == item and covers(item, each.duration_milliseconds, duration)]
    if not fitting:
        return None
    await _set_holder(connection, library_id, [fitting[0].id], holder=holder)
    return fitting[0]


async def reservations_of(connection: Connection, library_id: str, holders: Sequence[str]) -> list[tuple[str, str]]:
    """Return the reservations that pay for these holders, each with its video."""
    rows = await connection.fetch(
        """SELECT DISTINCT reservation_id, video_id FROM escrow_lines
           WHERE library_id = $1 AND holder = ANY($2) AND reservation_id IS NOT NULL
           ORDER BY reservation_id, video_id""",
        library_id,
        list(holders),
    )
    return [(row["reservation_id"], row["video_id"]) for row in rows]


async def get_milliseconds(connection: Connection, library_id: str, video_id: str | None) -> int | None:
    """Return the video's duration in milliseconds, if known."""
    seconds = await get_duration(connection, library_id, video_id) if video_id is not None else None
    return to_milliseconds(seconds) if seconds is not None else None


def _reserved_line(row: asyncpg.Record) -> ReservedLine:
    return ReservedLine(
        id=row["id"],
        reservation_id=row["reservation_id"],
        video_id=row["video_id"],
        item=BillableItem(Action(row["action"]), row["product"], row["language"], row["terms"]),
        duration_milliseconds=row["duration_milliseconds"],
        is_spent=row["is_spent"],
        expires_at=row["expires_at"],
    )


async def _set_holder(connection: Connection, library_id: str, line_ids: Sequence[str], *, holder: str) -> None:
    await connection.execute(
        "UPDATE escrow_lines SET holder = $3 WHERE library_id = $1 AND id = ANY($2)", library_id, list(line_ids), holder
    )
