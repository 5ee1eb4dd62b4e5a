"""The workflows of credits in skipped time: a day passes, and what nobody used returns."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from cutroom.credits import escrow
from cutroom.credits.activities import CreditActivities, ReservationTimer
from cutroom.credits.pricing import Action, Work, load_prices
from cutroom.credits.rules import Bill
from cutroom.credits.service import EXPIRY_WORKFLOW
from cutroom.credits.workflow import CheckLedgersWorkflow, ExpireReservationWorkflow
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.temporal import Queue
from tests.credits.conftest import DAY, Accountancy, Books, SetClock, reserve_until, state_of, use

TEST_SERVER = Path(sys.executable).with_name("temporal-test-server")
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
async def skipping() -> AsyncIterator[WorkflowEnvironment]:
    """A Temporal whose time runs ahead whenever everybody waits."""
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as started:
        yield started


@asynccontextmanager
async def working(skipping: WorkflowEnvironment, credit: CreditActivities) -> AsyncIterator[None]:
    async with Worker(
        skipping.client,
        task_queue=Queue.CONTROL,
        workflows=[ExpireReservationWorkflow, CheckLedgersWorkflow],
        activities=[credit.expire_reservation, credit.check_ledgers],
    ):
        yield


async def start(skipping: WorkflowEnvironment, timer: ReservationTimer) -> WorkflowHandle[object, int]:
    """As the relay does it: by name, with an argument that is plain JSON."""
    argument = {
        "library_id": timer.library_id,
        "reservation_id": timer.reservation_id,
        "expires_at": timer.expires_at.isoformat(),
    }
    return await skipping.client.start_workflow(
        EXPIRY_WORKFLOW, argument, id=f"reservation_{timer.reservation_id}", task_queue=Queue.CONTROL, result_type=int
    )


async def test_a_day_passes_and_what_was_not_used_returns(
    skipping: WorkflowEnvironment, books: Books, credit: CreditActivities
) -> None:
    await books.grant(10_000)
    expires_at = await skipping.get_current_time() + DAY
    timer, (used, unused, spent) = await reserve_until(books, 1_000, 2_000, 3_000, expires_at=expires_at)
    await use(books, spent, "done")
    await books.capture("done")
    async with working(skipping, credit):
        handle = await start(skipping, timer)
        await skipping.sleep(DAY - HOUR)
        assert await books.states(used, unused, spent) == ["open", "open", "captured"]
        await use(books, used, "work")  # in the last hour
        assert await asyncio.wait_for(handle.result(), timeout=60) == 1
    assert await skipping.get_current_time() >= expires_at
    assert await books.states(used, unused, spent) == ["open", "released", "captured"]
    assert await books.accounts() == Accountancy(wallet=6_000, escrow=1_000, revenue=3_000, granted=-10_000)
    await books.release("work")
    assert (await books.accounts()).wallet == 7_000


async def test_a_timer_that_starts_too_late_acts_at_once(
    skipping: WorkflowEnvironment, books: Books, credit: CreditActivities
) -> None:
    await books.grant(10_000)
    timer, (line_id,) = await reserve_until(books, 1_000, expires_at=system_clock() - DAY)
    async with working(skipping, credit):
        handle = await start(skipping, timer)
        assert await asyncio.wait_for(handle.result(), timeout=60) == 1
    assert await books.states(line_id) == ["released"]


async def test_a_reservation_that_was_used_up_ends_without_a_movement(
    skipping: WorkflowEnvironment, books: Books, credit: CreditActivities
) -> None:
    await books.grant(10_000)
    timer, (line_id,) = await reserve_until(books, 1_000, expires_at=await skipping.get_current_time() + DAY)
    work = Work(Action.SPEECH, "speech")
    bill = Bill((work,), is_subscriber=False, line_ids=(line_id,))
    await books.add_work("work", work)
    await books.owner.execute("UPDATE escrow_lines SET video_id = 'v' WHERE id = $1", line_id)
    async with books.transaction() as connection:
        await escrow.hold(
            connection,
            books.library_id,
            bill,
            holder="work",
            video_id="v",
            prices=load_prices(),
            now=system_clock(),
        )
    async with working(skipping, credit):
        handle = await start(skipping, timer)
        assert await asyncio.wait_for(handle.result(), timeout=60) == 0
    assert await books.kinds() == ["grant", "hold"]


async def test_the_check_runs_as_a_workflow(
    skipping: WorkflowEnvironment, books: Books, credit: CreditActivities, hand: SetClock
) -> None:
    await books.grant(10_000)
    async with working(skipping, credit):
        await asyncio.wait_for(
            skipping.client.execute_workflow(CheckLedgersWorkflow.run, id=new_id(), task_queue=Queue.CONTROL),
            timeout=60,
        )
    assert await state_of(books) == (hand.now, None)
