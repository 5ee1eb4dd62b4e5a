"""Creating several jobs in one request, and lock ordering between concurrent requests."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any

import pytest

from cutroom.credits.pricing import Action, BillableItem
from cutroom.credits.rules import Charge
from cutroom.errors import Code, CutroomError
from cutroom.jobs import service
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.credits.conftest import PRICES, charge_for, reserve
from tests.credits.job_harness import JobHarness, open_harness
from tests.jobs.conftest import JobContext

DE, FR = BillableItem(Action.DUB, "plus", "de"), BillableItem(Action.DUB, "plus", "fr")  # two credits per minute each
WALLET = "SELECT 1 FROM ledger_balances WHERE library_id = $1 FOR UPDATE"
WAIT_SECONDS = 0.3  # for a transaction to block on its lock


@pytest.fixture
async def harness(
    runtime: Runtime, accounts: Accounts, job_context: JobContext, clock: MovableClock
) -> AsyncIterator[JobHarness]:
    assert not clock.shift  # jobs and API use the same time
    async with open_harness(runtime, accounts, job_context) as opened:
        await opened.set_duration(60)
        yield opened


async def request(harness: JobHarness, *charges: Charge, depends_on: Sequence[str] = ()) -> list[tuple[Job, bool]]:
    """Request one job for each charge, in the language of its item."""
    new_jobs = [
        NewJob(
            harness.key(charge.items[0].language or ""), harness.context.video_id, depends_on=depends_on, charge=charge
        )
        for charge in charges
    ]
    async with harness.library_ledger.transaction() as connection:
        return await service.request_jobs(
            connection, harness.context.principal, new_jobs, prices=PRICES, now=system_clock()
        )


async def started(*requests: Coroutine[Any, Any, Any]) -> list[asyncio.Task[Any]]:
    """Start each task after the previous one blocks on its lock."""
    tasks: list[asyncio.Task[Any]] = []
    for each in requests:
        tasks.append(asyncio.create_task(each))
        await asyncio.wait(tasks, timeout=WAIT_SECONDS)
    return tasks


async def test_responses_keep_request_order(harness: JobHarness) -> None:
    first = await request(harness, charge_for(FR), charge_for(DE))
    assert [(job.language, is_new) for job, is_new in first] == [("fr", True), ("de", True)]
    assert await harness.balances() == (6_000, 4_000, 0)
    again = await request(harness, charge_for(DE), charge_for(FR))
    assert [(job.language, is_new) for job, is_new in again] == [("de", False), ("fr", False)]
    assert await harness.balances() == (6_000, 4_000, 0)


async def test_duplicate_jobs_in_one_request_are_merged(harness: JobHarness) -> None:
    (one, is_new), (same, is_new_again) = await request(harness, charge_for(DE), charge_for(DE))
    assert (one, is_new, is_new_again) == (same, True, False)
    assert await harness.balances() == (8_000, 2_000, 0)


async def test_no_job_is_created_if_one_is_unaffordable(harness: JobHarness) -> None:
    await harness.set_duration(180)
    with pytest.raises(CutroomError) as refused:
        await request(harness, charge_for(DE), charge_for(FR))
    assert refused.value.code is Code.INSUFFICIENT_CREDITS
    assert await harness.balances() == (10_000, 0, 0)
    assert (
        await harness.library_ledger.owner.fetch(
            "SELECT id FROM jobs WHERE library_id = $1", harness.context.library_id
        )
        == []
    )


async def test_requests_in_different_order_do_not_deadlock(harness: JobHarness) -> None:
    async with harness.library_ledger.owner.transaction():  # a concurrent payment
        await harness.library_ledger.owner.execute(WALLET, harness.context.library_id)
        requests = await started(
            request(harness, charge_for(DE), charge_for(FR)), request(harness, charge_for(FR), charge_for(DE))
        )
    responses = await asyncio.gather(*requests)
    assert [[is_new for _, is_new in each] for each in responses] == [[True, True], [False, False]]
    assert await harness.balances() == (6_000, 4_000, 0)


async def test_reserved_lines_are_locked_before_wallet(harness: JobHarness) -> None:
    _, (line,) = await reserve(harness.library_ledger, harness.context.video_id, FR)
    owner = harness.library_ledger.owner
    async with owner.transaction():  # as when a line is released
        await owner.execute("SELECT 1 FROM escrow_lines WHERE id = $1 FOR UPDATE", line)
        (requests,) = await started(request(harness, charge_for(DE), charge_for(FR, lines=(line,))))
        await owner.execute(WALLET, harness.context.library_id)
    assert [is_new for _, is_new in await requests] == [True, True]
    assert await harness.balances() == (6_000, 4_000, 0)


async def test_release_and_request_do_not_deadlock(harness: JobHarness) -> None:
    await request(harness, charge_for(FR), charge_for(DE), depends_on=["upload"])
    charges = charge_for(FR), charge_for(DE)

    async def release() -> None:
        async with harness.library_ledger.transaction() as connection:
            await service.release_dependents(
                connection,
                harness.context.library_id,
                video_id=harness.context.video_id,
                prerequisite="upload",
                now=system_clock(),
            )

    async with harness.library_ledger.owner.transaction():
        await harness.library_ledger.owner.execute("SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE", harness.key("de").id)
        waiting = await started(release(), request(harness, *charges))
        statement = "SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE NOWAIT"
        await harness.library_ledger.owner.execute(statement, harness.key("fr").id)  # not locked while the first is
    await asyncio.gather(*waiting)
