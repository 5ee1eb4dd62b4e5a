"""Activating hosting: who may, what is refused, one activation for all who ask, and three spellings of one path."""

from collections.abc import AsyncIterator

import httpx
import pytest

from cutroom.accounts.plans import PlanName
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.settings import Settings
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring, Person
from tests.products.conftest import Spoken


@pytest.fixture
async def hosting_api(service: RequestMiddleware, key: Keyring, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """A caller of an installation that has a provider."""
    runtime: Runtime = service._app.state.runtime  # type: ignore[attr-defined]  # the edge knows no application
    held = runtime.settings
    object.__setattr__(runtime, "settings", settings.model_copy(update={"mux_token_id": "token"}))
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://cutroom.test", headers=key.headers) as client:
        yield client
    object.__setattr__(runtime, "settings", held)


async def put_source(spoken: Spoken) -> str:
    row = {
        "library_id": spoken.library_id,
        "video_id": spoken.video_id,
        "type": "upload",
        "storage_path": "source",
        "size_bytes": 5,
        "created_at": system_clock(),
    }
    await insert(spoken.accounts.connection, "sources", row)
    return f"/v1/videos/{spoken.video_id}/professional-hosting"


async def test_an_activation_is_queued_once(hosting_api: httpx.AsyncClient, spoken: Spoken) -> None:
    path = await put_source(spoken)
    before = (await hosting_api.get(path)).json()
    assert before == {
        "videoId": spoken.video_id,
        "status": "inactive",
        "canActivate": True,
        "packagingProvider": "shaka",
    }
    first, second = await hosting_api.post(path, json={}), await hosting_api.post(path)
    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json() == second.json()
    assert (first.json()["status"], first.json()["packagingProvider"]) == ("queued", "mux")
    count = await spoken.accounts.connection.fetchval(
        "SELECT count(*) FROM outbox WHERE workflow = 'hosting' AND library_id = $1", spoken.library_id
    )
    assert count == 1
    assert (await hosting_api.get(f"/v1/jobs/hosting_{spoken.video_id}")).status_code == 404  # no job on the wire
    jobs = (await hosting_api.get(f"/v1/videos/{spoken.video_id}/jobs")).json()["jobs"]
    assert [job["type"] for job in jobs] == ["transcript"]


@pytest.mark.parametrize("plan", [PlanName.FREE, PlanName.CREATOR])
async def test_a_plan_that_is_too_small_is_refused(
    hosting_api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts, person: Person, plan: PlanName
) -> None:
    path = await put_source(spoken)
    await accounts.connection.execute("UPDATE libraries SET plan = $2 WHERE id = $1", person.library_id, plan.value)
    answer = await hosting_api.post(path, json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    assert answer.json()["error"]["details"] == {"reason": "plan_required"}
    assert (await hosting_api.get(path)).json()["reason"] == "plan_required"


async def test_without_a_file_there_is_nothing_to_host(hosting_api: httpx.AsyncClient, spoken: Spoken) -> None:
    path = f"/v1/videos/{spoken.video_id}/professional-hosting"
    answer = await hosting_api.post(path, json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
    assert answer.json()["error"]["details"] == {"reason": "missing_input"}


async def test_without_a_provider_nothing_is_begun(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await put_source(spoken)
    answer = await api.post(f"/videos/{spoken.video_id}/professional-hosting", json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")


async def test_one_key_covers_every_spelling_of_the_path(hosting_api: httpx.AsyncClient, spoken: Spoken) -> None:
    path, key = await put_source(spoken), {"Idempotency-Key": "once"}
    first = await hosting_api.post(path, json={}, headers=key)
    for spelling in (f"{path}/", path.removeprefix("/v1"), f"{path.removeprefix('/v1')}/"):
        answer = await hosting_api.post(spelling, json={}, headers=key)
        assert (answer.status_code, answer.json()) == (first.status_code, first.json())
        assert answer.headers["idempotency-replayed"] == "true"
    other = await hosting_api.post(path, json={"a": 1}, headers=key)
    assert other.json()["error"]["code"] == "IDEMPOTENCY_REPLAY"


async def test_events_without_a_good_signature_are_refused(anonymous: httpx.AsyncClient) -> None:
    answer = await anonymous.post("http://cutroom.test/hosting/mux/events", content=b"{}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
