"""What time does to credits: reservations that end, and the check of everybody's books."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from unittest.mock import create_autospec

import pytest
from temporalio.common import MetricMeter
from temporalio.testing import ActivityEnvironment

from cutroom.credits import activities
from cutroom.credits.activities import CreditActivities
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import insert
from dev.scratch import Accounts
from tests.credits.conftest import DAY, Accountancy, Books, SetClock, reserve_until, state_of, use

HOUR = timedelta(hours=1)
SHIFTED = "UPDATE ledger_balances SET wallet = wallet + $2, escrow = escrow - $2 WHERE library_id = $1"


@dataclass
class Check:
    """Runs the check as Temporal would, and keeps what it told of itself."""

    credit: CreditActivities
    gauge: int | None = None
    heartbeats: int = 0

    async def __call__(self) -> int:
        environment = ActivityEnvironment()
        meter = environment.metric_meter = create_autospec(MetricMeter, instance=True)
        meter.with_additional_attributes.return_value = meter

        def count(*_: object) -> None:
            self.heartbeats += 1

        environment.on_heartbeat = count
        faulty: int = await environment.run(self.credit.check_ledgers)
        meter.create_gauge.assert_called_once()
        assert meter.create_gauge.call_args.args[0] == "cutroom_ledger_faulty_libraries"
        (self.gauge,) = meter.create_gauge.return_value.set.call_args.args
        return faulty


@pytest.fixture
async def check(credit: CreditActivities, books: Books) -> Check:
    await books.owner.execute("UPDATE ledger_balances SET checked_at = NULL")  # other tests set their clocks ahead
    return Check(credit)


@asynccontextmanager
async def wrong(books: Books, millicredits: int) -> AsyncIterator[None]:
    """Escrow that is short of so much, seen by everybody until the end of the block."""
    await books.owner.execute(SHIFTED, books.library_id, millicredits)
    try:
        yield
    finally:
        await books.owner.execute(SHIFTED, books.library_id, -millicredits)


async def test_a_balance_that_is_gone_is_seen_and_comes_back_frozen(books: Books, check: Check, hand: SetClock) -> None:
    await books.grant(10_000)
    await reserve_until(books, 1_000, expires_at=hand.now - HOUR)  # what is overdue cannot go back
    gone = await books.owner.fetchrow("DELETE FROM ledger_balances WHERE library_id = $1 RETURNING *", books.library_id)
    assert gone is not None
    assert await check() == 1
    assert (await books.funds()).is_frozen
    await books.owner.execute("DELETE FROM ledger_balances WHERE library_id = $1", books.library_id)
    await insert(books.owner, "ledger_balances", dict(gone))
    assert await check() == 0


# Expiry.


@pytest.mark.parametrize("late", [timedelta(0), 5 * DAY, -HOUR], ids=["in time", "late", "by a clock that is slow"])
async def test_what_nobody_used_goes_back_once(
    books: Books, credit: CreditActivities, hand: SetClock, late: timedelta
) -> None:
    await books.grant(10_000)
    timer, (used, unused, other) = await reserve_until(books, 1_000, 2_000, 3_000, expires_at=hand.now + DAY)
    await use(books, used, "work")
    hand.now = timer.expires_at + late
    environment = ActivityEnvironment()
    assert await environment.run(credit.expire_reservation, timer) == 2
    assert await environment.run(credit.expire_reservation, timer) == 0  # tried again
    assert await books.states(used, unused, other) == ["open", "released", "released"]
    assert await books.accounts() == Accountancy(wallet=9_000, escrow=1_000, revenue=0, granted=-10_000)
    await books.capture("work")
    assert await books.accounts() == Accountancy(wallet=9_000, escrow=0, revenue=1_000, granted=-10_000)


async def test_the_end_of_one_reservation_is_not_that_of_others(
    books: Books, credit: CreditActivities, hand: SetClock, accounts: Accounts
) -> None:
    neighbour = Books(books.runtime, books.owner, (await accounts.person()).library_id)
    for each in (books, neighbour):
        await each.grant(10_000)
    timer, _ = await reserve_until(books, 1_000, expires_at=hand.now)
    _, (second,) = await reserve_until(books, 1_000, expires_at=hand.now)
    _, (theirs,) = await reserve_until(neighbour, 1_000, expires_at=hand.now)
    assert await ActivityEnvironment().run(credit.expire_reservation, timer) == 1
    assert await books.states(second) == ["open"]
    assert await neighbour.states(theirs) == ["open"]


# The check.


async def test_books_that_are_right_are_checked_and_stay_open(books: Books, check: Check, hand: SetClock) -> None:
    await books.grant(10_000)
    await books.put(1_000)
    faulty = await check()
    assert check.gauge == faulty
    assert await state_of(books) == (hand.now, None)


async def test_books_that_are_wrong_are_frozen_counted_and_told_of(
    books: Books, check: Check, hand: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    await books.grant(10_000)
    await books.put(1_000)
    before = await check()
    hand.now += HOUR
    async with wrong(books, 400):
        with caplog.at_level(logging.ERROR, logger=activities.__name__):
            assert await check() == before + 1
        assert check.gauge == before + 1
        assert await state_of(books) == (hand.now, hand.now)
        told = {
            (record.__dict__["fault"], record.__dict__["expected"], record.__dict__["found"])
            for record in caplog.records
            if record.__dict__.get("library_id") == books.library_id
        }
        assert told == {
            ("balance is not the sum of its entries", 9_000, 9_400),
            ("balance is not the sum of its entries", 1_000, 600),
            ("escrow is not the sum of open lines", 1_000, 600),
        }
        with pytest.raises(CutroomError) as refused:
            await books.put(1)
        assert refused.value.code is Code.FAILED_PRECONDITION
    frozen_at = hand.now
    hand.now += HOUR
    assert await check() == before  # mended, and no longer counted; but frozen until an operator looked
    assert await state_of(books) == (hand.now, frozen_at)


async def test_the_check_ends_reservations_whose_timer_was_lost(
    books: Books, check: Check, hand: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    await books.grant(10_000)
    _, (due, later) = await reserve_until(books, 1_000, 2_000, expires_at=hand.now + DAY)
    await use(books, later, "work")
    await check()
    assert await books.states(due) == ["open"]
    hand.now += 2 * DAY
    with caplog.at_level(logging.WARNING, logger=activities.__name__):
        await check()
    assert await books.states(due, later) == ["released", "open"]
    assert [
        record.__dict__["lines"]
        for record in caplog.records
        if record.__dict__.get("library_id") == books.library_id and "overdue" in record.message
    ] == [1]


async def test_books_so_wrong_that_nothing_can_go_back_are_frozen_and_the_others_still_checked(
    books: Books, check: Check, hand: SetClock, accounts: Accounts
) -> None:
    """Escrow holds less than what is overdue: giving it back would bring escrow below zero, which the row refuses."""
    neighbour = Books(books.runtime, books.owner, (await accounts.person()).library_id)
    for each in (books, neighbour):
        await each.grant(10_000)
    _, lines = await reserve_until(books, 1_000, expires_at=hand.now)
    before = await check_with(check, hand, books, lines)
    hand.now += HOUR
    _, lines = await reserve_until(books, 1_000, expires_at=hand.now)
    async with wrong(books, 1_000):
        assert await check() == before + 1
        assert await state_of(books) == (hand.now, hand.now)
        assert await books.states(*lines) == ["open"]
    assert await state_of(neighbour) == (hand.now, None)


async def check_with(check: Check, hand: SetClock, books: Books, lines: list[str]) -> int:
    """A check that gives these back; how many libraries were faulty."""
    faulty = await check()
    assert await books.states(*lines) == ["released"] * len(lines)
    assert await state_of(books) == (hand.now, None)
    return faulty


async def test_every_library_is_checked_whatever_the_batch(
    books: Books, check: Check, hand: SetClock, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    await books.grant(1)
    for _ in range(4):
        await Books(books.runtime, books.owner, (await accounts.person()).library_id).grant(1)
    monkeypatch.setattr(activities, "CHECK_BATCH", 2)
    await check()
    unchecked = "SELECT count(*) FROM ledger_balances WHERE checked_at IS DISTINCT FROM $1"
    every = "SELECT count(*) FROM ledger_balances"
    assert await books.owner.fetchval(unchecked, hand.now) == 0
    assert check.heartbeats == await books.owner.fetchval(every)
