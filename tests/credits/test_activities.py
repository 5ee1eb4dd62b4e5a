"""Reservation expiry and the ledger check."""

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
from tests.credits.conftest import (
    DAY,
    FixedClock,
    LedgerAccounts,
    LibraryLedger,
    check_times,
    claim_line,
    reserve_until,
)

HOUR = timedelta(hours=1)
SHIFTED = "UPDATE ledger_balances SET wallet = wallet + $2, escrow = escrow - $2 WHERE library_id = $1"


@dataclass
class Check:
    """Runs the check activity and records its heartbeats and metrics."""

    credit_activities: CreditActivities
    gauge: int | None = None
    heartbeats: int = 0

    async def __call__(self) -> int:
        environment = ActivityEnvironment()
        meter = environment.metric_meter = create_autospec(MetricMeter, instance=True)
        meter.with_additional_attributes.return_value = meter

        def count(*_: object) -> None:
            self.heartbeats += 1

        environment.on_heartbeat = count
        faulty: int = await environment.run(self.credit_activities.check_ledgers)
        meter.create_gauge.assert_called_once()
        assert meter.create_gauge.call_args.args[0] == "cutroom_ledger_faulty_libraries"
        (self.gauge,) = meter.create_gauge.return_value.set.call_args.args
        return faulty


@pytest.fixture
async def check(credit_activities: CreditActivities, library_ledger: LibraryLedger) -> Check:
    await library_ledger.owner.execute("UPDATE ledger_balances SET checked_at = NULL")  # other tests shift their clocks
    return Check(credit_activities)


@asynccontextmanager
async def corrupted(library_ledger: LibraryLedger, millicredits: int) -> AsyncIterator[None]:
    """Make the escrow balance too low by this amount inside the block."""
    await library_ledger.owner.execute(SHIFTED, library_ledger.library_id, millicredits)
    try:
        yield
    finally:
        await library_ledger.owner.execute(SHIFTED, library_ledger.library_id, -millicredits)


async def test_missing_balance_is_restored_frozen(
    library_ledger: LibraryLedger, check: Check, fixed_clock: FixedClock
) -> None:
    await library_ledger.grant(10_000)
    await reserve_until(library_ledger, 1_000, expires_at=fixed_clock.now - HOUR)  # cannot be released
    gone = await library_ledger.owner.fetchrow(
        "DELETE FROM ledger_balances WHERE library_id = $1 RETURNING *", library_ledger.library_id
    )
    assert gone is not None
    assert await check() == 1
    assert (await library_ledger.balances()).is_frozen
    await library_ledger.owner.execute("DELETE FROM ledger_balances WHERE library_id = $1", library_ledger.library_id)
    await insert(library_ledger.owner, "ledger_balances", dict(gone))
    assert await check() == 0


# Expiry.


@pytest.mark.parametrize("late", [timedelta(0), 5 * DAY, -HOUR], ids=["in time", "late", "slow clock"])
async def test_unused_lines_are_released_once(
    library_ledger: LibraryLedger, credit_activities: CreditActivities, fixed_clock: FixedClock, late: timedelta
) -> None:
    await library_ledger.grant(10_000)
    timer, (used, unused, other) = await reserve_until(
        library_ledger, 1_000, 2_000, 3_000, expires_at=fixed_clock.now + DAY
    )
    await claim_line(library_ledger, used, "job")
    fixed_clock.now = timer.expires_at + late
    environment = ActivityEnvironment()
    assert await environment.run(credit_activities.expire_reservation, timer) == 2
    assert await environment.run(credit_activities.expire_reservation, timer) == 0  # retried
    assert await library_ledger.states(used, unused, other) == ["open", "released", "released"]
    assert await library_ledger.accounts() == LedgerAccounts(wallet=9_000, escrow=1_000, revenue=0, granted=-10_000)
    await library_ledger.capture("job")
    assert await library_ledger.accounts() == LedgerAccounts(wallet=9_000, escrow=0, revenue=1_000, granted=-10_000)


async def test_expiry_affects_one_reservation(
    library_ledger: LibraryLedger, credit_activities: CreditActivities, fixed_clock: FixedClock, accounts: Accounts
) -> None:
    neighbour = LibraryLedger(library_ledger.runtime, library_ledger.owner, (await accounts.person()).library_id)
    for each in (library_ledger, neighbour):
        await each.grant(10_000)
    timer, _ = await reserve_until(library_ledger, 1_000, expires_at=fixed_clock.now)
    _, (second,) = await reserve_until(library_ledger, 1_000, expires_at=fixed_clock.now)
    _, (theirs,) = await reserve_until(neighbour, 1_000, expires_at=fixed_clock.now)
    assert await ActivityEnvironment().run(credit_activities.expire_reservation, timer) == 1
    assert await library_ledger.states(second) == ["open"]
    assert await neighbour.states(theirs) == ["open"]


# Ledger check.


async def test_consistent_ledger_is_not_frozen(
    library_ledger: LibraryLedger, check: Check, fixed_clock: FixedClock
) -> None:
    await library_ledger.grant(10_000)
    await library_ledger.hold_lines(1_000)
    faulty = await check()
    assert check.gauge == faulty
    assert await check_times(library_ledger) == (fixed_clock.now, None)


async def test_inconsistent_ledger_is_frozen_counted_and_logged(
    library_ledger: LibraryLedger, check: Check, fixed_clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    await library_ledger.grant(10_000)
    await library_ledger.hold_lines(1_000)
    before = await check()
    fixed_clock.now += HOUR
    async with corrupted(library_ledger, 400):
        with caplog.at_level(logging.ERROR, logger=activities.__name__):
            assert await check() == before + 1
        assert check.gauge == before + 1
        assert await check_times(library_ledger) == (fixed_clock.now, fixed_clock.now)
        logged = {
            (record.__dict__["fault"], record.__dict__["expected"], record.__dict__["found"])
            for record in caplog.records
            if record.__dict__.get("library_id") == library_ledger.library_id
        }
        assert logged == {
            ("balance is not the sum of its entries", 9_000, 9_400),
            ("balance is not the sum of its entries", 1_000, 600),
            ("escrow is not the sum of open lines", 1_000, 600),
        }
        with pytest.raises(CutroomError) as refused:
            await library_ledger.hold_lines(1)
        assert refused.value.code is Code.FAILED_PRECONDITION
    frozen_at = fixed_clock.now
    fixed_clock.now += HOUR
    assert await check() == before  # repaired and no longer counted, but frozen until reviewed
    assert await check_times(library_ledger) == (fixed_clock.now, frozen_at)


async def test_check_expires_overdue_reservations(
    library_ledger: LibraryLedger, check: Check, fixed_clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    await library_ledger.grant(10_000)
    _, (due, later) = await reserve_until(library_ledger, 1_000, 2_000, expires_at=fixed_clock.now + DAY)
    await claim_line(library_ledger, later, "job")
    await check()
    assert await library_ledger.states(due) == ["open"]
    fixed_clock.now += 2 * DAY
    with caplog.at_level(logging.WARNING, logger=activities.__name__):
        await check()
    assert await library_ledger.states(due, later) == ["released", "open"]
    assert [
        record.__dict__["lines"]
        for record in caplog.records
        if record.__dict__.get("library_id") == library_ledger.library_id and "overdue" in record.message
    ] == [1]


async def test_failed_expiry_freezes_library_and_check_continues(
    library_ledger: LibraryLedger, check: Check, fixed_clock: FixedClock, accounts: Accounts
) -> None:
    """The escrow balance is lower than the overdue lines, so a constraint rejects their release."""
    neighbour = LibraryLedger(library_ledger.runtime, library_ledger.owner, (await accounts.person()).library_id)
    for each in (library_ledger, neighbour):
        await each.grant(10_000)
    _, lines = await reserve_until(library_ledger, 1_000, expires_at=fixed_clock.now)
    before = await check_with(check, fixed_clock, library_ledger, lines)
    fixed_clock.now += HOUR
    _, lines = await reserve_until(library_ledger, 1_000, expires_at=fixed_clock.now)
    async with corrupted(library_ledger, 1_000):
        assert await check() == before + 1
        assert await check_times(library_ledger) == (fixed_clock.now, fixed_clock.now)
        assert await library_ledger.states(*lines) == ["open"]
    assert await check_times(neighbour) == (fixed_clock.now, None)


async def check_with(check: Check, fixed_clock: FixedClock, library_ledger: LibraryLedger, lines: list[str]) -> int:
    """Run a check that releases these lines; return how many libraries were inconsistent."""
    faulty = await check()
    assert await library_ledger.states(*lines) == ["released"] * len(lines)
    assert await check_times(library_ledger) == (fixed_clock.now, None)
    return faulty


async def test_every_library_is_checked_for_any_batch_size(
    library_ledger: LibraryLedger,
    check: Check,
    fixed_clock: FixedClock,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await library_ledger.grant(1)
    for _ in range(4):
        await LibraryLedger(library_ledger.runtime, library_ledger.owner, (await accounts.person()).library_id).grant(1)
    monkeypatch.setattr(activities, "CHECK_BATCH", 2)
    await check()
    unchecked = "SELECT count(*) FROM ledger_balances WHERE checked_at IS DISTINCT FROM $1"
    every = "SELECT count(*) FROM ledger_balances"
    assert await library_ledger.owner.fetchval(unchecked, fixed_clock.now) == 0
    assert check.heartbeats == await library_ledger.owner.fetchval(every)
