"""Suspending a library takes effect everywhere; revoked keys end at once."""

from collections.abc import AsyncIterator

import httpx
import pytest

from cutroom.accounts import service as accounts_service
from cutroom.credits.pricing import Action, BillableItem
from cutroom.errors import Code, CutroomError
from cutroom.jobs.cancellation import cancel_library_jobs
from cutroom.jobs.states import CANCELLED
from cutroom.library.live_videos import LiveVideos
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.catalog import JOB_HOOKS
from cutroom.web.runtime import Runtime
from cutroom.webhooks.deliveries import Delivery, load_webhook
from cutroom.webhooks.publishing import publish_event
from dev.scratch import Accounts, Keyring, Person
from tests.conftest import MovableClock
from tests.credits.conftest import charge_for
from tests.credits.job_harness import JobHarness, open_harness
from tests.jobs.conftest import JobContext

NOW = 1_800_000_000  # when a URL was signed, in seconds of the epoch
DE, FR = (BillableItem(Action.DUB, "plus", language) for language in ("de", "fr"))


@pytest.fixture
async def harness(
    runtime: Runtime, accounts: Accounts, job_context: JobContext, clock: MovableClock
) -> AsyncIterator[JobHarness]:
    assert not clock.shift
    async with open_harness(runtime, accounts, job_context) as opened:
        await opened.set_duration(60)
        yield opened


async def suspend(accounts: Accounts, library_id: str) -> None:
    await accounts_service.set_suspended(accounts.connection, library_id, at=system_clock())


async def test_jobs_are_canceled_with_their_credits_back(
    harness: JobHarness, accounts: Accounts, runtime: Runtime
) -> None:
    await harness.request(charge_for(DE))
    await harness.request(charge_for(FR), "fr")
    assert await harness.start()
    library_id = harness.context.library_id
    await suspend(accounts, library_id)
    async with runtime.database.transaction(library_id) as connection:
        assert await cancel_library_jobs(connection, library_id, hooks=JOB_HOOKS, now=system_clock()) == 2
    assert await harness.balances() == (10_000, 0, 0)
    for language in ("de", "fr"):
        job = await harness.job(language)
        assert job.error is not None
        assert (job.status, job.error.code) == ("failed", CANCELLED)
    starts = await accounts.connection.fetch(
        "SELECT workflow_id FROM outbox WHERE library_id = $1 AND workflow = 'cancel-job'", library_id
    )
    assert len(starts) == 2
    assert not await harness.complete()


async def test_nothing_is_produced_delivered_or_served(
    harness: JobHarness, accounts: Accounts, runtime: Runtime, api: httpx.AsyncClient
) -> None:
    library_id, video_id = harness.context.library_id, harness.context.video_id
    seconds = 1_000.0
    live = LiveVideos(runtime.database, lambda: seconds)
    endpoint = (await api.post("/webhook-endpoints", json={"url": "https://hooks.example.com/s"})).json()
    async with runtime.database.transaction(library_id) as connection:
        event_id = await publish_event(connection, library_id, type="job.ready", data={"id": "x"}, now=system_clock())
        delivery = Delivery(library_id, event_id, endpoint["id"])
        assert await load_webhook(connection, delivery, secret_box=runtime.secret_box) is not None
    assert await live.is_live(library_id, video_id, NOW)
    await suspend(accounts, library_id)
    seconds += 60
    assert not await live.is_live(library_id, video_id, NOW)
    async with runtime.database.transaction(library_id) as connection:
        assert await load_webhook(connection, delivery, secret_box=runtime.secret_box) is None
    refused = await api.post(f"/videos/{video_id}/dubs", json={"targetLanguage": "de"})
    assert refused.status_code == 403
    assert refused.json()["error"]["details"] == {"reason": "suspended"}
    await accounts_service.set_suspended(accounts.connection, library_id, at=None)
    seconds += 60
    assert await live.is_live(library_id, video_id, NOW)


async def test_keys_of_a_suspended_library_read_nothing_but_its_state(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    await suspend(accounts, person.library_id)
    for path in ("/videos", "/folders", "/webhook-endpoints", "/voices", "/audit-log"):
        refused = await api.get(path)
        assert (refused.status_code, refused.json()["error"]["details"]) == (403, {"reason": "suspended"}), path
    assert (await api.post("/folders", json={"name": "More"})).status_code == 403
    assert (await api.get("/library")).json()["suspended"] is True
    await accounts_service.set_suspended(accounts.connection, person.library_id, at=None)
    assert (await api.get("/videos")).status_code == 200


async def test_unknown_library_is_not_found(accounts: Accounts) -> None:
    with pytest.raises(CutroomError) as refused:
        await suspend(accounts, new_id())
    assert refused.value.code is Code.NOT_FOUND


async def test_revoked_key_ends_with_the_next_request(api: httpx.AsyncClient, accounts: Accounts, key: Keyring) -> None:
    assert (await api.get("/videos")).status_code == 200
    await accounts_service.revoke_key(accounts.connection, key.id, now=system_clock())
    assert (await api.get("/videos")).status_code == 401
