"""POST /jobs/{jobId}/cancel: one outcome, one refund, and nothing published afterwards."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import Action, BillableItem
from cutroom.errors import CutroomError
from cutroom.jobs import lifecycle, service
from cutroom.jobs.cancellation_activities import CancellationActivities
from cutroom.jobs.ids import InternalJobType, JobKey, JobType
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.metrics import JobMetrics
from cutroom.jobs.service import NewJob
from cutroom.jobs.states import CANCELLED, TERMINAL, TRANSITIONS, JobState, can_transition
from cutroom.library.rules import poster_path
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from cutroom.products.shorts.service import output_path, output_prefix
from cutroom.products.thumbnails.service import image_path
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.credits.conftest import PRICES, charge_for
from tests.credits.job_harness import JobHarness, open_harness, totals
from tests.jobs.conftest import JobContext

DE, FR = (BillableItem(Action.DUB, "plus", language) for language in ("de", "fr"))


@pytest.fixture
async def harness(
    runtime: Runtime, accounts: Accounts, job_context: JobContext, clock: MovableClock
) -> AsyncIterator[JobHarness]:
    assert not clock.shift
    async with open_harness(runtime, accounts, job_context) as opened:
        await opened.set_duration(60)
        yield opened


@pytest.fixture
async def client(settings: Settings) -> Client:
    return await connect(settings)


async def cancel(api: httpx.AsyncClient, job_id: str, **options: Any) -> httpx.Response:  # noqa: ANN401
    return await api.post(f"/jobs/{job_id}/cancel", **options)


async def outbox(accounts: Accounts, library_id: str) -> list[str]:
    rows = await accounts.connection.fetch("SELECT workflow_id FROM outbox WHERE library_id = $1", library_id)
    return [row["workflow_id"] for row in rows]


async def failed_events(accounts: Accounts, library_id: str) -> list[tuple[str, str]]:
    rows = await accounts.connection.fetch(
        "SELECT payload FROM events WHERE library_id = $1 AND type = 'job.failed' ORDER BY id", library_id
    )
    return [(row["payload"]["id"], row["payload"]["error"]["code"]) for row in rows]


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


@pytest.mark.parametrize("state", JobState)
def test_every_unfinished_state_can_fail_and_every_failed_job_can_run_again(state: JobState) -> None:
    assert can_transition(state, JobState.FAILED) == (state not in TERMINAL)
    assert TRANSITIONS[JobState.FAILED] == {JobState.QUEUED}


async def test_queued_job_ends_at_once_and_is_refunded(
    harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    await harness.request(charge_for(DE))
    await harness.request(charge_for(FR), "fr")
    assert await harness.balances() == (6_000, 4_000, 0)
    job_id = harness.key().id
    response = await cancel(api, job_id)
    assert response.status_code == 200, response.text
    body = response.json()
    assert (body["status"], body["error"]) == (
        "failed",
        {"code": CANCELLED, "message": "The job was canceled.", "details": {}},
    )
    assert body == (await api.get(f"/jobs/{job_id}")).json()
    assert totals(await harness.job()) == {"quoted": 2, "held": 2, "captured": 0, "returned": 2}
    assert await harness.balances() == (8_000, 2_000, 0)
    assert (await harness.job("fr")).status == "queued"  # another language of the same request
    assert await failed_events(accounts, harness.context.library_id) == [(job_id, CANCELLED)]
    assert f"cancel_{job_id}" in await outbox(accounts, harness.context.library_id)


async def test_workflow_of_a_canceled_job_does_nothing(harness: JobHarness, api: httpx.AsyncClient) -> None:
    """Its start may still be in the outbox when the job is canceled."""
    await harness.request(charge_for(DE))
    await cancel(api, harness.key().id)
    assert not await harness.start()
    assert not await harness.complete()
    assert await harness.balances() == (10_000, 0, 0)


async def test_canceling_again_has_no_effect(harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts) -> None:
    await harness.request(charge_for(DE))
    await harness.start()
    first, *others = await asyncio.gather(*(cancel(api, harness.key().id) for _ in range(5)))
    later = await cancel(api, harness.key().id)
    assert {each.status_code for each in (first, later, *others)} == {200}
    assert all(each.json() == first.json() for each in (later, *others))
    assert len(await failed_events(accounts, harness.context.library_id)) == 1
    assert await harness.balances() == (10_000, 0, 0)


@pytest.mark.parametrize("how", ["complete", "fail"])
async def test_ended_job_cannot_be_canceled(harness: JobHarness, api: httpx.AsyncClient, how: str) -> None:
    await harness.request(charge_for(DE))
    await harness.start()
    await getattr(harness, how)()
    ended = await harness.job()
    refused = await cancel(api, ended.id)
    assert code(refused) == (409, "FAILED_PRECONDITION")
    assert refused.json()["error"]["details"] == {"jobId": ended.id, "status": ended.status}
    assert await harness.job() == ended


async def test_cancellation_and_completion_have_one_outcome(harness: JobHarness, api: httpx.AsyncClient) -> None:
    """Whatever the order, the price is either captured or returned, and the response agrees."""
    outcomes = set()
    for number in range(12):
        attempt = number + 1
        await harness.request(charge_for(DE))
        before = await harness.balances()
        await harness.start(attempt=attempt)
        calls = [harness.complete(attempt=attempt), cancel(api, harness.key().id), cancel(api, harness.key().id)]
        is_ready, *responses = await asyncio.gather(*calls if number % 2 else reversed(calls))
        if not number % 2:
            *responses, is_ready = is_ready, *responses
        job = await harness.job()
        wallet, held, revenue = await harness.balances()
        assert held == 0
        if is_ready:
            assert {code(each) for each in responses} == {(409, "FAILED_PRECONDITION")}
            assert (job.status, wallet, revenue) == ("ready", before[0], before[2] + 2_000)
            await harness.library_ledger.owner.execute(
                "UPDATE jobs SET status = 'failed', error_code = 'INTERNAL', error_message = '' WHERE id = $1", job.id
            )
            await harness.library_ledger.grant(2_000)
        else:
            assert {each.status_code for each in responses} == {200}
            assert (job.status, wallet, revenue) == ("failed", before[0] + 2_000, before[2])
        outcomes.add(job.status)
    assert outcomes  # usually both; each one was checked


async def test_dependents_of_a_canceled_job_fail_with_the_cause(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient
) -> None:
    first, second = JobKey(JobType.IMPORT, job_context.video_id), JobKey(JobType.TRANSCRIPT, job_context.video_id)
    async with runtime.database.transaction(job_context.library_id) as connection:
        jobs = [NewJob(first, job_context.video_id), NewJob(second, job_context.video_id, depends_on=[first.id])]
        await service.create_jobs(connection, job_context.principal, jobs, prices=PRICES, now=system_clock())
    await cancel(api, first.id)
    assert (await api.get(f"/jobs/{second.id}")).json()["error"] == {
        "code": "FAILED_PRECONDITION",
        "message": "A job that this one depends on was canceled.",
        "details": {"jobId": first.id},
    }
    assert (await api.get(f"/videos/{job_context.video_id}")).json()["status"] == "failed"


async def test_internal_unknown_and_foreign_jobs_are_not_found(
    runtime: Runtime, job_context: JobContext, harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    internal = JobKey(InternalJobType.SPEECH, new_id())
    async with runtime.database.transaction(job_context.library_id) as connection:
        job = NewJob(internal, None)
        await service.create_jobs(connection, job_context.principal, [job], prices=PRICES, now=system_clock())
    for job_id in (internal.id, "none", harness.key().id):
        for operation in ("cancel", "retry"):
            assert code(await api.post(f"/jobs/{job_id}/{operation}")) == (404, "NOT_FOUND")
    await harness.request(charge_for(DE))
    other = await accounts.key(await accounts.person())
    for operation in ("cancel", "retry"):
        refused = await api.post(f"/jobs/{harness.key().id}/{operation}", headers=other.headers)
        assert code(refused) == (404, "NOT_FOUND")
    assert (await harness.job()).status == "queued"


async def test_viewers_and_read_scopes_cannot_cancel(api: httpx.AsyncClient, accounts: Accounts) -> None:
    owner, viewer = await accounts.person(), await accounts.person()
    workspace = await accounts.workspace(owner)
    await accounts.member(workspace, viewer, role=Role.VIEWER)
    seen = await accounts.key(viewer, library_id=workspace)
    reader = await accounts.key(owner, scopes={Scope.JOBS_READ})
    assert code(await cancel(api, "any", headers=seen.headers)) == (403, "PERMISSION_DENIED")
    assert code(await api.post("/jobs/any/retry", headers=seen.headers)) == (403, "ROLE_CANNOT_PRODUCE")
    for operation in ("cancel", "retry"):
        refused = await api.post(f"/jobs/any/{operation}", headers=reader.headers)
        assert code(refused) == (403, "INSUFFICIENT_SCOPE")


async def test_preview_of_a_canceled_dub_is_removed_and_none_follows(
    harness: JobHarness, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    await harness.request(charge_for(DE))
    await harness.start()
    video_id, key = harness.context.video_id, {"library_id": harness.context.library_id}
    dub = {
        **key,
        "video_id": video_id,
        "language": "de",
        "product": "plus",
        "completion": "preview_ready",
        "preview_path": "preview",
        "segments": [],
        "speakers": [],
        "edits": {},
        "sync": {},
        "updated_at": system_clock(),
    }
    await insert(accounts.connection, "dubs", dub)
    assert (await api.get(f"/videos/{video_id}/dubs/de")).json()["audioUrl"] is not None
    ref = JobRef(harness.context.library_id, harness.key().id, 1)
    async with harness.library_ledger.transaction() as connection:
        await lifecycle.require_running(connection, ref)
        canceling = asyncio.create_task(cancel(api, harness.key().id))
        assert not (await asyncio.wait({canceling}, timeout=0.3))[0]  # waits for what is being published
    assert (await canceling).status_code == 200
    read = (await api.get(f"/videos/{video_id}/dubs/de")).json()
    assert (read["status"], read["audioUrl"], read["completionStatus"]) == ("failed", None, "pending")
    async with harness.library_ledger.transaction() as connection:
        with pytest.raises(CutroomError, match="has ended"):
            await lifecycle.require_running(connection, ref)


async def request_shorts(runtime: Runtime, context: JobContext) -> JobKey:
    key = JobKey(JobType.SHORTS, new_id())
    async with runtime.database.transaction(context.library_id) as connection:
        job = NewJob(key, context.video_id, plan={"kind": "shorts", "numClips": 1})
        await service.create_jobs(connection, context.principal, [job], prices=PRICES, now=system_clock())
    return key


async def test_canceled_shorts_read_back_as_failed_precondition(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient
) -> None:
    key = await request_shorts(runtime, job_context)
    await cancel(api, key.id)
    response = await api.get(f"/shorts/{key.subject}")
    assert code(response) == (422, "FAILED_PRECONDITION")
    details = response.json()["error"]["details"]
    assert (details["reason"], details["request"]["status"]) == ("cancelled", "failed")


async def test_files_of_a_canceled_job_are_deleted_unless_it_runs_again(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient
) -> None:
    key = await request_shorts(runtime, job_context)
    path = output_path(job_context.library_id, job_context.video_id, key.subject, "output-0.mp4")
    await runtime.storage.put(path, b"video")
    activities = CancellationActivities(
        database=runtime.database,
        client=runtime.temporal,
        storage=runtime.storage,
        metrics=JobMetrics({}),
        output_prefixes={JobType.SHORTS: output_prefix},
    )
    ref = JobRef(job_context.library_id, key.id, 1)
    await cancel(api, key.id)
    await api.post(f"/jobs/{key.id}/retry")
    await ActivityEnvironment().run(activities.delete_canceled_output, ref)
    assert await runtime.storage.size(path) == len(b"video")
    await cancel(api, key.id)
    await ActivityEnvironment().run(activities.delete_canceled_output, JobRef(job_context.library_id, key.id, 2))
    assert await runtime.storage.size(path) is None


async def test_stopping_a_workflow_that_never_started_is_no_error(
    runtime: Runtime, job_context: JobContext, client: Client
) -> None:
    activities = CancellationActivities(
        database=runtime.database,
        client=client,
        storage=runtime.storage,
        metrics=JobMetrics({}),
        output_prefixes={},
    )
    ref = JobRef(job_context.library_id, f"shorts_{new_id()}", 1)
    await ActivityEnvironment().run(activities.stop_canceled_job, ref)
    with pytest.raises(RPCError, match="not found"):
        await client.get_workflow_handle(ref.job_id).describe()


async def test_images_of_a_canceled_thumbnail_are_removed_and_the_poster_restored(
    runtime: Runtime, job_context: JobContext, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    library_id, video_id, request_id = job_context.library_id, job_context.video_id, new_id()
    key = JobKey(JobType.THUMBNAIL, request_id)
    async with runtime.database.transaction(library_id) as connection:
        job = NewJob(key, video_id, plan={"request_id": request_id, "prompt": "A lens"})
        await service.create_jobs(connection, job_context.principal, [job], prices=PRICES, now=system_clock())
    base = {"library_id": library_id, "video_id": video_id, "created_at": system_clock()}
    path = image_path(library_id, video_id, request_id, "thumbnail-0.jpg")
    request = {**base, "id": request_id, "job_id": key.id, "detected": [{"id": "a"}], "decision": {"approved": False}}
    image = {"id": new_id(), "request_id": request_id, "number": 0, "layout": "", "score": 0.5, "engine": "none"}
    await insert(accounts.connection, "thumbnail_requests", request)
    await insert(accounts.connection, "thumbnails", {**base, **image, "path": path})
    await accounts.connection.execute("UPDATE videos SET poster_path = $2 WHERE id = $1", video_id, path)
    assert len((await api.get(f"/thumbnails/{request_id}")).json()["outputImageUrls"]) == 1
    await cancel(api, key.id)
    read = (await api.get(f"/thumbnails/{request_id}")).json()
    assert (read["status"], read["outputImageUrls"]) == ("failed", [])
    poster = await accounts.connection.fetchval("SELECT poster_path FROM videos WHERE id = $1", video_id)
    assert poster == poster_path(library_id, video_id)
    sql = "SELECT detected, decision FROM thumbnail_requests WHERE id = $1"
    assert tuple(await accounts.connection.fetchrow(sql, request_id) or ()) == (None, None)
