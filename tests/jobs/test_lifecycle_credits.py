"""Job charges: held on creation or start, captured on completion, released on failure."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from cutroom.credits.pricing import Action, BillableItem
from cutroom.errors import Code, CutroomError
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.schemas import Job
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.credits.conftest import PRICES, charge_for
from tests.credits.job_harness import FAILURE, JobHarness, open_harness, totals
from tests.jobs.conftest import JobContext

DE, FR, ES = (BillableItem(Action.DUB, "plus", language) for language in ("de", "fr", "es"))


@pytest.fixture
async def harness(
    runtime: Runtime, accounts: Accounts, job_context: JobContext, clock: MovableClock
) -> AsyncIterator[JobHarness]:
    assert not clock.shift  # jobs and API use the same time
    async with open_harness(runtime, accounts, job_context) as opened:
        yield opened


async def receipt_entries(harness: JobHarness, job: Job) -> set[str]:
    """Return the receipt's entries after checking that all are in the ledger."""
    assert job.result is not None
    shown = {entry for line in job.result["receipt"]["lines"] for entry in line["entries"]}
    assert shown <= {f"{transaction}/{account}" for transaction, account, _ in await harness.library_ledger.entries()}
    return shown


async def finish_overlapping(harness: JobHarness, first: str, second: str) -> list[Any]:
    """Finish a job in two overlapping transactions: the second starts before the first commits."""

    async def end(connection: Connection, how: str) -> bool:
        ref, now = JobRef(harness.context.library_id, harness.key().id, 1), system_clock()
        if how == "complete":
            return await lifecycle.complete(connection, ref, result={}, now=now)
        return await lifecycle.fail(connection, ref, failure=FAILURE, now=now)

    async def follow() -> bool:
        async with harness.library_ledger.transaction() as connection:
            return await end(connection, second)

    async with harness.library_ledger.transaction() as connection:
        ended = await end(connection, first)
        following = asyncio.create_task(follow())
        await asyncio.wait({following}, timeout=0.2)
    return [ended, await following]


# Hold.


async def test_price_is_held_on_creation(harness: JobHarness) -> None:
    await harness.set_duration(90)
    job, is_new = await harness.request(charge_for(DE))
    assert (job.status, job.result, is_new) == ("queued", None, True)
    assert await harness.balances() == (7_000, 3_000, 0)
    for _ in range(2):  # activities may be retried
        assert await harness.start()
    assert await harness.balances() == (7_000, 3_000, 0)


async def test_price_is_held_on_start_if_duration_was_unknown(harness: JobHarness) -> None:
    await harness.request(charge_for(DE))
    assert await harness.balances() == (10_000, 0, 0)
    await harness.set_duration(90)
    for _ in range(2):
        assert await harness.start()
    assert await harness.balances() == (7_000, 3_000, 0)


async def test_unaffordable_job_is_rejected(harness: JobHarness) -> None:
    await harness.set_duration(301)
    with pytest.raises(CutroomError) as refused:
        await harness.request(charge_for(DE))
    assert refused.value.code is Code.INSUFFICIENT_CREDITS
    assert refused.value.details == {"required": 10.2, "available": 10.0, "shortfall": 0.2}
    with pytest.raises(CutroomError, match="not found"):
        await harness.job()
    assert await harness.balances() == (10_000, 0, 0)


async def test_job_unaffordable_on_start_fails_and_holds_nothing(harness: JobHarness) -> None:
    await harness.request(charge_for(DE))
    await harness.set_duration(301)
    assert not await harness.start()
    job = await harness.job()
    assert (job.status, job.error and job.error.code) == ("failed", "INSUFFICIENT_CREDITS")
    assert job.error is not None
    assert job.error.message == "Not enough credits."
    assert job.error.details == {"required": 10.2, "available": 10.0, "shortfall": 0.2}
    assert totals(job) == {"quoted": 10.2, "held": 0, "captured": 0, "returned": 0}
    assert await harness.balances() == (10_000, 0, 0)
    assert await harness.library_ledger.kinds() == ["grant"]
    assert not await harness.start()


async def test_job_without_video_duration_fails_on_start(harness: JobHarness) -> None:
    await harness.request(charge_for(DE))
    assert not await harness.start()
    job = await harness.job()
    assert (job.status, job.error and job.error.code) == ("failed", "DURATION_UNKNOWN")
    assert totals(job) == {"held": 0, "captured": 0, "returned": 0}  # the price was still unknown
    assert await harness.balances() == (10_000, 0, 0)


async def test_job_fails_if_video_is_longer_than_held_duration(harness: JobHarness) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE))
    await harness.set_duration(61)
    assert not await harness.start()
    job = await harness.job()
    assert job.error is not None
    assert (job.error.code, job.error.details) == ("CONFLICT", {"reason": "priced for a shorter duration"})
    assert totals(job) == {"quoted": 2, "held": 2, "captured": 0, "returned": 2}
    assert await harness.balances() == (10_000, 0, 0)


async def test_frozen_library_rejects_new_jobs_and_completes_held_ones(harness: JobHarness) -> None:
    await harness.request(charge_for(FR), "fr")
    await harness.set_duration(60)
    await harness.request(charge_for(DE), "de")
    await harness.library_ledger.freeze()
    with pytest.raises(CutroomError) as refused:
        await harness.request(charge_for(ES), "es")
    assert refused.value.code is Code.FAILED_PRECONDITION
    assert not await harness.start("fr")
    failed = (await harness.job("fr")).error
    assert failed is not None
    assert failed.code == "FAILED_PRECONDITION"
    assert await harness.start("de")
    assert await harness.complete("de")
    assert await harness.balances() == (8_000, 0, 2_000)


# Capture and release.


async def test_ready_job_is_captured_and_has_receipt(harness: JobHarness, api: httpx.AsyncClient) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE, FR))
    await harness.start()
    assert await harness.complete()
    assert await harness.balances() == (6_000, 0, 4_000)
    job = await harness.job()
    assert job.result is not None
    assert job.result["language"] == "de"
    assert totals(job) == {"quoted": 4.0, "held": 4.0, "captured": 4.0, "returned": 0.0}
    first, second = job.result["receipt"]["lines"]
    assert {first["targetLanguageCode"], second["targetLanguageCode"]} == {"de", "fr"}
    assert (first["credits"], first["state"], first["pricingVersion"]) == (2.0, "captured", PRICES.version)
    assert len(await receipt_entries(harness, job)) == 6  # one hold for both, one capture each
    body = (await api.get(f"/jobs/{job.id}")).json()
    assert body["result"] == job.result
    payload = await harness.library_ledger.owner.fetchval(
        "SELECT payload FROM events WHERE library_id = $1 AND type = 'job.ready'", harness.context.library_id
    )
    assert payload["result"] == job.result


async def test_failed_job_is_refunded_and_has_receipt(harness: JobHarness, api: httpx.AsyncClient) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE, FR))
    await harness.start()
    assert await harness.fail()
    assert await harness.balances() == (10_000, 0, 0)
    job = await harness.job()
    assert totals(job) == {"quoted": 4.0, "held": 4.0, "captured": 0.0, "returned": 4.0}
    assert job.result is not None
    assert {line["state"] for line in job.result["receipt"]["lines"]} == {"released"}
    assert {entry.partition("/")[2] for entry in await receipt_entries(harness, job)} == {"wallet", "escrow"}
    body = (await api.get(f"/jobs/{job.id}")).json()
    assert (body["error"]["code"], body["result"]) == ("INTERNAL", job.result)


async def test_job_failed_before_start_is_refunded(harness: JobHarness) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE))
    assert await harness.fail()
    assert await harness.balances() == (10_000, 0, 0)
    assert not await harness.start()


async def test_free_job_has_no_receipt(harness: JobHarness) -> None:
    await harness.set_duration(60)
    await harness.request(None)
    assert await harness.start()
    await harness.complete()
    assert (await harness.job()).result == {"language": "de"}
    await harness.request(None, "fr")
    await harness.fail("fr")
    assert (await harness.job("fr")).result is None
    assert await harness.library_ledger.kinds() == ["grant"]


ENDS = [("complete", "complete"), ("complete", "fail"), ("fail", "fail"), ("fail", "complete")]


@pytest.mark.parametrize(("first", "second"), ENDS)
@pytest.mark.parametrize("how", ["sequential", "overlapping"])
async def test_concurrent_completions_settle_once(harness: JobHarness, first: str, second: str, how: str) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE))
    await harness.start()
    if how == "overlapping":
        assert await finish_overlapping(harness, first, second) == [True, False]
    else:
        assert [await getattr(harness, end)() for end in (first, second, second)] == [True, False, False]
    is_ready = first == "complete"
    assert (await harness.job()).status == ("ready" if is_ready else "failed")
    assert await harness.balances() == ((8_000, 0, 2_000) if is_ready else (10_000, 0, 0))
    assert await harness.library_ledger.kinds() == sorted(["grant", "hold", "capture" if is_ready else "release"])


async def test_rolled_back_completion_moves_nothing(harness: JobHarness) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE))
    await harness.start()

    async def crash() -> None:
        async with harness.library_ledger.transaction() as connection:
            ref = JobRef(harness.context.library_id, harness.key().id, 1)
            await lifecycle.complete(connection, ref, result={}, now=system_clock())
            raise RuntimeError("crash")

    with pytest.raises(RuntimeError):
        await crash()
    assert await harness.balances() == (8_000, 2_000, 0)
    assert await harness.complete()
    assert await harness.balances() == (8_000, 0, 2_000)


# Repeated requests.


async def test_repeated_request_of_unfailed_job_is_not_charged(harness: JobHarness) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE))
    steps = [harness.start, harness.complete, harness.complete]
    for step in steps:
        job, is_new = await harness.request(charge_for(DE))
        assert (job, is_new) == (await harness.job(), False)
        assert await harness.library_ledger.kinds() in (["grant", "hold"], ["capture", "grant", "hold"])
        await step()
    assert await harness.balances() == (8_000, 0, 2_000)


async def test_rerun_of_failed_job_is_charged_once(harness: JobHarness) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE))
    await harness.start()
    await harness.fail()
    job, is_new = await harness.request(charge_for(DE))
    assert (job.status, job.result, job.error, is_new) == ("queued", None, None, True)
    assert await harness.balances() == (8_000, 2_000, 0)
    assert not await harness.complete(attempt=1)  # the old attempt is superseded
    assert not await harness.fail(attempt=1)
    assert await harness.balances() == (8_000, 2_000, 0)
    assert await harness.start(attempt=2)
    assert await harness.complete(attempt=2)
    assert await harness.balances() == (8_000, 0, 2_000)
    job = await harness.job()
    assert totals(job) == {"quoted": 2.0, "held": 2.0, "captured": 2.0, "returned": 0.0}
    assert await harness.library_ledger.kinds() == ["capture", "grant", "hold", "hold", "release"]


async def test_repeated_failures_cost_nothing(harness: JobHarness) -> None:
    await harness.set_duration(60)
    for attempt in range(1, 12):
        await harness.request(charge_for(DE))
        await harness.start(attempt=attempt)
        assert await harness.fail(attempt=attempt)
    assert await harness.balances() == (10_000, 0, 0)


async def test_concurrent_requests_create_one_job_charged_once(harness: JobHarness) -> None:
    await harness.set_duration(60)

    async def follow() -> tuple[Job, bool]:
        return await harness.request(charge_for(DE))

    async with harness.library_ledger.transaction() as connection:
        job, is_new = await harness.request_on(connection, charge_for(DE))
        following = asyncio.create_task(follow())
        await asyncio.wait({following}, timeout=0.2)
    assert await following == (job, not is_new)
    assert await harness.balances() == (8_000, 2_000, 0)


# Dependents.


async def test_dependent_of_failed_job_is_refunded(harness: JobHarness) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE), "de")
    await harness.request(charge_for(FR), "fr", depends_on=(harness.key("de").id,))
    await harness.request(charge_for(ES), "es", depends_on=(harness.key("fr").id,))
    assert await harness.balances() == (4_000, 6_000, 0)
    await harness.start("de")
    await harness.fail("de")
    assert await harness.balances() == (10_000, 0, 0)
    for language in ("fr", "es"):
        job = await harness.job(language)
        assert (job.status, job.error and job.error.code) == ("failed", "FAILED_PRECONDITION")
        assert totals(job) == {"quoted": 2.0, "held": 2.0, "captured": 0.0, "returned": 2.0}


async def test_completed_prerequisite_does_not_capture_dependent(harness: JobHarness) -> None:
    await harness.set_duration(60)
    await harness.request(charge_for(DE), "de")
    await harness.request(charge_for(FR), "fr", depends_on=(harness.key("de").id,))
    await harness.start("de")
    await harness.complete("de")
    assert await harness.balances() == (6_000, 2_000, 2_000)
