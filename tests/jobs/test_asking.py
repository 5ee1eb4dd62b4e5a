"""Several jobs asked for in one request: one answer each, and requests that cross never wait for each other."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any

import pytest

from cutroom.credits.pricing import Action, Work
from cutroom.credits.rules import Bill
from cutroom.errors import Code, CutroomError
from cutroom.jobs import service
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.credits.conftest import PRICES, paying, reserve
from tests.credits.desk import Desk, open_desk
from tests.jobs.conftest import Stage

DE, FR = Work(Action.DUB, "plus", "de"), Work(Action.DUB, "plus", "fr")  # two credits a minute each
WALLET = "SELECT 1 FROM ledger_balances WHERE library_id = $1 FOR UPDATE"
WAIT_SECONDS = 0.3  # for a transaction to come to where it must wait


@pytest.fixture
async def desk(runtime: Runtime, accounts: Accounts, stage: Stage, clock: MovableClock) -> AsyncIterator[Desk]:
    assert not clock.shift  # the API's time is that of the jobs
    async with open_desk(runtime, accounts, stage) as opened:
        await opened.set_duration(60)
        yield opened


async def ask(desk: Desk, *bills: Bill, depends_on: Sequence[str] = ()) -> list[tuple[Job, bool]]:
    """One job for each bill, in the language of its work."""
    wanted = [
        NewJob(desk.key(bill.works[0].language or ""), desk.stage.video_id, depends_on=depends_on, bill=bill)
        for bill in bills
    ]
    async with desk.books.transaction() as connection:
        return await service.request_jobs(connection, desk.stage.principal, wanted, prices=PRICES, now=system_clock())


async def started(*asking: Coroutine[Any, Any, Any]) -> list[asyncio.Task[Any]]:
    """Each comes to where it waits before the next begins."""
    tasks: list[asyncio.Task[Any]] = []
    for each in asking:
        tasks.append(asyncio.create_task(each))
        await asyncio.wait(tasks, timeout=WAIT_SECONDS)
    return tasks


async def test_the_answers_are_in_the_order_of_the_wishes(desk: Desk) -> None:
    first = await ask(desk, paying(FR), paying(DE))
    assert [(job.language, begun) for job, begun in first] == [("fr", True), ("de", True)]
    assert await desk.money() == (6_000, 4_000, 0)
    again = await ask(desk, paying(DE), paying(FR))
    assert [(job.language, begun) for job, begun in again] == [("de", False), ("fr", False)]
    assert await desk.money() == (6_000, 4_000, 0)


async def test_a_job_that_is_wished_for_twice_is_one(desk: Desk) -> None:
    (one, begun), (same, begun_again) = await ask(desk, paying(DE), paying(DE))
    assert (one, begun, begun_again) == (same, True, False)
    assert await desk.money() == (8_000, 2_000, 0)


async def test_nothing_is_asked_for_when_one_cannot_be_paid(desk: Desk) -> None:
    await desk.set_duration(180)
    with pytest.raises(CutroomError) as refused:
        await ask(desk, paying(DE), paying(FR))
    assert refused.value.code is Code.INSUFFICIENT_CREDITS
    assert await desk.money() == (10_000, 0, 0)
    assert await desk.books.owner.fetch("SELECT id FROM jobs WHERE library_id = $1", desk.stage.library_id) == []


async def test_requests_for_the_same_jobs_in_another_order_do_not_wait_for_each_other(desk: Desk) -> None:
    async with desk.books.owner.transaction():  # somebody else is just paying
        await desk.books.owner.execute(WALLET, desk.stage.library_id)
        asking = await started(ask(desk, paying(DE), paying(FR)), ask(desk, paying(FR), paying(DE)))
    answers = await asyncio.gather(*asking)
    assert [[begun for _, begun in each] for each in answers] == [[True, True], [False, False]]
    assert await desk.money() == (6_000, 4_000, 0)


async def test_whoever_takes_reserved_lines_and_pays_takes_the_lines_first(desk: Desk) -> None:
    _, (line,) = await reserve(desk.books, desk.stage.video_id, FR)
    owner = desk.books.owner
    async with owner.transaction():  # as it is when a line is given back
        await owner.execute("SELECT 1 FROM escrow_lines WHERE id = $1 FOR UPDATE", line)
        (asking,) = await started(ask(desk, paying(DE), paying(FR, lines=(line,))))
        await owner.execute(WALLET, desk.stage.library_id)
    assert [begun for _, begun in await asking] == [True, True]
    assert await desk.money() == (6_000, 4_000, 0)


async def test_what_is_satisfied_and_what_is_asked_for_do_not_wait_for_each_other(desk: Desk) -> None:
    await ask(desk, paying(FR), paying(DE), depends_on=["upload"])
    bills = paying(FR), paying(DE)

    async def satisfy() -> None:
        async with desk.books.transaction() as connection:
            await service.release_dependents(
                connection,
                desk.stage.library_id,
                video_id=desk.stage.video_id,
                prerequisite="upload",
                now=system_clock(),
            )

    async with desk.books.owner.transaction():
        await desk.books.owner.execute("SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE", desk.key("de").id)
        waiting = await started(satisfy(), ask(desk, *bills))
        statement = "SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE NOWAIT"
        await desk.books.owner.execute(statement, desk.key("fr").id)  # nobody has the second while the first is taken
    await asyncio.gather(*waiting)
