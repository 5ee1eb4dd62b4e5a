"""How work is paid for: its price is held first, then captured when it is done, or released when it is not.

Products say what a job costs (a bill), and the job envelope makes these calls; nothing else moves money.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from cutroom.credits import ledger
from cutroom.credits.ledger import Movement
from cutroom.credits.pricing import Action, PriceList, Work, is_per_minute, milliseconds_of, price
from cutroom.credits.rules import Bill, ReservedLine, choose_lines, covers
from cutroom.errors import Code, CutroomError
from cutroom.library.service import duration_of
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id

MAX_LINES = 1_500  # in one reservation; the largest bundle has 1,203

# Whoever needs several lines locks them in the order of their ids, so that nobody waits for one another in a circle.
_LINES = """SELECT id, reservation_id, video_id, action, product, language, terms, duration_milliseconds, expires_at,
    holder IS NOT NULL OR state <> 'open' AS is_spent FROM escrow_lines"""
_OF_RESERVATION = f"""{_LINES} WHERE library_id = $1 AND reservation_id IS NOT NULL
    AND (reservation_id = $2 OR id = ANY($3)) ORDER BY id LIMIT {MAX_LINES} FOR UPDATE"""
_PUT_LINE = """INSERT INTO escrow_lines (library_id, id, hold_id, reservation_id, holder, video_id, action, product,
        language, terms, duration_milliseconds, pricing_version, millicredits, state, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'open', $14, $15)"""


@dataclass(frozen=True, slots=True)
class NewLines:
    """Priced work to hold together: for a holder at once, or for whoever comes with the reservation."""

    priced: Sequence[tuple[Work, int]]
    video_id: str | None
    duration: int | None  # in milliseconds
    pricing_version: str
    holder: str | None = None
    reservation_id: str | None = None
    expires_at: datetime | None = None


async def hold(
    connection: Connection,
    library_id: str,
    bill: Bill,
    *,
    holder: str,
    video_id: str | None,
    prices: PriceList,
    now: datetime,
) -> bool:
    """Put what a bill comes to into escrow for its holder. Not yet, while the video's duration is not known.

    Until then the video is not there, and credits would lie in escrow for as long as an upload takes to begin.
    """
    duration = await _duration(connection, library_id, video_id)
    if bill.is_reserved:
        assert video_id is not None
        await _take_reserved(connection, library_id, bill, holder=holder, video_id=video_id, duration=duration, now=now)
        return True
    if video_id is not None and duration is None:
        return False
    priced = price_all(bill.works, prices=prices, duration=duration, is_subscriber=bill.is_subscriber)
    lines = NewLines(priced, video_id=video_id, duration=duration, pricing_version=prices.version, holder=holder)
    await put_lines(connection, library_id, lines, now=now)
    return True


async def ensure_held(
    connection: Connection,
    library_id: str,
    bill: Bill,
    *,
    holder: str,
    video_id: str | None,
    prices: PriceList,
    now: datetime,
) -> None:
    """Before work begins its price is in escrow, and enough for the duration that is known by now."""
    lines = await connection.fetch(
        """SELECT action, duration_milliseconds FROM escrow_lines
           WHERE library_id = $1 AND holder = $2 AND state = 'open'""",
        library_id,
        holder,
    )
    if not lines:
        if not await hold(connection, library_id, bill, holder=holder, video_id=video_id, prices=prices, now=now):
            raise CutroomError(Code.DURATION_UNKNOWN)
        return
    duration = await _duration(connection, library_id, video_id)
    if not all(covers(Work(Action(line["action"]), ""), line["duration_milliseconds"], duration) for line in lines):
        message = "The video is longer than what was reserved for it."
        raise CutroomError(Code.CONFLICT, message=message, details={"reason": "priced for a shorter duration"})


async def capture(connection: Connection, library_id: str, *, holder: str, now: datetime, undone: int = 0) -> None:
    """The work is done: what its holder holds is spent, but for the lines of what came to nothing: those go back."""
    if undone:
        await _settle(connection, library_id, Movement.RELEASE, holder=holder, now=now, at_most=undone)
    await _settle(connection, library_id, Movement.CAPTURE, holder=holder, now=now)


async def release(connection: Connection, library_id: str, *, holder: str, now: datetime) -> None:
    """The work failed: everything that its holder holds goes back to the wallet."""
    await _settle(connection, library_id, Movement.RELEASE, holder=holder, now=now)


async def expire(connection: Connection, library_id: str, *, reservation_id: str | None, now: datetime) -> int:
    """What nobody used in time goes back to the wallet; of one reservation or of all. How many lines went."""
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
    await _move(connection, library_id, Movement.RELEASE, rows, now=now)
    return len(rows)


def price_all(
    works: Sequence[Work], *, prices: PriceList, duration: int | None, is_subscriber: bool
) -> list[tuple[Work, int]]:
    return [
        (work, price(work, prices=prices, duration_milliseconds=duration, is_subscriber=is_subscriber))
        for work in works
    ]


async def put_lines(connection: Connection, library_id: str, lines: NewLines, *, now: datetime) -> list[str]:
    """Hold the sum of some lines in one movement, and write them down; their ids.

    The movement comes last: it takes the lock that every other payment of this library waits for.
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
            work.action.value,
            work.product,
            work.language,
            dict(work.terms),
            lines.duration if is_per_minute(work.action) else None,
            lines.pricing_version,
            millicredits,
            now,
            lines.expires_at,
        )
        for line_id, (work, millicredits) in zip(ids, lines.priced, strict=True)
    ]
    await connection.executemany(_PUT_LINE, rows)
    await ledger.hold(
        connection,
        library_id,
        transaction_id=hold_id,
        reference=lines.reservation_id or lines.holder or hold_id,
        millicredits=sum(millicredits for _, millicredits in lines.priced),
        now=now,
    )
    return ids


async def lock_lines(connection: Connection, library_id: str, bills: Sequence[Bill]) -> None:
    """Lock all that some bills may take out of reservations, at once and in order, before any of them is paid."""
    reserved = [bill for bill in bills if bill.is_reserved]
    if reserved:
        await connection.execute(
            """SELECT id FROM escrow_lines WHERE library_id = $1 AND reservation_id IS NOT NULL
                 AND (reservation_id = ANY($2) OR id = ANY($3)) ORDER BY id FOR UPDATE""",
            library_id,
            list({bill.reservation_id for bill in reserved if bill.reservation_id is not None}),
            [line_id for bill in reserved for line_id in bill.line_ids],
        )


async def _take_reserved(
    connection: Connection,
    library_id: str,
    bill: Bill,
    *,
    holder: str,
    video_id: str,
    duration: int | None,
    now: datetime,
) -> None:
    rows = await connection.fetch(_OF_RESERVATION, library_id, bill.reservation_id, list(bill.line_ids))
    lines = [
        ReservedLine(
            id=row["id"],
            reservation_id=row["reservation_id"],
            video_id=row["video_id"],
            work=Work(Action(row["action"]), row["product"], row["language"], row["terms"]),
            duration_milliseconds=row["duration_milliseconds"],
            is_spent=row["is_spent"],
            expires_at=row["expires_at"],
        )
        for row in rows
    ]
    chosen = choose_lines(lines, bill, video_id=video_id, duration_milliseconds=duration, now=now)
    await connection.execute(
        "UPDATE escrow_lines SET holder = $3 WHERE library_id = $1 AND id = ANY($2)", library_id, chosen, holder
    )


async def _settle(
    connection: Connection,
    library_id: str,
    movement: Movement,
    *,
    holder: str,
    now: datetime,
    at_most: int | None = None,
) -> None:
    rows = await connection.fetch(
        """WITH held AS (
               SELECT id FROM escrow_lines WHERE library_id = $1 AND holder = $2 AND state = 'open'
               ORDER BY id LIMIT $5 FOR UPDATE)
           UPDATE escrow_lines l SET state = $3, ended_at = $4 FROM held
           WHERE l.library_id = $1 AND l.id = held.id RETURNING l.id, l.millicredits""",
        library_id,
        holder,
        "captured" if movement is Movement.CAPTURE else "released",
        now,
        at_most,
    )
    await _move(connection, library_id, movement, rows, now=now)


async def _move(
    connection: Connection, library_id: str, movement: Movement, rows: list[asyncpg.Record], *, now: datetime
) -> None:
    for row in rows:
        await ledger.settle(
            connection, library_id, movement=movement, line_id=row["id"], millicredits=row["millicredits"], now=now
        )


async def _duration(connection: Connection, library_id: str, video_id: str | None) -> int | None:
    """In milliseconds, once it is known."""
    seconds = await duration_of(connection, library_id, video_id) if video_id is not None else None
    return milliseconds_of(seconds) if seconds is not None else None
