"""Credit workflows on the time-environment test server."""

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
from cutroom.credits.pricing import Action, BillableItem, load_prices
from cutroom.credits.rules import Charge
from cutroom.credits.service import EXPIRY_WORKFLOW
from cutroom.credits.workflow import CheckLedgersWorkflow, ExpireReservationWorkflow
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.task_queues import TaskQueue
from tests.credits.conftest import (
    DAY,
    FixedClock,
    LedgerAccounts,
    LibraryLedger,
    check_times,
    claim_line,
    reserve_until,
)

TEST_SERVER = Path(sys.executable).with_name("temporal-test-server")
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
async def environment() -> AsyncIterator[WorkflowEnvironment]:
    """A time-skipping Temporal test server."""
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as started:
        yield started


@asynccontextmanager
async def running_worker(environment: WorkflowEnvironment, credit_activities: CreditActivities) -> AsyncIterator[None]:
    async with Worker(
        environment.client,
        task_queue=TaskQueue.CONTROL,
        workflows=[ExpireReservationWorkflow, CheckLedgersWorkflow],
        activities=[credit_activities.expire_reservation, credit_activities.check_ledgers],
    ):
        yield


async def start(environment: WorkflowEnvironment, timer: ReservationTimer) -> WorkflowHandle[object, int]:
    """Start by name with a JSON argument, as the relay does."""
    argument = {
        "library_id": timer.library_id,
        "reservation_id": timer.reservation_id,
        "expires_at": timer.expires_at.isoformat(),
    }
    return await environment.client.start_workflow(
        EXPIRY_WORKFLOW,
        argument,
        id=f"reservation_{timer.reservation_id}",
        task_queue=TaskQueue.CONTROL,
        result_type=int,
    )


async def test_unused_lines_are_released_after_expiry(
    environment: WorkflowEnvironment, library_ledger: LibraryLedger, credit_activities: CreditActivities
) -> None:
    await library_ledger.grant(10_000)
    expires_at = await environment.get_current_time() + DAY
    timer, (used, unused, spent) = await reserve_until(library_ledger, 1_000, 2_000, 3_000, expires_at=expires_at)
    await claim_line(library_ledger, spent, "done")
    await library_ledger.capture("done")
    async with running_worker(environment, credit_activities):
        handle = await start(environment, timer)
        await environment.sleep(DAY - HOUR)
        assert await library_ledger.states(used, unused, spent) == ["open", "open", "captured"]
        await claim_line(library_ledger, used, "job")  # in the last hour
        assert await asyncio.wait_for(handle.result(), timeout=60) == 1
    assert await environment.get_current_time() >= expires_at
    assert await library_ledger.states(used, unused, spent) == ["open", "released", "captured"]
    assert await library_ledger.accounts() == LedgerAccounts(wallet=6_000, escrow=1_000, revenue=3_000, granted=-10_000)
    await library_ledger.release("job")
    assert (await library_ledger.accounts()).wallet == 7_000


async def test_late_workflow_expires_immediately(
    environment: WorkflowEnvironment, library_ledger: LibraryLedger, credit_activities: CreditActivities
) -> None:
    await library_ledger.grant(10_000)
    timer, (line_id,) = await reserve_until(library_ledger, 1_000, expires_at=system_clock() - DAY)
    async with running_worker(environment, credit_activities):
        handle = await start(environment, timer)
        assert await asyncio.wait_for(handle.result(), timeout=60) == 1
    assert await library_ledger.states(line_id) == ["released"]


async def test_fully_claimed_reservation_releases_nothing(
    environment: WorkflowEnvironment, library_ledger: LibraryLedger, credit_activities: CreditActivities
) -> None:
    await library_ledger.grant(10_000)
    timer, (line_id,) = await reserve_until(
        library_ledger, 1_000, expires_at=await environment.get_current_time() + DAY
    )
    item = BillableItem(Action.SPEECH, "speech")
    charge = Charge((item,), is_subscriber=False, line_ids=(line_id,))
    await library_ledger.add_job("job", item)
    await library_ledger.owner.execute("UPDATE escrow_lines SET video_id = 'v' WHERE id = $1", line_id)
    async with library_ledger.transaction() as connection:
        await escrow.hold(
            connection,
            library_ledger.library_id,
            charge,
            holder="job",
            video_id="v",
            prices=load_prices(),
            now=system_clock(),
        )
    async with running_worker(environment, credit_activities):
        handle = await start(environment, timer)
        assert await asyncio.wait_for(handle.result(), timeout=60) == 0
    assert await library_ledger.kinds() == ["grant", "hold"]


async def test_check_ledgers_workflow(
    environment: WorkflowEnvironment,
    library_ledger: LibraryLedger,
    credit_activities: CreditActivities,
    fixed_clock: FixedClock,
) -> None:
    await library_ledger.grant(10_000)
    async with running_worker(environment, credit_activities):
        await asyncio.wait_for(
            environment.client.execute_workflow(CheckLedgersWorkflow.run, id=new_id(), task_queue=TaskQueue.CONTROL),
            timeout=60,
        )
    assert await check_times(library_ledger) == (fixed_clock.now, None)
