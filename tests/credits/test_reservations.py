"""Reservations on the real database: consumed by whom they fit, given back when nobody used them in time."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cutroom.credits import escrow
from cutroom.credits.escrow import MAX_LINES
from cutroom.credits.pricing import Action, Term, Work
from cutroom.credits.receipts import receipt
from cutroom.credits.rules import Bill
from cutroom.credits.schemas import MAX_CLIPS, MAX_DUBS
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.web.schema import MAX_LANGUAGES
from dev.scratch import Accounts
from tests.credits.conftest import (
    DAY,
    PRICES,
    SPEECH,
    Accountancy,
    Act,
    AddVideo,
    Books,
    at_once,
    hold,
    paying,
    reserve,
)

DE, FR = Work(Action.DUB, "plus", "de"), Work(Action.DUB, "plus", "fr")
CLIP = Work(Action.SHORTS_CLIP, "shorts")
MARKED = Work(Action.SHORTS_CLIP, "shorts", terms={Term.WATERMARK: 1})


# Time.


async def test_only_what_is_due_and_unused_expires(books: Books, add_video: AddVideo) -> None:
    await books.grant(20_000)
    video_id, now = await add_video(60.0), system_clock()
    due, (used, unused) = await reserve(books, video_id, DE, FR, lasts=timedelta(hours=1))
    _, (later,) = await reserve(books, video_id, DE, lasts=timedelta(hours=3))
    (held,) = await books.put(500, holder="without a reservation")
    await hold(books, paying(DE, lines=(used,)), "work", video_id)
    every = (used, unused, later, held)
    assert await books.expire(now + timedelta(minutes=59)) == 0
    assert await books.states(*every) == ["open"] * 4
    assert await books.expire(now + timedelta(hours=2)) == 1
    assert await books.states(*every) == ["open", "released", "open", "open"]
    assert await books.expire(now + timedelta(hours=2)) == 0
    assert await books.expire(now + timedelta(hours=2), due) == 0
    assert await books.accounts() == Accountancy(wallet=15_500, escrow=4_500, revenue=0, granted=-20_000)
    await books.capture("work")  # what was consumed in time is still there to be paid
    assert await books.states(used) == ["captured"]


async def test_one_reservation_expires_without_the_others(books: Books, add_video: AddVideo) -> None:
    await books.grant(20_000)
    video_id = await add_video(60.0)
    first, (mine,) = await reserve(books, video_id, DE)
    _, (other,) = await reserve(books, video_id, DE)
    assert await books.expire(system_clock() + 2 * DAY, first) == 1
    assert await books.states(mine, other) == ["released", "open"]
    await books.expire(system_clock() + 2 * DAY)
    assert await books.accounts() == Accountancy(wallet=20_000, escrow=0, revenue=0, granted=-20_000)


async def test_expiry_and_use_at_once_have_one_winner(books: Books, add_video: AddVideo) -> None:
    await books.grant(20_000)
    video_id, now = await add_video(60.0), system_clock()
    for expiry_first in (True, False):
        reservation_id, (line_id,) = await reserve(books, video_id, DE)
        holder = new_id()
        bill = paying(DE, reservation=reservation_id)
        await books.add_work(holder, DE)

        async def use(connection: Connection, holder: str = holder, bill: Bill = bill) -> None:
            await escrow.hold(
                connection, books.library_id, bill, holder=holder, video_id=video_id, prices=PRICES, now=now
            )

        async def expire(connection: Connection, reservation_id: str = reservation_id) -> int:
            return await escrow.expire(connection, books.library_id, reservation_id=reservation_id, now=now + 2 * DAY)

        if expiry_first:
            expired, refused = await at_once(books, expire, use)
            assert (expired, refused.code, refused.details["reason"]) == (1, Code.CONFLICT, "the line is spent")
            assert await books.states(line_id) == ["released"]
        else:
            assert await at_once(books, use, expire) == [None, 0]
            assert await books.states(line_id) == ["open"]


# Reservations.


async def test_lines_are_consumed_by_name_and_by_reservation(books: Books, add_video: AddVideo) -> None:
    await books.grant(20_000)
    video_id = await add_video(60.0)
    reservation_id, (de, fr) = await reserve(books, video_id, DE, FR)
    before = await books.accounts()
    assert await hold(books, paying(FR, reservation=reservation_id, lines=(fr,)), "french", video_id)
    assert await hold(books, paying(DE, reservation=reservation_id), "german", video_id)
    assert await books.accounts() == before  # it was paid already
    await books.capture("french")
    await books.release("german")
    assert await books.states(de, fr) == ["released", "captured"]
    assert await books.accounts() == Accountancy(wallet=18_000, escrow=0, revenue=2_000, granted=-20_000)


async def test_equal_lines_pay_for_one_clip_each(books: Books, add_video: AddVideo) -> None:
    await books.grant(20_000)
    video_id = await add_video(60.0)
    reservation_id, lines = await reserve(books, video_id, CLIP, CLIP, CLIP)
    await hold(books, paying(CLIP, CLIP, reservation=reservation_id), "two", video_id)
    await hold(books, paying(CLIP, reservation=reservation_id), "one", video_id)
    rows = await books.owner.fetch("SELECT holder FROM escrow_lines WHERE id = ANY($1) ORDER BY holder", lines)
    assert [row["holder"] for row in rows] == ["one", "two", "two"]
    with pytest.raises(CutroomError) as refused:
        await hold(books, paying(CLIP, reservation=reservation_id), "more", video_id)
    assert refused.value.details["reason"] == "the line is spent"


async def test_every_wrong_line_is_a_conflict_and_stays_unused(
    books: Books, accounts: Accounts, add_video: AddVideo
) -> None:
    await books.grant(40_000)
    video_id, other_video = await add_video(60.0), await add_video(60.0)
    reservation_id, (de, fr, clip) = await reserve(books, video_id, DE, FR, CLIP)
    other_id, (other,) = await reserve(books, video_id, DE)
    _, (over,) = await reserve(books, video_id, DE, lasts=timedelta(0))
    _, (short,) = await reserve(books, video_id, DE, seconds=53)
    stranger = Books(books.runtime, books.owner, (await accounts.person()).library_id)
    await stranger.grant(10_000)
    their_video = await add_video(60.0, stranger.library_id)
    their_reservation, (theirs,) = await reserve(stranger, their_video, DE)
    wrong: list[tuple[Bill, str, str]] = [
        (paying(DE, reservation=reservation_id), other_video, "the line was reserved for another video"),
        (paying(DE, lines=(fr,)), video_id, "the line was reserved for another language"),
        (paying(Work(Action.DUB, "premium", "de"), lines=(de,)), video_id, "the line was reserved for another product"),
        (paying(MARKED, lines=(clip,)), video_id, "the line was reserved for another product"),
        (paying(DE, reservation=reservation_id, lines=(other,)), video_id, "there is no such line"),
        (paying(DE, reservation=other_id, lines=(new_id(),)), video_id, "there is no such line"),
        (paying(DE, lines=(theirs,)), video_id, "there is no such line"),
        (paying(DE, reservation=their_reservation), video_id, "the reservation has no line for this"),
        (paying(DE, reservation=new_id()), video_id, "the reservation has no line for this"),
        (paying(SPEECH, reservation=reservation_id), video_id, "the reservation has no line for this"),
        (paying(DE, lines=(over,)), video_id, "the reservation has expired"),
        (paying(DE, lines=(short,)), video_id, "the line was priced for a shorter duration"),
        (paying(DE, FR, lines=(de, clip)), video_id, "the line was reserved for another language"),
    ]
    before = await books.accounts()
    for bill, video, reason in wrong:
        with pytest.raises(CutroomError) as refused:
            await hold(books, bill, "work", video)
        assert (refused.value.code, refused.value.details["reason"]) == (Code.CONFLICT, reason)
    assert await books.accounts() == before
    held = "SELECT count(*) FROM escrow_lines WHERE library_id = ANY($1) AND holder IS NOT NULL"
    assert await books.owner.fetchval(held, [books.library_id, stranger.library_id]) == 0


async def test_two_that_take_one_line_at_once_have_one_winner(books: Books, add_video: AddVideo) -> None:
    await books.grant(20_000)
    video_id = await add_video(60.0)
    reservation_id, (line_id,) = await reserve(books, video_id, DE)

    def taking(holder: str, **by: Any) -> Act:  # noqa: ANN401 (a reservation or lines)
        async def act(connection: Connection) -> None:
            bill, now = paying(DE, **by), system_clock()
            await escrow.hold(
                connection, books.library_id, bill, holder=holder, video_id=video_id, prices=PRICES, now=now
            )

        return act

    await books.add_work("first", DE)
    taken, refused = await at_once(
        books, taking("first", lines=(line_id,)), taking("second", reservation=reservation_id)
    )
    assert (taken, refused.code, refused.details["reason"]) == (None, Code.CONFLICT, "the line is spent")
    assert await books.owner.fetchval("SELECT holder FROM escrow_lines WHERE id = $1", line_id) == "first"


async def test_a_line_costs_what_it_cost_when_it_was_reserved(books: Books, add_video: AddVideo) -> None:
    """Prices that rise afterwards, and a video that turns out shorter, change nothing."""
    await books.grant(20_000)
    video_id = await add_video(30.0)
    reservation_id, _ = await reserve(books, video_id, DE)
    await books.add_work("work", DE)
    dearer = replace(PRICES, version="dearer", per_minute=replace(PRICES.per_minute, dub_plus=9_000))
    async with books.transaction() as connection:
        await escrow.hold(
            connection,
            books.library_id,
            paying(DE, reservation=reservation_id),
            holder="work",
            video_id=video_id,
            prices=dearer,
            now=system_clock(),
        )
    await books.capture("work")
    async with books.transaction() as connection:
        paid = await receipt(connection, books.library_id, holder="work")
    assert (paid["captured"], paid["lines"][0]["pricingVersion"]) == (2.0, PRICES.version)


async def test_every_line_of_the_largest_bundle_can_be_used(books: Books, add_video: AddVideo) -> None:
    largest = MAX_DUBS * MAX_LANGUAGES + MAX_LANGUAGES + 1 + MAX_CLIPS + 1 + MAX_LANGUAGES + 1
    await books.grant(3_000_000)
    video_id = await add_video(60.0)
    works = [Work(Action.DUB, f"kind {number}", "de") for number in range(largest)]
    reservation_id, line_ids = await reserve(books, video_id, *works)
    work_of = dict(zip(line_ids, works, strict=True))
    for line_id in (min(line_ids), max(line_ids)):
        assert await hold(books, paying(work_of[line_id], reservation=reservation_id), line_id, video_id)
        assert await books.owner.fetchval("SELECT holder FROM escrow_lines WHERE id = $1", line_id) == line_id
    assert largest <= MAX_LINES
