"""Escrow on the real database: held, then captured or released, once and whole, whoever comes at the same time."""

import asyncio
from dataclasses import replace

import asyncpg
import pytest

from cutroom.credits import escrow
from cutroom.credits.pricing import Action, Term, Work
from cutroom.credits.receipts import receipt
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert
from tests.credits.conftest import PRICES, SPEECH, Accountancy, Act, AddVideo, Books, at_once, ensure, hold, paying

DE, FR = Work(Action.DUB, "plus", "de"), Work(Action.DUB, "plus", "fr")
CLIP = Work(Action.SHORTS_CLIP, "shorts")
MARKED = Work(Action.SHORTS_CLIP, "shorts", terms={Term.WATERMARK: 1})


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


async def test_nothing_is_settled_where_the_balance_is_gone(books: Books) -> None:
    await books.grant(1_000)
    lines = await books.put(300, holder="work")
    balance = await books.owner.fetchrow(
        "DELETE FROM ledger_balances WHERE library_id = $1 RETURNING *", books.library_id
    )
    assert balance is not None
    for settle in (books.capture, books.release):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="no balance"):
            await settle("work")
    await insert(books.owner, "ledger_balances", dict(balance))
    assert await books.states(*lines) == ["open"]
    await books.capture("work")


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
