"""What publishes the further types of events, and who they are delivered to."""

from collections.abc import AsyncIterator

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.credits.pricing import Action, BillableItem
from cutroom.events.service import LoggedEvent
from cutroom.jobs.states import CANCELLED
from cutroom.library.videos import set_playback_languages
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.credits.conftest import charge_for
from tests.credits.job_harness import JobHarness, open_harness
from tests.events.conftest import Library
from tests.jobs.conftest import JobContext

DE = BillableItem(Action.DUB, "plus", "de")


@pytest.fixture
async def harness(
    runtime: Runtime, accounts: Accounts, job_context: JobContext, clock: MovableClock
) -> AsyncIterator[JobHarness]:
    assert not clock.shift
    async with open_harness(runtime, accounts, job_context) as opened:
        await opened.set_duration(60)
        yield opened
    await accounts.connection.execute("DELETE FROM outbox WHERE library_id = $1", job_context.library_id)


@pytest.fixture
def job_context_library(runtime: Runtime, job_context: JobContext) -> Library:
    return Library(runtime, job_context.library_id)


def of_type(log: list[LoggedEvent], type_: str) -> list[LoggedEvent]:
    return [each for each in log if each.type == type_]


async def test_a_canceled_job_has_failed_and_is_canceled(
    harness: JobHarness, job_context_library: Library, api: httpx.AsyncClient
) -> None:
    await harness.request(charge_for(DE))
    job = (await api.post(f"/jobs/{harness.key().id}/cancel")).json()
    await api.post(f"/jobs/{harness.key().id}/cancel")  # has no effect
    failed, canceled = [each for each in await job_context_library.log() if each.type.startswith("job.")]
    assert (failed.type, canceled.type) == ("job.failed", "job.cancelled")
    assert failed.data == canceled.data == job
    assert canceled.data["error"]["code"] == CANCELLED


async def test_a_job_that_fails_by_itself_is_not_canceled(harness: JobHarness, job_context_library: Library) -> None:
    await harness.request(charge_for(DE))
    await harness.start()
    await harness.fail()
    assert of_type(await job_context_library.log(), "job.cancelled") == []


async def test_a_changed_video_is_published(
    api: httpx.AsyncClient, job_context: JobContext, job_context_library: Library
) -> None:
    await api.patch(f"/videos/{job_context.video_id}", json={"title": "New"})
    refused = await api.patch(f"/videos/{job_context.video_id}", json={"title": "x"}, headers={"If-Match": '"1"'})
    assert refused.status_code == 409
    [event] = of_type(await job_context_library.log(), "video.updated")
    assert event.data == (await api.get(f"/videos/{job_context.video_id}")).json()
    assert event.data["title"] == "New"


async def test_playback_is_published_when_it_changes(job_context: JobContext, job_context_library: Library) -> None:
    for languages in (["en"], ["en"], ["en", "de"]):
        async with job_context_library.runtime.database.transaction(job_context.library_id) as connection:
            await set_playback_languages(
                connection, job_context.library_id, job_context.video_id, languages=languages, now=system_clock()
            )
    assert len(of_type(await job_context_library.log(), "video.updated")) == 2


async def test_credits_are_low_once_until_they_are_not(
    harness: JobHarness, job_context_library: Library, accounts: Accounts
) -> None:
    await ledger.set_low_balance(accounts.connection, job_context_library.id, millicredits=7_000)
    for language in ("de", "fr"):  # two credits each, of ten
        await harness.request(charge_for(BillableItem(Action.DUB, "plus", language)), language)
    [low] = of_type(await job_context_library.log(), "credits.low")
    assert low.data == {"balance": 6, "available": 6, "threshold": 7}
    await harness.request(charge_for(BillableItem(Action.DUB, "plus", "es")), "es")
    assert len(of_type(await job_context_library.log(), "credits.low")) == 1
    await harness.library_ledger.grant(4_000)  # 8 credits
    await harness.request(charge_for(BillableItem(Action.DUB, "plus", "it")), "it")
    assert [each.data["balance"] for each in of_type(await job_context_library.log(), "credits.low")] == [6, 6]


async def test_usage_billing_counts_as_credits(
    harness: JobHarness, job_context_library: Library, accounts: Accounts
) -> None:
    await harness.library_ledger.set_overdraft(5_000)
    await harness.request(charge_for(DE))
    assert of_type(await job_context_library.log(), "credits.low") == []
    await ledger.set_low_balance(accounts.connection, job_context_library.id, millicredits=12_000)
    await harness.request(charge_for(BillableItem(Action.DUB, "plus", "fr")), "fr")
    [low] = of_type(await job_context_library.log(), "credits.low")
    assert low.data == {"balance": 6, "available": 11, "threshold": 12}


async def test_further_types_are_delivered_to_endpoints_that_chose_them(
    api: httpx.AsyncClient, accounts: Accounts, job_context: JobContext, harness: JobHarness
) -> None:
    endpoints = [
        (await api.post("/webhook-endpoints", json={"url": f"https://hooks.example.com/{number}"})).json()
        for number in range(2)
    ]
    chosen = {"events": ["job.cancelled", "video.updated"]}
    assert (await api.patch(f"/webhook-endpoints/{endpoints[1]['id']}", json=chosen)).json()["events"] == chosen[
        "events"
    ]
    await harness.request(charge_for(DE))
    await api.post(f"/jobs/{harness.key().id}/cancel")
    rows = await accounts.connection.fetch(
        """SELECT o.argument ->> 'endpoint_id' AS endpoint, e.type FROM outbox o
             JOIN events e ON e.library_id = o.library_id AND e.id = o.argument ->> 'event_id'
            WHERE o.library_id = $1 AND o.workflow = 'deliver-webhook'""",
        job_context.library_id,
    )
    assert {(row["endpoint"], row["type"]) for row in rows} == {
        (endpoints[0]["id"], "job.failed"),
        (endpoints[1]["id"], "job.cancelled"),
    }


async def test_events_of_endpoints_that_are_disabled_are_not_delivered(
    api: httpx.AsyncClient, accounts: Accounts, job_context: JobContext, job_context_library: Library
) -> None:
    endpoint = (await api.post("/webhook-endpoints", json={"url": "https://hooks.example.com/x"})).json()
    await api.patch(f"/webhook-endpoints/{endpoint['id']}", json={"enabled": False})
    await job_context_library.publish("one")
    started = "SELECT count(*) FROM outbox WHERE library_id = $1 AND workflow = 'deliver-webhook'"
    assert await accounts.connection.fetchval(started, job_context.library_id) == 0
