"""Escrow on PostgreSQL: hold, capture and release, atomically and once under concurrency."""

import asyncio
from dataclasses import replace

import asyncpg
import pytest

from cutroom.credits import escrow
from cutroom.credits.pricing import Action, BillableItem, Term
from cutroom.credits.receipts import receipt
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert
from tests.credits.conftest import (
    PRICES,
    SPEECH,
    Act,
    AddVideo,
    LedgerAccounts,
    LibraryLedger,
    charge_for,
    ensure_held_for,
    hold,
    run_overlapping,
)

DE, FR = BillableItem(Action.DUB, "plus", "de"), BillableItem(Action.DUB, "plus", "fr")
CLIP = BillableItem(Action.SHORTS_CLIP, "shorts")
MARKED = BillableItem(Action.SHORTS_CLIP, "shorts", terms={Term.WATERMARK: 1})


def settling(library_ledger: LibraryLedger, kind: str, holder: str = "job") -> Act:
    async def act(connection: Connection) -> None:
        move = escrow.capture if kind == "capture" else escrow.release
        await move(connection, library_ledger.library_id, holder=holder, now=system_clock())

    return act


# Hold.


async def test_charge_is_held_for_video_duration(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(10_000)
    video_id = await add_video(90.0)
    assert await hold(library_ledger, charge_for(DE, FR, CLIP), "job", video_id)
    assert await library_ledger.accounts() == LedgerAccounts(wallet=1_000, escrow=9_000, revenue=0, granted=-10_000)
    rows = await library_ledger.owner.fetch(
        "SELECT * FROM escrow_lines WHERE library_id = $1 ORDER BY action, language", library_ledger.library_id
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
        assert (row["holder"], row["video_id"], row["state"]) == ("job", video_id, "open")
        assert (row["reservation_id"], row["expires_at"], row["ended_at"]) == (None, None, None)
        assert row["pricing_version"] == PRICES.version


async def test_charge_without_video_is_held(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_000)
    assert await hold(library_ledger, charge_for(SPEECH), "job")
    assert await library_ledger.accounts() == LedgerAccounts(wallet=0, escrow=1_000, revenue=0, granted=-1_000)


@pytest.mark.parametrize("items", [(DE,), (CLIP,)], ids=["per minute", "per unit"])
async def test_nothing_is_held_while_duration_is_unknown(
    library_ledger: LibraryLedger, add_video: AddVideo, items: tuple[BillableItem, ...]
) -> None:
    await library_ledger.grant(10_000)
    assert not await hold(library_ledger, charge_for(*items), "job", await add_video(None))
    assert (await library_ledger.accounts()).escrow == 0
    assert await library_ledger.kinds() == ["grant"]


async def test_subscriber_discount_applies_to_clips(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(10_000)
    await hold(library_ledger, replace(charge_for(CLIP, MARKED), is_subscriber=True), "subscriber")
    await hold(library_ledger, charge_for(CLIP, MARKED), "other")
    async with library_ledger.transaction() as connection:
        held = [
            (await receipt(connection, library_ledger.library_id, holder=holder))["held"]
            for holder in ("subscriber", "other")
        ]
    assert held == [3.0, 5.0]


async def test_second_hold_of_same_holder_is_rejected(library_ledger: LibraryLedger) -> None:
    """The ledger rejects a second hold of one holder and leaves no lines."""
    await library_ledger.grant(10_000)
    await hold(library_ledger, charge_for(SPEECH), "job")
    with pytest.raises(Exception, match="ledger_transactions_reference_key"):
        await hold(library_ledger, charge_for(SPEECH), "job")
    assert await library_ledger.accounts() == LedgerAccounts(wallet=9_000, escrow=1_000, revenue=0, granted=-10_000)


# Insufficient credits.


@pytest.mark.parametrize(
    ("granted", "held", "required", "details"),
    [
        (0, 0, 1, {"required": 0.001, "available": 0.0, "shortfall": 0.001}),
        (1_000, 0, 1_001, {"required": 1.001, "available": 1.0, "shortfall": 0.001}),
        (10_000, 9_999, 2_500, {"required": 2.5, "available": 0.001, "shortfall": 2.499}),
    ],
)
async def test_insufficient_credits_error_has_shortfall(
    library_ledger: LibraryLedger, granted: int, held: int, required: int, details: dict[str, float]
) -> None:
    if granted:
        await library_ledger.grant(granted)
    if held:
        await library_ledger.hold_lines(held)
    before = await library_ledger.accounts()
    with pytest.raises(CutroomError) as refused:
        await library_ledger.hold_lines(required)
    error = refused.value
    assert (error.code, error.status, error.message) == (Code.INSUFFICIENT_CREDITS, 429, "Not enough credits.")
    assert (error.details, error.headers) == (details, {})
    assert await library_ledger.accounts() == before
    lines = "SELECT count(*) FROM escrow_lines WHERE library_id = $1"
    assert await library_ledger.owner.fetchval(lines, library_ledger.library_id) == (1 if held else 0)


async def test_entire_wallet_can_be_spent(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_000)
    await library_ledger.hold_lines(999)
    await library_ledger.hold_lines(1)
    assert (await library_ledger.accounts()).wallet == 0


async def test_charge_is_held_atomically(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_500)
    with pytest.raises(CutroomError):
        await hold(library_ledger, charge_for(SPEECH, SPEECH), "job")
    assert await library_ledger.accounts() == LedgerAccounts(wallet=1_500, escrow=0, revenue=0, granted=-1_500)


async def test_usage_billing_stops_at_overdraft_limit(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_000)
    await library_ledger.set_overdraft(5_000)
    await library_ledger.hold_lines(4_000)
    assert (await library_ledger.accounts()).wallet == -3_000
    funds = await library_ledger.balances()
    assert (funds.available, funds.usage_billing) == (2_000, True)
    with pytest.raises(CutroomError) as refused:
        await library_ledger.hold_lines(2_001)
    assert refused.value.details == {"required": 2.001, "available": 2.0, "shortfall": 0.001}
    await library_ledger.hold_lines(2_000, holder="last")
    assert await library_ledger.accounts() == LedgerAccounts(wallet=-5_000, escrow=6_000, revenue=0, granted=-1_000)
    with pytest.raises(CutroomError):
        await library_ledger.hold_lines(1)
    await library_ledger.capture("last")
    assert await library_ledger.accounts() == LedgerAccounts(wallet=-5_000, escrow=4_000, revenue=2_000, granted=-1_000)


async def test_concurrent_holds_do_not_overspend(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(50_000)
    outcomes = await asyncio.gather(*(library_ledger.hold_lines(7_000) for _ in range(15)), return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, CutroomError)]
    assert [error.code for error in refused] == [Code.INSUFFICIENT_CREDITS] * 8
    assert await library_ledger.accounts() == LedgerAccounts(wallet=1_000, escrow=49_000, revenue=0, granted=-50_000)


async def test_frozen_library_settles_but_does_not_hold(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(10_000)
    for holder in ("done", "failed"):
        await library_ledger.hold_lines(1_000, holder=holder)
    await library_ledger.hold_lines(500, reservation_id="r", expires_at=system_clock())
    await library_ledger.freeze()
    assert (await library_ledger.balances()).is_frozen
    with pytest.raises(CutroomError) as refused:
        await library_ledger.hold_lines(1)
    error = refused.value
    assert (error.code, error.status, error.details) == (Code.FAILED_PRECONDITION, 409, {})
    assert "paused" in error.message
    await library_ledger.capture("done")
    await library_ledger.release("failed")
    assert await library_ledger.expire(system_clock()) == 1
    assert await library_ledger.accounts() == LedgerAccounts(wallet=9_000, escrow=0, revenue=1_000, granted=-10_000)


async def test_frozen_library_accepts_grants(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_000)
    await library_ledger.freeze()
    await library_ledger.grant(1_000)
    assert (await library_ledger.balances()).wallet == 2_000


# Capture or release, once.

ORDERS = [("capture", "capture"), ("capture", "release"), ("release", "capture"), ("release", "release")]


@pytest.mark.parametrize(("first", "second"), ORDERS)
async def test_settled_lines_do_not_change(library_ledger: LibraryLedger, first: str, second: str) -> None:
    await library_ledger.grant(1_000)
    lines = await library_ledger.hold_lines(300, 200, holder="job")
    for kind in (first, second, second):
        await (library_ledger.capture if kind == "capture" else library_ledger.release)("job")
    await check_settled(library_ledger, lines, first)


@pytest.mark.parametrize(("first", "second"), ORDERS)
async def test_first_of_two_concurrent_settlements_wins(library_ledger: LibraryLedger, first: str, second: str) -> None:
    await library_ledger.grant(1_000)
    lines = await library_ledger.hold_lines(300, 200, holder="job")
    assert await run_overlapping(library_ledger, settling(library_ledger, first), settling(library_ledger, second)) == [
        None,
        None,
    ]
    await check_settled(library_ledger, lines, first)


async def check_settled(library_ledger: LibraryLedger, lines: list[str], kind: str) -> None:
    """Check one settlement per line, and the resulting balances."""
    assert await library_ledger.states(*lines) == [f"{kind}d"] * 2
    assert await library_ledger.kinds() == sorted(["grant", "hold", kind, kind])
    captured = 500 if kind == "capture" else 0
    assert await library_ledger.accounts() == LedgerAccounts(
        1_000 - captured, escrow=0, revenue=captured, granted=-1_000
    )


async def test_many_concurrent_settlements_settle_once(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(10_000)
    (line_id,) = await library_ledger.hold_lines(300, holder="job")
    await library_ledger.hold_lines(9_000)
    crowd = [library_ledger.capture("job") if number % 2 else library_ledger.release("job") for number in range(16)]
    await asyncio.gather(*crowd)
    settled = [kind for kind in await library_ledger.kinds() if kind in {"capture", "release"}]
    assert [f"{kind}d" for kind in settled] == await library_ledger.states(line_id)


async def test_holder_settles_only_own_lines(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_000)
    mine, theirs = [await library_ledger.hold_lines(100, holder=holder) for holder in ("mine", "mine.2")]
    await library_ledger.capture("mine")
    await library_ledger.release("unknown")
    assert await library_ledger.states(*mine, *theirs) == ["captured", "open"]


async def test_settlement_without_balance_row_fails(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_000)
    lines = await library_ledger.hold_lines(300, holder="job")
    balance = await library_ledger.owner.fetchrow(
        "DELETE FROM ledger_balances WHERE library_id = $1 RETURNING *", library_ledger.library_id
    )
    assert balance is not None
    for settle in (library_ledger.capture, library_ledger.release):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="no balance"):
            await settle("job")
    await insert(library_ledger.owner, "ledger_balances", dict(balance))
    assert await library_ledger.states(*lines) == ["open"]
    await library_ledger.capture("job")


async def test_rolled_back_settlement_has_no_effect(library_ledger: LibraryLedger) -> None:
    await library_ledger.grant(1_000)
    lines = await library_ledger.hold_lines(300, 200, holder="job")

    async def crash() -> None:
        async with library_ledger.transaction() as connection:
            await settling(library_ledger, "capture")(connection)
            raise RuntimeError("crash")

    with pytest.raises(RuntimeError):
        await crash()
    assert await library_ledger.states(*lines) == ["open", "open"]
    await library_ledger.release("job")
    await check_settled(library_ledger, lines, "release")


# Before a job starts.


async def test_missing_hold_is_created_once_before_start(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(10_000)
    video_id = await add_video(60.0)
    for _ in range(3):  # activities may be retried
        await ensure_held_for(library_ledger, charge_for(DE), "job", video_id)
    assert await library_ledger.accounts() == LedgerAccounts(wallet=8_000, escrow=2_000, revenue=0, granted=-10_000)


async def test_start_requires_known_duration(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(10_000)
    with pytest.raises(CutroomError) as refused:
        await ensure_held_for(library_ledger, charge_for(DE), "job", await add_video(None))
    assert refused.value.code is Code.DURATION_UNKNOWN


async def test_start_requires_hold_for_actual_duration(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(10_000)
    video_id = await add_video(60.0)
    await hold(library_ledger, charge_for(DE, CLIP), "job", video_id)
    for seconds, starts in ((54.0, True), (60.0, True), (60.001, False), (120.0, False)):
        await library_ledger.owner.execute("UPDATE videos SET duration_seconds = $2 WHERE id = $1", video_id, seconds)
        if starts:
            await ensure_held_for(library_ledger, charge_for(DE, CLIP), "job", video_id)
        else:
            with pytest.raises(CutroomError) as refused:
                await ensure_held_for(library_ledger, charge_for(DE, CLIP), "job", video_id)
            assert refused.value.code is Code.CONFLICT
            assert refused.value.details == {"reason": "priced for a shorter duration"}
