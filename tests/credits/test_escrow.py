"""Escrow on the real database: held, then captured or released, once and whole, whoever comes at the same time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from cutroom.credits import escrow
from cutroom.credits.escrow import MAX_LINES, NewLines, price_all, put_lines
from cutroom.credits.pricing import Action, Term, Work, load_prices
from cutroom.credits.receipts import MAX_STATEMENT, receipt, statement
from cutroom.credits.rules import Bill
from cutroom.credits.schemas import MAX_CLIPS, MAX_DUBS
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.web.schema import MAX_LANGUAGES
from dev.scratch import Accounts
from tests.credits.conftest import SPEECH, Accountancy, AddVideo, Books

PRICES = load_prices()
DE, FR = Work(Action.DUB, "plus", "de"), Work(Action.DUB, "plus", "fr")
CLIP = Work(Action.SHORTS_CLIP, "shorts")
MARKED = Work(Action.SHORTS_CLIP, "shorts", terms={Term.WATERMARK: 1})
DAY = timedelta(days=1)

Act = Callable[[Connection], Awaitable[Any]]


async def hold(books: Books, bill: Bill, holder: str, video_id: str | None = None, now: datetime | None = None) -> bool:
    async with books.transaction() as connection:
        return await escrow.hold(
            connection,
            books.library_id,
            bill,
            holder=holder,
            video_id=video_id,
            prices=PRICES,
            now=now or system_clock(),
        )


async def ensure(books: Books, bill: Bill, holder: str, video_id: str | None = None) -> None:
    async with books.transaction() as connection:
        await escrow.ensure_held(
            connection, books.library_id, bill, holder=holder, video_id=video_id, prices=PRICES, now=system_clock()
        )


async def reserve(
    books: Books, video_id: str, *works: Work, seconds: int = 60, lasts: timedelta = DAY
) -> tuple[str, list[str]]:
    """The reservation's id and those of its lines."""
    reservation_id, now = new_id(), system_clock()
    priced = price_all(works, prices=PRICES, duration=seconds * 1000, is_subscriber=False)
    lines = NewLines(
        priced,
        video_id=video_id,
        duration=seconds * 1000,
        pricing_version=PRICES.version,
        reservation_id=reservation_id,
        expires_at=now + lasts,
    )
    async with books.transaction() as connection:
        return reservation_id, await put_lines(connection, books.library_id, lines, now=now)


def paying(*works: Work, reservation: str | None = None, lines: tuple[str, ...] = ()) -> Bill:
    return Bill(works, is_subscriber=False, reservation_id=reservation, line_ids=lines)


async def at_once(books: Books, first: Act, second: Act) -> list[Any]:
    """Two transactions that overlap: the second begins while the first has acted and not committed."""

    async def follow() -> Any:  # noqa: ANN401 (whatever it gives)
        async with books.transaction() as connection:
            return await second(connection)

    async with books.transaction() as connection:
        given = await first(connection)
        following = asyncio.create_task(follow())
        await asyncio.wait({following}, timeout=0.2)
    return [given, *await asyncio.gather(following, return_exceptions=True)]


def settling(books: Books, movement: str, holder: str = "work") -> Act:
    async def act(connection: Connection) -> None:
        move = escrow.capture if movement == "capture" else escrow.release
        await move(connection, books.library_id, holder=holder, now=system_clock())

    return act


# Holding.


async def test_the_price_of_a_bill_is_held_by_the_duration_of_its_video(books: Books, add_video: AddVideo) -> None:
    await books.grant(10_000)
    video_id = await add_video(90.0)
    assert await hold(books, paying(DE, FR, CLIP), "work", video_id)
    assert await books.accounts() == Accountancy(wallet=1_000, escrow=9_000, revenue=0, granted=-10_000)
    rows = await books.owner.fetch(
        "SELECT * FROM escrow_lines WHERE library_id = $1 ORDER BY action, language", books.library_id
    )
    assert [
        (row["action"], row["product"], row["language"], row["millicredits"], row["duration_milliseconds"])
        for row in rows
    ] == [
        ("dub", "plus", "de", 3_000, 90_000),
        ("dub", "plus", "fr", 3_000, 90_000),
        ("shorts-clip", "shorts", None, 3_000, None),
    ]
    for row in rows:
        assert (row["holder"], row["video_id"], row["state"]) == ("work", video_id, "open")
        assert (row["reservation_id"], row["expires_at"], row["ended_at"]) == (None, None, None)
        assert row["pricing_version"] == PRICES.version


async def test_work_without_a_video_is_held_too(books: Books) -> None:
    await books.grant(1_000)
    assert await hold(books, paying(SPEECH), "work")
    assert await books.accounts() == Accountancy(wallet=0, escrow=1_000, revenue=0, granted=-1_000)


@pytest.mark.parametrize("works", [(DE,), (CLIP,)], ids=["by the minute", "by the piece"])
async def test_nothing_is_held_while_the_duration_is_not_known(
    books: Books, add_video: AddVideo, works: tuple[Work, ...]
) -> None:
    await books.grant(10_000)
    assert not await hold(books, paying(*works), "work", await add_video(None))
    assert (await books.accounts()).escrow == 0
    assert await books.kinds() == ["grant"]


async def test_a_subscriber_pays_less_for_clips(books: Books) -> None:
    await books.grant(10_000)
    await hold(books, replace(paying(CLIP, MARKED), is_subscriber=True), "subscriber")
    await hold(books, paying(CLIP, MARKED), "other")
    async with books.transaction() as connection:
        held = [
            (await receipt(connection, books.library_id, holder=holder))["held"] for holder in ("subscriber", "other")
        ]
    assert held == [3.0, 5.0]


async def test_a_holder_holds_once(books: Books) -> None:
    """A second hold for one piece of work is refused by the ledger, and leaves nothing."""
    await books.grant(10_000)
    await hold(books, paying(SPEECH), "work")
    with pytest.raises(Exception, match="ledger_transactions_reference_key"):
        await hold(books, paying(SPEECH), "work")
    assert await books.accounts() == Accountancy(wallet=9_000, escrow=1_000, revenue=0, granted=-10_000)


# What a wallet cannot pay.


@pytest.mark.parametrize(
    ("granted", "held", "required", "details"),
    [
        (0, 0, 1, {"required": 0.001, "available": 0.0, "shortfall": 0.001}),
        (1_000, 0, 1_001, {"required": 1.001, "available": 1.0, "shortfall": 0.001}),
        (10_000, 9_999, 2_500, {"required": 2.5, "available": 0.001, "shortfall": 2.499}),
    ],
)
async def test_what_the_wallet_cannot_pay_is_refused_with_what_is_missing(
    books: Books, granted: int, held: int, required: int, details: dict[str, float]
) -> None:
    if granted:
        await books.grant(granted)
    if held:
        await books.put(held)
    before = await books.accounts()
    with pytest.raises(CutroomError) as refused:
        await books.put(required)
    error = refused.value
    assert (error.code, error.status, error.message) == (Code.INSUFFICIENT_CREDITS, 429, "Not enough credits.")
    assert (error.details, error.headers) == (details, {})
    assert await books.accounts() == before
    lines = "SELECT count(*) FROM escrow_lines WHERE library_id = $1"
    assert await books.owner.fetchval(lines, books.library_id) == (1 if held else 0)


async def test_the_last_millicredit_can_be_spent(books: Books) -> None:
    await books.grant(1_000)
    await books.put(999)
    await books.put(1)
    assert (await books.accounts()).wallet == 0


async def test_the_lines_of_one_bill_are_held_all_or_none(books: Books) -> None:
    await books.grant(1_500)
    with pytest.raises(CutroomError):
        await hold(books, paying(SPEECH, SPEECH), "work")
    assert await books.accounts() == Accountancy(wallet=1_500, escrow=0, revenue=0, granted=-1_500)


async def test_usage_billing_goes_below_zero_to_the_limit_and_no_further(books: Books) -> None:
    await books.grant(1_000)
    await books.allow_debt(5_000)
    await books.put(4_000)
    assert (await books.accounts()).wallet == -3_000
    funds = await books.funds()
    assert (funds.available, funds.usage_billing) == (2_000, True)
    with pytest.raises(CutroomError) as refused:
        await books.put(2_001)
    assert refused.value.details == {"required": 2.001, "available": 2.0, "shortfall": 0.001}
    await books.put(2_000, holder="last")
    assert await books.accounts() == Accountancy(wallet=-5_000, escrow=6_000, revenue=0, granted=-1_000)
    with pytest.raises(CutroomError):
        await books.put(1)
    await books.capture("last")
    assert await books.accounts() == Accountancy(wallet=-5_000, escrow=4_000, revenue=2_000, granted=-1_000)


async def test_many_at_once_take_no_more_than_there_is(books: Books) -> None:
    await books.grant(50_000)
    outcomes = await asyncio.gather(*(books.put(7_000) for _ in range(15)), return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, CutroomError)]
    assert [error.code for error in refused] == [Code.INSUFFICIENT_CREDITS] * 8
    assert await books.accounts() == Accountancy(wallet=1_000, escrow=49_000, revenue=0, granted=-50_000)


async def test_a_frozen_library_holds_nothing_more_but_ends_what_it_holds(books: Books) -> None:
    await books.grant(10_000)
    for holder in ("done", "failed"):
        await books.put(1_000, holder=holder)
    await books.put(500, reservation_id="r", expires_at=system_clock())
    await books.freeze()
    assert (await books.funds()).is_frozen
    with pytest.raises(CutroomError) as refused:
        await books.put(1)
    error = refused.value
    assert (error.code, error.status, error.details) == (Code.FAILED_PRECONDITION, 409, {})
    assert "paused" in error.message
    await books.capture("done")
    await books.release("failed")
    assert await books.expire(system_clock()) == 1
    assert await books.accounts() == Accountancy(wallet=9_000, escrow=0, revenue=1_000, granted=-10_000)


async def test_a_grant_reaches_a_frozen_library(books: Books) -> None:
    await books.grant(1_000)
    await books.freeze()
    await books.grant(1_000)
    assert (await books.funds()).wallet == 2_000


# Capture or release, once.

ORDERS = [("capture", "capture"), ("capture", "release"), ("release", "capture"), ("release", "release")]


@pytest.mark.parametrize(("first", "second"), ORDERS)
async def test_what_is_settled_stays_as_it_is(books: Books, first: str, second: str) -> None:
    await books.grant(1_000)
    lines = await books.put(300, 200, holder="work")
    for movement in (first, second, second):
        await (books.capture if movement == "capture" else books.release)("work")
    await check_settled(books, lines, first)


@pytest.mark.parametrize(("first", "second"), ORDERS)
async def test_of_two_that_settle_at_once_the_first_decides(books: Books, first: str, second: str) -> None:
    await books.grant(1_000)
    lines = await books.put(300, 200, holder="work")
    assert await at_once(books, settling(books, first), settling(books, second)) == [None, None]
    await check_settled(books, lines, first)


async def check_settled(books: Books, lines: list[str], movement: str) -> None:
    """One movement for each line, and all of the money where it belongs."""
    assert await books.states(*lines) == [f"{movement}d"] * 2
    assert await books.kinds() == sorted(["grant", "hold", movement, movement])
    captured = 500 if movement == "capture" else 0
    assert await books.accounts() == Accountancy(1_000 - captured, escrow=0, revenue=captured, granted=-1_000)


async def test_a_crowd_that_settles_one_line_settles_it_once(books: Books) -> None:
    await books.grant(10_000)
    (line_id,) = await books.put(300, holder="work")
    await books.put(9_000)
    crowd = [books.capture("work") if number % 2 else books.release("work") for number in range(16)]
    await asyncio.gather(*crowd)
    settled = [kind for kind in await books.kinds() if kind in {"capture", "release"}]
    assert [f"{kind}d" for kind in settled] == await books.states(line_id)


async def test_one_holder_settles_nothing_of_anothers(books: Books) -> None:
    await books.grant(1_000)
    mine, theirs = [await books.put(100, holder=holder) for holder in ("mine", "mine.2")]
    await books.capture("mine")
    await books.release("nobody")
    assert await books.states(*mine, *theirs) == ["captured", "open"]


async def test_a_settlement_that_is_not_committed_did_not_happen(books: Books) -> None:
    await books.grant(1_000)
    lines = await books.put(300, 200, holder="work")

    async def crash() -> None:
        async with books.transaction() as connection:
            await settling(books, "capture")(connection)
            raise RuntimeError("crash")

    with pytest.raises(RuntimeError):
        await crash()
    assert await books.states(*lines) == ["open", "open"]
    await books.release("work")
    await check_settled(books, lines, "release")


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


# Before work begins.


async def test_what_was_not_held_yet_is_held_before_work_begins_and_only_once(
    books: Books, add_video: AddVideo
) -> None:
    await books.grant(10_000)
    video_id = await add_video(60.0)
    for _ in range(3):  # the activity may be tried again
        await ensure(books, paying(DE), "work", video_id)
    assert await books.accounts() == Accountancy(wallet=8_000, escrow=2_000, revenue=0, granted=-10_000)


async def test_work_on_a_video_without_a_duration_does_not_begin(books: Books, add_video: AddVideo) -> None:
    await books.grant(10_000)
    with pytest.raises(CutroomError) as refused:
        await ensure(books, paying(DE), "work", await add_video(None))
    assert refused.value.code is Code.DURATION_UNKNOWN


async def test_a_video_that_is_longer_than_what_was_held_does_not_begin(books: Books, add_video: AddVideo) -> None:
    await books.grant(10_000)
    video_id = await add_video(60.0)
    await hold(books, paying(DE, CLIP), "work", video_id)
    for seconds, begins in ((54.0, True), (60.0, True), (60.001, False), (120.0, False)):
        await books.owner.execute("UPDATE videos SET duration_seconds = $2 WHERE id = $1", video_id, seconds)
        if begins:
            await ensure(books, paying(DE, CLIP), "work", video_id)
        else:
            with pytest.raises(CutroomError) as refused:
                await ensure(books, paying(DE, CLIP), "work", video_id)
            assert refused.value.code is Code.CONFLICT
            assert refused.value.details == {"reason": "priced for a shorter duration"}


# Receipts and statements.


async def test_a_receipt_shows_every_line_with_entries_that_exist(books: Books, add_video: AddVideo) -> None:
    await books.grant(20_000)
    video_id = await add_video(60.0)
    reservation_id, (de, fr) = await reserve(books, video_id, DE, FR)
    await hold(books, paying(DE, lines=(de,)), "work", video_id)
    async with books.transaction() as connection:
        open_ = await receipt(connection, books.library_id, holder="work")
    await books.capture("work")
    async with books.transaction() as connection:
        paid = await receipt(connection, books.library_id, holder="work")
        nothing = await receipt(connection, books.library_id, holder="nobody")
    totals = [{name: value for name, value in each.items() if name != "lines"} for each in (open_, paid, nothing)]
    assert totals == [
        {"quoted": 2.0, "held": 2.0, "captured": 0.0, "returned": 0.0},
        {"quoted": 2.0, "held": 2.0, "captured": 2.0, "returned": 0.0},
        {"quoted": 0.0, "held": 0.0, "captured": 0.0, "returned": 0.0},
    ]
    (line,) = paid["lines"]
    assert line == {
        "lineItemId": de,
        "reservationId": reservation_id,
        "actionKey": "dub",
        "product": "plus",
        "targetLanguageCode": "de",
        "credits": 2.0,
        "pricingVersion": PRICES.version,
        "state": "captured",
        "entries": line["entries"],
    }
    assert open_["lines"] == [{**line, "state": "open", "entries": line["entries"][:2]}]
    known = {f"{transaction}/{account}" for transaction, account, _ in await books.entries()}
    assert len(set(line["entries"])) == 4
    assert set(line["entries"]) <= known
    assert [entry.partition("/")[2] for entry in line["entries"]] == ["wallet", "escrow", "escrow", "revenue"]
    assert await books.states(fr) == ["open"]


async def test_a_statement_tells_every_movement_newest_first_and_adds_up(books: Books) -> None:
    await books.grant(10_000, "welcome")
    for holder, movement in (("done", books.capture), ("failed", books.release)):
        await asyncio.sleep(0.002)  # ids of one millisecond have no order
        (line_id,) = await books.put(1_500, holder=holder)
        await asyncio.sleep(0.002)
        await movement(holder)
    async with books.transaction() as connection:
        told = await statement(connection, books.library_id)
        last = await statement(connection, books.library_id, limit=1)
    assert [(each["kind"], each["wallet"], each["escrow"]) for each in told] == [
        ("release", 1.5, -1.5),
        ("hold", -1.5, 1.5),
        ("capture", 0.0, -1.5),
        ("hold", -1.5, 1.5),
        ("grant", 10.0, 0.0),
    ]
    assert [each["reference"] for each in (told[0], told[1], told[-1])] == [line_id, "failed", "welcome"]
    assert last == told[:1]
    assert sum(each["wallet"] for each in told) * 1000 == (await books.accounts()).wallet
    assert set(told[0]) == {"transactionId", "at", "kind", "reference", "wallet", "escrow"}
    assert MAX_STATEMENT == 1_000
