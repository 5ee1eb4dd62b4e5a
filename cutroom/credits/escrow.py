"""Holds the price of a job in escrow, then captures it on success or releases it on failure.

Products declare a charge; only the job lifecycle calls these functions.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from cutroom.credits import ledger
from cutroom.credits.ledger import TransactionKind
from cutroom.credits.pricing import Action, BillableItem, PriceList, is_per_minute, price
from cutroom.credits.reserved_lines import claim_reserved_lines, get_milliseconds, sum_of_lines
from cutroom.credits.rules import Charge, covers
from cutroom.credits.spending import open_budget
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id

_log = logging.getLogger(__name__)

_INSERT_LINE = """INSERT INTO escrow_lines (library_id, id, hold_id, reservation_id, holder, video_id, action, product,
        language, terms, duration_milliseconds, pricing_version, millicredits, state, created_at, expires_at, replaces)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'open', $14, $15, $16)"""


@dataclass(frozen=True, slots=True)
class NewHold:
    """A charge to hold in escrow for its holder."""

    charge: Charge
    holder: str
    video_id: str | None


@dataclass(frozen=True, slots=True)
class NewEscrowLines:
    """Priced items to hold together, for a holder or for a reservation."""

    priced: Sequence[tuple[BillableItem, int]]
    video_id: str | None
    duration: int | None  # in milliseconds
    pricing_version: str
    holder: str | None = None
    reservation_id: str | None = None
    expires_at: datetime | None = None
    replaces: str | None = None  # a released line of the holder, which cost more

    @property
    def millicredits(self) -> int:
        return sum(millicredits for _, millicredits in self.priced)


async def hold(
    connection: Connection,
    library_id: str,
    charge: Charge,
    *,
    holder: str,
    video_id: str | None,
    prices: PriceList,
    now: datetime,
) -> bool:
    """Hold a charge in escrow for its holder; return False while the duration of the video is not known.

    Holding earlier would lock up credits for as long as an upload takes to start.
    """
    held = await hold_all(connection, library_id, [NewHold(charge, holder, video_id)], prices=prices, now=now)
    return bool(held)


async def hold_all(
    connection: Connection, library_id: str, new_holds: Sequence[NewHold], *, prices: PriceList, now: datetime
) -> list[str]:
    """Hold charges of one request, within its spending limit; return the holders whose price is held now."""
    limit = next((each.charge.limit for each in new_holds), None)
    budget = await open_budget(connection, library_id, limit, video_id=new_holds[0].video_id) if limit else None
    held, claimed, priced = [], [], []
    for each in new_holds:
        duration = await get_milliseconds(connection, library_id, each.video_id)
        if each.charge.is_reserved:
            claimed += await _claim(connection, library_id, each, duration=duration, now=now)
        elif each.video_id is None or duration is not None:
            priced.append(_price(each, prices=prices, duration=duration))
        else:
            continue
        held.append(each.holder)
    if budget is not None:
        budget.require(await sum_of_lines(connection, library_id, claimed) + sum(each.millicredits for each in priced))
    for lines in priced:
        await create_lines(connection, library_id, lines, now=now)
    return held


async def _claim(
    connection: Connection, library_id: str, new_hold: NewHold, *, duration: int | None, now: datetime
) -> list[str]:
    assert new_hold.video_id is not None
    return await claim_reserved_lines(
        connection,
        library_id,
        new_hold.charge,
        holder=new_hold.holder,
        video_id=new_hold.video_id,
        duration=duration,
        now=now,
    )


def _price(new_hold: NewHold, *, prices: PriceList, duration: int | None) -> NewEscrowLines:
    charge = new_hold.charge
    return NewEscrowLines(
        price_items(charge.items, prices=prices, duration=duration, is_subscriber=charge.is_subscriber),
        video_id=new_hold.video_id,
        duration=duration,
        pricing_version=prices.version,
        holder=new_hold.holder,
    )


async def ensure_held(
    connection: Connection,
    library_id: str,
    charge: Charge,
    *,
    holder: str,
    video_id: str | None,
    prices: PriceList,
    now: datetime,
) -> None:
    """Check that the price is in escrow and covers the actual duration; hold it now if it is not held yet."""
    lines = await connection.fetch(
        """SELECT action, duration_milliseconds FROM escrow_lines
           WHERE library_id = $1 AND holder = $2 AND state = 'open'""",
        library_id,
        holder,
    )
    if not lines:
        if not await hold(connection, library_id, charge, holder=holder, video_id=video_id, prices=prices, now=now):
            raise CutroomError(Code.DURATION_UNKNOWN)
        return
    duration = await get_milliseconds(connection, library_id, video_id)
    if not all(
        covers(BillableItem(Action(line["action"]), ""), line["duration_milliseconds"], duration) for line in lines
    ):
        message = "The video is longer than the reserved duration."
        raise CutroomError(Code.CONFLICT, message=message, details={"reason": "priced for a shorter duration"})


async def capture(
    connection: Connection,
    library_id: str,
    *,
    holder: str,
    now: datetime,
    failed_items: int = 0,
    draft_prices: PriceList | None = None,
) -> None:
    """Capture the holder's open lines, after releasing as many as there are failed items.

    `draft_prices` is given if the holder made a draft: then lines that were priced higher are replaced first.
    """
    if draft_prices is not None:
        await _reprice_as_draft(connection, library_id, holder=holder, prices=draft_prices, now=now)
    if failed_items:
        await _settle(connection, library_id, TransactionKind.RELEASE, holder=holder, now=now, limit=failed_items)
    await _settle(connection, library_id, TransactionKind.CAPTURE, holder=holder, now=now)


async def _reprice_as_draft(
    connection: Connection, library_id: str, *, holder: str, prices: PriceList, now: datetime
) -> None:
    """Replace each open line that was not priced as a draft by one at the draft rate."""
    rows = await connection.fetch(
        """SELECT id, video_id, action, product, language, terms, duration_milliseconds, millicredits FROM escrow_lines
           WHERE library_id = $1 AND holder = $2 AND state = 'open' ORDER BY id FOR UPDATE""",
        library_id,
        holder,
    )
    for row in rows:
        item = BillableItem(Action(row["action"]), row["product"], row["language"], row["terms"])
        if not item.has_draft_rate:
            continue
        duration = row["duration_milliseconds"]
        [priced] = price_items([item.as_draft()], prices=prices, duration=duration, is_subscriber=False)
        if priced[1] < row["millicredits"]:  # a reservation may be older than the price list
            lines = NewEscrowLines(
                [priced],
                video_id=row["video_id"],
                duration=duration,
                pricing_version=prices.version,
                holder=holder,
                replaces=row["id"],
            )
            await _replace(connection, library_id, row, lines, now=now)


async def _replace(
    connection: Connection, library_id: str, row: asyncpg.Record, lines: NewEscrowLines, *, now: datetime
) -> None:
    """Release a line and hold another. If the wallet refuses the hold, frozen or overdrawn, the line stays as it is."""
    try:
        async with connection.transaction():
            await connection.execute(
                "UPDATE escrow_lines SET state = 'released', ended_at = $3 WHERE library_id = $1 AND id = $2",
                library_id,
                row["id"],
                now,
            )
            await _post_settlements(connection, library_id, TransactionKind.RELEASE, [row], now=now)
            await create_lines(connection, library_id, lines, now=now)
    except CutroomError:
        _log.warning("draft not repriced", extra={"library_id": library_id, "holder": lines.holder})


async def release(connection: Connection, library_id: str, *, holder: str, now: datetime) -> None:
    """Return the holder's open lines to the wallet."""
    await _settle(connection, library_id, TransactionKind.RELEASE, holder=holder, now=now)


async def expire(connection: Connection, library_id: str, *, reservation_id: str | None, now: datetime) -> int:
    """Release expired unused lines of one reservation, or of all; return how many."""
    rows = await connection.fetch(
        """WITH unused AS (
               SELECT id FROM escrow_lines
               WHERE library_id = $1 AND state = 'open' AND holder IS NULL AND expires_at <= $3
                 AND ($2::text IS NULL OR reservation_id = $2)
               ORDER BY id FOR UPDATE)
           UPDATE escrow_lines l SET state = 'released', ended_at = $3 FROM unused
           WHERE l.library_id = $1 AND l.id = unused.id RETURNING l.id, l.millicredits""",
        library_id,
        reservation_id,
        now,
    )
    await _post_settlements(connection, library_id, TransactionKind.RELEASE, rows, now=now)
    return len(rows)


def price_items(
    items: Sequence[BillableItem], *, prices: PriceList, duration: int | None, is_subscriber: bool
) -> list[tuple[BillableItem, int]]:
    return [
        (item, price(item, prices=prices, duration_milliseconds=duration, is_subscriber=is_subscriber))
        for item in items
    ]


async def create_lines(connection: Connection, library_id: str, lines: NewEscrowLines, *, now: datetime) -> list[str]:
    """Insert lines and hold their sum in one transaction; return the line ids.

    The hold comes last, because it locks the library's balance row.
    """
    hold_id, ids = new_id(), [new_id() for _ in lines.priced]
    rows = [
        (
            library_id,
            line_id,
            hold_id,
            lines.reservation_id,
            lines.holder,
            lines.video_id,
            item.action.value,
            item.product,
            item.language,
            dict(item.terms),
            lines.duration if is_per_minute(item.action) else None,
            lines.pricing_version,
            millicredits,
            now,
            lines.expires_at,
            lines.replaces,
        )
        for line_id, (item, millicredits) in zip(ids, lines.priced, strict=True)
    ]
    await connection.executemany(_INSERT_LINE, rows)
    await ledger.hold(
        connection,
        library_id,
        transaction_id=hold_id,
        reference=lines.replaces or lines.reservation_id or lines.holder or hold_id,
        millicredits=lines.millicredits,
        now=now,
    )
    return ids


async def _settle(
    connection: Connection,
    library_id: str,
    kind: TransactionKind,
    *,
    holder: str,
    now: datetime,
    limit: int | None = None,
) -> None:
    rows = await connection.fetch(
        """WITH held AS (
               SELECT id FROM escrow_lines WHERE library_id = $1 AND holder = $2 AND state = 'open'
               ORDER BY id LIMIT $5 FOR UPDATE)
           UPDATE escrow_lines l SET state = $3, ended_at = $4 FROM held
           WHERE l.library_id = $1 AND l.id = held.id RETURNING l.id, l.millicredits""",
        library_id,
        holder,
        "captured" if kind is TransactionKind.CAPTURE else "released",
        now,
        limit,
    )
    await _post_settlements(connection, library_id, kind, rows, now=now)


async def _post_settlements(
    connection: Connection, library_id: str, kind: TransactionKind, rows: list[asyncpg.Record], *, now: datetime
) -> None:
    for row in rows:
        await ledger.settle(
            connection, library_id, kind=kind, line_id=row["id"], millicredits=row["millicredits"], now=now
        )
