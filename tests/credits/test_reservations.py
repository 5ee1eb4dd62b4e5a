"""Reservations on PostgreSQL: claiming and expiry."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cutroom.credits import escrow
from cutroom.credits.pricing import MAX_SHORTS, Action, BillableItem, Term
from cutroom.credits.receipts import receipt
from cutroom.credits.reserved_lines import MAX_LINES
from cutroom.credits.rules import Charge
from cutroom.credits.schemas import MAX_DUBS
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
    Act,
    AddVideo,
    LedgerAccounts,
    LibraryLedger,
    charge_for,
    hold,
    reserve,
    run_overlapping,
)

DE, FR = BillableItem(Action.DUB, "plus", "de"), BillableItem(Action.DUB, "plus", "fr")
CLIP = BillableItem(Action.SHORTS_CLIP, "shorts")
MARKED = BillableItem(Action.SHORTS_CLIP, "shorts", terms={Term.WATERMARK: 1})


# Expiry.


async def test_only_expired_unused_lines_are_released(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(20_000)
    video_id, now = await add_video(60.0), system_clock()
    due, (used, unused) = await reserve(library_ledger, video_id, DE, FR, lifetime=timedelta(hours=1))
    _, (later,) = await reserve(library_ledger, video_id, DE, lifetime=timedelta(hours=3))
    (held,) = await library_ledger.hold_lines(500, holder="without a reservation")
    await hold(library_ledger, charge_for(DE, lines=(used,)), "job", video_id)
    every = (used, unused, later, held)
    assert await library_ledger.expire(now + timedelta(minutes=59)) == 0
    assert await library_ledger.states(*every) == ["open"] * 4
    assert await library_ledger.expire(now + timedelta(hours=2)) == 1
    assert await library_ledger.states(*every) == ["open", "released", "open", "open"]
    assert await library_ledger.expire(now + timedelta(hours=2)) == 0
    assert await library_ledger.expire(now + timedelta(hours=2), due) == 0
    assert await library_ledger.accounts() == LedgerAccounts(wallet=15_500, escrow=4_500, revenue=0, granted=-20_000)
    await library_ledger.capture("job")  # claimed lines can still be captured
    assert await library_ledger.states(used) == ["captured"]


async def test_single_reservation_expires(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(20_000)
    video_id = await add_video(60.0)
    first, (mine,) = await reserve(library_ledger, video_id, DE)
    _, (other,) = await reserve(library_ledger, video_id, DE)
    assert await library_ledger.expire(system_clock() + 2 * DAY, first) == 1
    assert await library_ledger.states(mine, other) == ["released", "open"]
    await library_ledger.expire(system_clock() + 2 * DAY)
    assert await library_ledger.accounts() == LedgerAccounts(wallet=20_000, escrow=0, revenue=0, granted=-20_000)


async def test_concurrent_expiry_and_claim_have_one_winner(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(20_000)
    video_id, now = await add_video(60.0), system_clock()
    for expiry_first in (True, False):
        reservation_id, (line_id,) = await reserve(library_ledger, video_id, DE)
        holder = new_id()
        charge = charge_for(DE, reservation=reservation_id)
        await library_ledger.add_job(holder, DE)

        async def use(connection: Connection, holder: str = holder, charge: Charge = charge) -> None:
            await escrow.hold(
                connection, library_ledger.library_id, charge, holder=holder, video_id=video_id, prices=PRICES, now=now
            )

        async def expire(connection: Connection, reservation_id: str = reservation_id) -> int:
            return await escrow.expire(
                connection, library_ledger.library_id, reservation_id=reservation_id, now=now + 2 * DAY
            )

        if expiry_first:
            expired, refused = await run_overlapping(library_ledger, expire, use)
            assert (expired, refused.code, refused.details["reason"]) == (1, Code.CONFLICT, "the line is spent")
            assert await library_ledger.states(line_id) == ["released"]
        else:
            assert await run_overlapping(library_ledger, use, expire) == [None, 0]
            assert await library_ledger.states(line_id) == ["open"]


# Claims.


async def test_lines_are_claimed_by_id_or_reservation(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(20_000)
    video_id = await add_video(60.0)
    reservation_id, (de, fr) = await reserve(library_ledger, video_id, DE, FR)
    before = await library_ledger.accounts()
    assert await hold(library_ledger, charge_for(FR, reservation=reservation_id, lines=(fr,)), "french", video_id)
    assert await hold(library_ledger, charge_for(DE, reservation=reservation_id), "german", video_id)
    assert await library_ledger.accounts() == before  # already held
    await library_ledger.capture("french")
    await library_ledger.release("german")
    assert await library_ledger.states(de, fr) == ["released", "captured"]
    assert await library_ledger.accounts() == LedgerAccounts(wallet=18_000, escrow=0, revenue=2_000, granted=-20_000)


async def test_equal_lines_each_pay_for_one_clip(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    await library_ledger.grant(20_000)
    video_id = await add_video(60.0)
    reservation_id, lines = await reserve(library_ledger, video_id, CLIP, CLIP, CLIP)
    await hold(library_ledger, charge_for(CLIP, CLIP, reservation=reservation_id), "two", video_id)
    await hold(library_ledger, charge_for(CLIP, reservation=reservation_id), "one", video_id)
    rows = await library_ledger.owner.fetch("SELECT holder FROM escrow_lines WHERE id = ANY($1) ORDER BY holder", lines)
    assert [row["holder"] for row in rows] == ["one", "two", "two"]
    with pytest.raises(CutroomError) as refused:
        await hold(library_ledger, charge_for(CLIP, reservation=reservation_id), "more", video_id)
    assert refused.value.details["reason"] == "the line is spent"


async def test_mismatched_lines_conflict_and_stay_unused(
    library_ledger: LibraryLedger, accounts: Accounts, add_video: AddVideo
) -> None:
    await library_ledger.grant(40_000)
    video_id, other_video = await add_video(60.0), await add_video(60.0)
    reservation_id, (de, fr, clip) = await reserve(library_ledger, video_id, DE, FR, CLIP)
    other_id, (other,) = await reserve(library_ledger, video_id, DE)
    _, (over,) = await reserve(library_ledger, video_id, DE, lifetime=timedelta(0))
    _, (short,) = await reserve(library_ledger, video_id, DE, seconds=53)
    other_library = LibraryLedger(library_ledger.runtime, library_ledger.owner, (await accounts.person()).library_id)
    await other_library.grant(10_000)
    their_video = await add_video(60.0, other_library.library_id)
    their_reservation, (theirs,) = await reserve(other_library, their_video, DE)
    wrong: list[tuple[Charge, str, str]] = [
        (charge_for(DE, reservation=reservation_id), other_video, "the line was reserved for another video"),
        (charge_for(DE, lines=(fr,)), video_id, "the line was reserved for another language"),
        (
            charge_for(BillableItem(Action.DUB, "premium", "de"), lines=(de,)),
            video_id,
            "the line was reserved for another product",
        ),
        (charge_for(MARKED, lines=(clip,)), video_id, "the line was reserved for another product"),
        (charge_for(DE, reservation=reservation_id, lines=(other,)), video_id, "there is no such line"),
        (charge_for(DE, reservation=other_id, lines=(new_id(),)), video_id, "there is no such line"),
        (charge_for(DE, lines=(theirs,)), video_id, "there is no such line"),
        (charge_for(DE, reservation=their_reservation), video_id, "the reservation has no line for this"),
        (charge_for(DE, reservation=new_id()), video_id, "the reservation has no line for this"),
        (charge_for(SPEECH, reservation=reservation_id), video_id, "the reservation has no line for this"),
        (charge_for(DE, lines=(over,)), video_id, "the reservation has expired"),
        (charge_for(DE, lines=(short,)), video_id, "the line was priced for a shorter duration"),
        (charge_for(DE, FR, lines=(de, clip)), video_id, "the line was reserved for another language"),
    ]
    before = await library_ledger.accounts()
    for charge, video, reason in wrong:
        with pytest.raises(CutroomError) as refused:
            await hold(library_ledger, charge, "job", video)
        assert (refused.value.code, refused.value.details["reason"]) == (Code.CONFLICT, reason)
    assert await library_ledger.accounts() == before
    held = "SELECT count(*) FROM escrow_lines WHERE library_id = ANY($1) AND holder IS NOT NULL"
    assert await library_ledger.owner.fetchval(held, [library_ledger.library_id, other_library.library_id]) == 0


async def test_concurrent_claims_of_one_line_have_one_winner(
    library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(20_000)
    video_id = await add_video(60.0)
    reservation_id, (line_id,) = await reserve(library_ledger, video_id, DE)

    def claiming(holder: str, **by: Any) -> Act:  # noqa: ANN401 (a reservation or lines)
        async def act(connection: Connection) -> None:
            charge, now = charge_for(DE, **by), system_clock()
            await escrow.hold(
                connection, library_ledger.library_id, charge, holder=holder, video_id=video_id, prices=PRICES, now=now
            )

        return act

    await library_ledger.add_job("first", DE)
    claimed, refused = await run_overlapping(
        library_ledger, claiming("first", lines=(line_id,)), claiming("second", reservation=reservation_id)
    )
    assert (claimed, refused.code, refused.details["reason"]) == (None, Code.CONFLICT, "the line is spent")
    assert await library_ledger.owner.fetchval("SELECT holder FROM escrow_lines WHERE id = $1", line_id) == "first"


async def test_line_keeps_reserved_price(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    """Later price increases and a shorter video do not change the price."""
    await library_ledger.grant(20_000)
    video_id = await add_video(30.0)
    reservation_id, _ = await reserve(library_ledger, video_id, DE)
    await library_ledger.add_job("job", DE)
    dearer = replace(PRICES, version="dearer", per_minute=replace(PRICES.per_minute, dub_plus=9_000))
    async with library_ledger.transaction() as connection:
        await escrow.hold(
            connection,
            library_ledger.library_id,
            charge_for(DE, reservation=reservation_id),
            holder="job",
            video_id=video_id,
            prices=dearer,
            now=system_clock(),
        )
    await library_ledger.capture("job")
    async with library_ledger.transaction() as connection:
        paid = await receipt(connection, library_ledger.library_id, holder="job")
    assert (paid["captured"], paid["lines"][0]["pricingVersion"]) == (2.0, PRICES.version)


async def test_largest_bundle_can_be_claimed(library_ledger: LibraryLedger, add_video: AddVideo) -> None:
    largest = MAX_DUBS * MAX_LANGUAGES + MAX_LANGUAGES + 1 + MAX_SHORTS + 1 + MAX_LANGUAGES + 1
    await library_ledger.grant(3_000_000)
    video_id = await add_video(60.0)
    items = [BillableItem(Action.DUB, f"kind {number}", "de") for number in range(largest)]
    reservation_id, line_ids = await reserve(library_ledger, video_id, *items)
    work_of = dict(zip(line_ids, items, strict=True))
    for line_id in (min(line_ids), max(line_ids)):
        assert await hold(library_ledger, charge_for(work_of[line_id], reservation=reservation_id), line_id, video_id)
        assert await library_ledger.owner.fetchval("SELECT holder FROM escrow_lines WHERE id = $1", line_id) == line_id
    assert largest <= MAX_LINES
