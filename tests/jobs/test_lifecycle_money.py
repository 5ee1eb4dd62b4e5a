"""A job and its money: held when it is accepted or begins, spent when it is ready, given back when it fails."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from cutroom.credits.pricing import Action, Work
from cutroom.errors import Code, CutroomError
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.schemas import Job
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.credits.conftest import PRICES, paying
from tests.credits.desk import FAILURE, Desk, open_desk, totals
from tests.jobs.conftest import Stage

DE, FR, ES = (Work(Action.DUB, "plus", language) for language in ("de", "fr", "es"))


@pytest.fixture
async def desk(runtime: Runtime, accounts: Accounts, stage: Stage, clock: MovableClock) -> AsyncIterator[Desk]:
    assert not clock.shift  # the API's time is that of the jobs
    async with open_desk(runtime, accounts, stage) as opened:
        yield opened


async def spent_by(desk: Desk, job: Job) -> set[str]:
    """The receipt's entries, every one of which is in the ledger."""
    assert job.result is not None
    shown = {entry for line in job.result["receipt"]["lines"] for entry in line["entries"]}
    assert shown <= {f"{transaction}/{account}" for transaction, account, _ in await desk.books.entries()}
    return shown


async def at_once(desk: Desk, first: str, second: str) -> list[Any]:
    """Two ends of one job whose transactions overlap: the second comes while the first is not committed."""

    async def end(connection: Connection, how: str) -> bool:
        ref, now = JobRef(desk.stage.library_id, desk.key().id, 1), system_clock()
        if how == "finish":
            return await lifecycle.finish(connection, ref, result={}, now=now)
        return await lifecycle.fail(connection, ref, failure=FAILURE, now=now)

    async def follow() -> bool:
        async with desk.books.transaction() as connection:
            return await end(connection, second)

    async with desk.books.transaction() as connection:
        ended = await end(connection, first)
        following = asyncio.create_task(follow())
        await asyncio.wait({following}, timeout=0.2)
    return [ended, await following]


# Holding.


async def test_the_price_is_held_when_the_job_is_accepted(desk: Desk) -> None:
    await desk.set_duration(90)
    job, begun = await desk.ask(paying(DE))
    assert (job.status, job.result, begun) == ("queued", None, True)
    assert await desk.money() == (7_000, 3_000, 0)
    for _ in range(2):  # the activity may be tried again
        assert await desk.begin()
    assert await desk.money() == (7_000, 3_000, 0)


async def test_the_price_is_held_when_the_job_begins_if_the_duration_was_not_known(desk: Desk) -> None:
    await desk.ask(paying(DE))
    assert await desk.money() == (10_000, 0, 0)
    await desk.set_duration(90)
    for _ in range(2):
        assert await desk.begin()
    assert await desk.money() == (7_000, 3_000, 0)


async def test_a_job_that_cannot_be_paid_is_not_accepted(desk: Desk) -> None:
    await desk.set_duration(301)
    with pytest.raises(CutroomError) as refused:
        await desk.ask(paying(DE))
    assert refused.value.code is Code.INSUFFICIENT_CREDITS
    assert refused.value.details == {"required": 10.2, "available": 10.0, "shortfall": 0.2}
    with pytest.raises(CutroomError, match="not found"):
        await desk.job()
    assert await desk.money() == (10_000, 0, 0)


async def test_a_job_that_cannot_be_paid_when_it_begins_fails_and_holds_nothing(desk: Desk) -> None:
    await desk.ask(paying(DE))
    await desk.set_duration(301)
    assert not await desk.begin()
    job = await desk.job()
    assert (job.status, job.error and job.error.code) == ("failed", "INSUFFICIENT_CREDITS")
    assert job.error is not None
    assert job.error.message == "Not enough credits."
    assert job.error.details == {"required": 10.2, "available": 10.0, "shortfall": 0.2}
    assert totals(job) == {"quoted": 10.2, "held": 0, "captured": 0, "returned": 0}
    assert await desk.money() == (10_000, 0, 0)
    assert await desk.books.kinds() == ["grant"]
    assert not await desk.begin()


async def test_a_job_whose_video_never_got_a_duration_fails_when_it_begins(desk: Desk) -> None:
    await desk.ask(paying(DE))
    assert not await desk.begin()
    job = await desk.job()
    assert (job.status, job.error and job.error.code) == ("failed", "DURATION_UNKNOWN")
    assert totals(job) == {"held": 0, "captured": 0, "returned": 0}  # there was no price yet
    assert await desk.money() == (10_000, 0, 0)


async def test_a_video_that_turned_out_longer_than_what_was_held_fails_the_job(desk: Desk) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE))
    await desk.set_duration(61)
    assert not await desk.begin()
    job = await desk.job()
    assert job.error is not None
    assert (job.error.code, job.error.details) == ("CONFLICT", {"reason": "priced for a shorter duration"})
    assert totals(job) == {"quoted": 2, "held": 2, "captured": 0, "returned": 2}
    assert await desk.money() == (10_000, 0, 0)


async def test_a_frozen_library_begins_nothing_new_and_ends_what_was_paid(desk: Desk) -> None:
    await desk.ask(paying(FR), "fr")
    await desk.set_duration(60)
    await desk.ask(paying(DE), "de")
    await desk.books.freeze()
    with pytest.raises(CutroomError) as refused:
        await desk.ask(paying(ES), "es")
    assert refused.value.code is Code.FAILED_PRECONDITION
    assert not await desk.begin("fr")
    failed = (await desk.job("fr")).error
    assert failed is not None
    assert failed.code == "FAILED_PRECONDITION"
    assert await desk.begin("de")
    assert await desk.finish("de")
    assert await desk.money() == (8_000, 0, 2_000)


# The end.


async def test_a_ready_job_is_paid_and_shows_its_receipt(desk: Desk, api: httpx.AsyncClient) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE, FR))
    await desk.begin()
    assert await desk.finish()
    assert await desk.money() == (6_000, 0, 4_000)
    job = await desk.job()
    assert job.result is not None
    assert job.result["made"] == "de"
    assert totals(job) == {"quoted": 4.0, "held": 4.0, "captured": 4.0, "returned": 0.0}
    first, second = job.result["receipt"]["lines"]
    assert {first["targetLanguageCode"], second["targetLanguageCode"]} == {"de", "fr"}
    assert (first["credits"], first["state"], first["pricingVersion"]) == (2.0, "captured", PRICES.version)
    assert len(await spent_by(desk, job)) == 6  # one hold for both, a capture for each
    answered = (await api.get(f"/jobs/{job.id}")).json()
    assert answered["result"] == job.result
    told = await desk.books.owner.fetchval(
        "SELECT payload FROM events WHERE library_id = $1 AND type = 'job.ready'", desk.stage.library_id
    )
    assert told["result"] == job.result


async def test_a_failed_job_gets_everything_back_and_shows_it(desk: Desk, api: httpx.AsyncClient) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE, FR))
    await desk.begin()
    assert await desk.fail()
    assert await desk.money() == (10_000, 0, 0)
    job = await desk.job()
    assert totals(job) == {"quoted": 4.0, "held": 4.0, "captured": 0.0, "returned": 4.0}
    assert job.result is not None
    assert {line["state"] for line in job.result["receipt"]["lines"]} == {"released"}
    assert {entry.partition("/")[2] for entry in await spent_by(desk, job)} == {"wallet", "escrow"}
    answered = (await api.get(f"/jobs/{job.id}")).json()
    assert (answered["error"]["code"], answered["result"]) == ("INTERNAL", job.result)


async def test_a_job_that_fails_before_it_begins_gets_everything_back(desk: Desk) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE))
    assert await desk.fail()
    assert await desk.money() == (10_000, 0, 0)
    assert not await desk.begin()


async def test_free_work_costs_nothing_and_has_no_receipt(desk: Desk) -> None:
    await desk.set_duration(60)
    await desk.ask(None)
    assert await desk.begin()
    await desk.finish()
    assert (await desk.job()).result == {"made": "de"}
    await desk.ask(None, "fr")
    await desk.fail("fr")
    assert (await desk.job("fr")).result is None
    assert await desk.books.kinds() == ["grant"]


ENDS = [("finish", "finish"), ("finish", "fail"), ("fail", "fail"), ("fail", "finish")]


@pytest.mark.parametrize(("first", "second"), ENDS)
@pytest.mark.parametrize("how", ["after another", "at once"])
async def test_a_job_ends_once_and_is_settled_once(desk: Desk, first: str, second: str, how: str) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE))
    await desk.begin()
    if how == "at once":
        assert await at_once(desk, first, second) == [True, False]
    else:
        assert [await getattr(desk, end)() for end in (first, second, second)] == [True, False, False]
    is_ready = first == "finish"
    assert (await desk.job()).status == ("ready" if is_ready else "failed")
    assert await desk.money() == ((8_000, 0, 2_000) if is_ready else (10_000, 0, 0))
    assert await desk.books.kinds() == sorted(["grant", "hold", "capture" if is_ready else "release"])


async def test_a_step_that_is_not_committed_moves_nothing(desk: Desk) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE))
    await desk.begin()

    async def crash() -> None:
        async with desk.books.transaction() as connection:
            ref = JobRef(desk.stage.library_id, desk.key().id, 1)
            await lifecycle.finish(connection, ref, result={}, now=system_clock())
            raise RuntimeError("crash")

    with pytest.raises(RuntimeError):
        await crash()
    assert await desk.money() == (8_000, 2_000, 0)
    assert await desk.finish()
    assert await desk.money() == (8_000, 0, 2_000)


# Asking again.


async def test_asking_again_for_what_is_queued_running_or_ready_charges_nothing(desk: Desk) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE))
    steps = [desk.begin, desk.finish, desk.finish]
    for step in steps:
        job, begun = await desk.ask(paying(DE))
        assert (job, begun) == (await desk.job(), False)
        assert await desk.books.kinds() in (["grant", "hold"], ["capture", "grant", "hold"])
        await step()
    assert await desk.money() == (8_000, 0, 2_000)


async def test_a_failed_job_that_is_asked_for_again_is_charged_anew_and_once(desk: Desk) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE))
    await desk.begin()
    await desk.fail()
    job, begun = await desk.ask(paying(DE))
    assert (job.status, job.result, job.error, begun) == ("queued", None, None, True)
    assert await desk.money() == (8_000, 2_000, 0)
    assert not await desk.finish(attempt=1)  # the old attempt has no say, and no money
    assert not await desk.fail(attempt=1)
    assert await desk.money() == (8_000, 2_000, 0)
    assert await desk.begin(attempt=2)
    assert await desk.finish(attempt=2)
    assert await desk.money() == (8_000, 0, 2_000)
    job = await desk.job()
    assert totals(job) == {"quoted": 2.0, "held": 2.0, "captured": 2.0, "returned": 0.0}
    assert await desk.books.kinds() == ["capture", "grant", "hold", "hold", "release"]


async def test_a_failed_job_may_fail_as_often_as_it_is_asked_for_and_costs_nothing(desk: Desk) -> None:
    await desk.set_duration(60)
    for attempt in range(1, 12):
        await desk.ask(paying(DE))
        await desk.begin(attempt=attempt)
        assert await desk.fail(attempt=attempt)
    assert await desk.money() == (10_000, 0, 0)


async def test_two_that_ask_at_once_get_one_job_which_is_charged_once(desk: Desk) -> None:
    await desk.set_duration(60)

    async def follow() -> tuple[Job, bool]:
        return await desk.ask(paying(DE))

    async with desk.books.transaction() as connection:
        job, begun = await desk.ask_on(connection, paying(DE))
        following = asyncio.create_task(follow())
        await asyncio.wait({following}, timeout=0.2)
    assert await following == (job, not begun)
    assert await desk.money() == (8_000, 2_000, 0)


# What waits.


async def test_when_what_a_job_waits_for_fails_it_gets_its_credits_back(desk: Desk) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE), "de")
    await desk.ask(paying(FR), "fr", depends_on=(desk.key("de").id,))
    await desk.ask(paying(ES), "es", depends_on=(desk.key("fr").id,))
    assert await desk.money() == (4_000, 6_000, 0)
    await desk.begin("de")
    await desk.fail("de")
    assert await desk.money() == (10_000, 0, 0)
    for language in ("fr", "es"):
        job = await desk.job(language)
        assert (job.status, job.error and job.error.code) == ("failed", "FAILED_PRECONDITION")
        assert totals(job) == {"quoted": 2.0, "held": 2.0, "captured": 0.0, "returned": 2.0}


async def test_when_what_a_job_waits_for_is_ready_only_that_is_paid(desk: Desk) -> None:
    await desk.set_duration(60)
    await desk.ask(paying(DE), "de")
    await desk.ask(paying(FR), "fr", depends_on=(desk.key("de").id,))
    await desk.begin("de")
    await desk.finish("de")
    assert await desk.money() == (6_000, 2_000, 2_000)
