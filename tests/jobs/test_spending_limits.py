"""The spending limit of a request, checked when the prices of its jobs become known."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from cutroom.accounts.spending import SpendingLimit
from cutroom.credits.pricing import Action, BillableItem
from cutroom.credits.rules import Charge
from cutroom.errors import Code, CutroomError
from cutroom.jobs import service
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from cutroom.web.spending import HEADER
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.credits.conftest import PRICES, charge_for
from tests.credits.job_harness import JobHarness, open_harness, totals
from tests.jobs.conftest import JobContext

LANGUAGES = ("de", "es", "fr", "hi", "ja", "pt")
CENT = 10


def dub(language: str) -> BillableItem:
    return BillableItem(Action.DUB, "plus", language)


def limited(amount: str) -> dict[str, str]:
    return {HEADER: amount}


@pytest.fixture
async def harness(
    runtime: Runtime, accounts: Accounts, job_context: JobContext, clock: MovableClock
) -> AsyncIterator[JobHarness]:
    assert not clock.shift
    async with open_harness(runtime, accounts, job_context) as opened:
        yield opened


def limit_to(harness: JobHarness, millicredits: int) -> JobHarness:
    """The harness of a request with this limit."""
    limit = SpendingLimit(new_id(), millicredits)
    context = replace(harness.context, principal=replace(harness.context.principal, spending_limit=limit))
    return replace(harness, context=context)


# Prices that become known later.


async def test_job_above_the_limit_fails_uncharged_when_its_price_is_known(harness: JobHarness) -> None:
    within = limit_to(harness, 1_999)
    job, is_new = await within.request(charge_for(dub("de")))
    assert (job.status, is_new) == ("queued", True)
    await harness.set_duration(60)
    assert not await within.start()
    job = await harness.job()
    assert job.error is not None
    assert (job.status, job.error.code) == ("failed", "FAILED_PRECONDITION")
    assert job.error.details == {"reason": "over_limit", "price": 2.0, "limit": 1.999}
    assert totals(job) == {"quoted": 2.0, "held": 0, "captured": 0, "returned": 0}
    assert await harness.library_ledger.kinds() == ["grant"]


async def test_job_within_the_limit_is_charged_when_its_price_is_known(harness: JobHarness) -> None:
    within = limit_to(harness, 2_000)
    await within.request(charge_for(dub("de")))
    await harness.set_duration(60)
    for _ in range(2):  # activities may be retried
        assert await within.start()
    assert await within.complete()
    assert await harness.balances() == (8_000, 0, 2_000)


async def test_jobs_of_a_request_share_its_limit_while_those_of_another_do_not_count(harness: JobHarness) -> None:
    within, other = limit_to(harness, 4_500), limit_to(harness, 2_000)
    for language in ("de", "es", "fr"):
        await within.request(charge_for(dub(language)), language)
    await other.request(charge_for(dub("pt")), "pt")
    await harness.set_duration(60)
    assert [await harness.start(language) for language in ("de", "pt", "es", "fr")] == [True, True, True, False]
    error = (await harness.job("fr")).error
    assert error is not None
    assert error.details == {"reason": "over_limit", "price": 2.0, "charged": 4.0, "limit": 4.5}


async def test_what_a_failed_job_gave_back_can_be_spent_by_another_of_the_request(harness: JobHarness) -> None:
    within = limit_to(harness, 2_000)
    for language in ("de", "es"):
        await within.request(charge_for(dub(language)), language)
    await harness.set_duration(60)
    assert await harness.start("de")
    assert await harness.fail("de")
    assert await harness.start("es")
    assert await harness.balances() == (8_000, 2_000, 0)


async def test_next_attempt_has_the_limit_of_its_own_request(harness: JobHarness) -> None:
    within = limit_to(harness, 1_000)
    await within.request(charge_for(dub("de")))
    await harness.set_duration(60)
    assert not await within.start()
    with pytest.raises(CutroomError) as refused:
        await limit_to(harness, 1_500).request(charge_for(dub("de")))
    assert (refused.value.code, refused.value.details["price"]) == (Code.FAILED_PRECONDITION, 2.0)
    await harness.request(charge_for(dub("de")))
    assert await harness.start(attempt=2)
    assert await harness.balances() == (8_000, 2_000, 0)


async def test_retry_is_limited(api: httpx.AsyncClient, harness: JobHarness) -> None:
    await harness.set_duration(60)
    job, _ = await harness.request(charge_for(dub("de")))
    await harness.start()
    await harness.fail()
    refused = await api.post(f"/jobs/{job.id}/retry", headers=limited("1.9"))
    assert refused.json()["error"]["details"] == {"reason": "over_limit", "price": 2.0, "limit": 1.9}
    assert (await harness.job()).status == "failed"
    assert (await api.post(f"/jobs/{job.id}/retry", headers=limited("2"))).status_code == 202


# Concurrency.


@pytest.mark.parametrize("seed", range(12))
async def test_nothing_above_the_limit_is_charged_whatever_starts_together(harness: JobHarness, seed: int) -> None:
    """Requests with several jobs each, started, failed and completed at the same time in random order."""
    rng = random.Random(seed)
    await harness.library_ledger.grant(1_000_000)
    requests: list[tuple[SpendingLimit, list[str]]] = []
    remaining = rng.sample(LANGUAGES, len(LANGUAGES))
    while remaining:
        languages = [remaining.pop() for _ in range(rng.randint(1, len(remaining)))]
        within = limit_to(harness, rng.randrange(0, 2_500 * len(languages), CENT))
        jobs = [
            NewJob(harness.key(each), harness.context.video_id, charge=Charge((dub(each),), is_subscriber=False))
            for each in languages
        ]
        async with harness.library_ledger.transaction() as connection:
            await service.create_jobs(connection, within.context.principal, jobs, prices=PRICES, now=system_clock())
        assert within.context.principal.spending_limit is not None
        requests.append((within.context.principal.spending_limit, languages))
    await harness.set_duration(rng.choice([30, 60, 66]))

    async def run(language: str) -> None:
        for _ in range(2):
            await harness.start(language)
        if rng.random() < 0.5:
            await (harness.complete(language) if rng.random() < 0.6 else harness.fail(language))

    await asyncio.gather(*[run(each) for each in rng.sample(LANGUAGES, len(LANGUAGES))])
    for limit, languages in requests:
        charged = await harness.library_ledger.owner.fetchval(
            """SELECT coalesce(sum(millicredits), 0)::bigint FROM escrow_lines
               WHERE library_id = $1 AND holder = ANY($2) AND state IN ('open', 'captured')""",
            harness.context.library_id,
            [harness.key(each).id for each in languages],
        )
        assert charged <= limit.millicredits
