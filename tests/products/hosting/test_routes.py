"""Tests for hosting routes: permissions, deduplication and path variants."""

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
from tests.products.conftest import TranscribedVideo


@pytest.fixture
async def hosting_api(service: RequestMiddleware, key: Keyring, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """An API client of an installation with a hosting provider."""
    runtime: Runtime = service._app.state.runtime  # type: ignore[attr-defined]  # the middleware has no typed application
    original_settings = runtime.settings
    object.__setattr__(runtime, "settings", settings.model_copy(update={"mux_token_id": "token"}))
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://cutroom.test", headers=key.headers) as client:
        yield client
    object.__setattr__(runtime, "settings", original_settings)


async def insert_source(transcribed: TranscribedVideo) -> str:
    row = {
        "library_id": transcribed.library_id,
        "video_id": transcribed.video_id,
        "type": "upload",
        "storage_path": "source",
        "size_bytes": 5,
        "created_at": system_clock(),
    }
    await insert(transcribed.accounts.connection, "sources", row)
    return f"/v1/videos/{transcribed.video_id}/professional-hosting"


async def test_activation_is_queued_once(hosting_api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    path = await insert_source(transcribed)
    before = (await hosting_api.get(path)).json()
    assert before == {
        "videoId": transcribed.video_id,
        "status": "inactive",
        "canActivate": True,
        "packagingProvider": "shaka",
    }
    first, second = await hosting_api.post(path, json={}), await hosting_api.post(path)
    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json() == second.json()
    assert (first.json()["status"], first.json()["packagingProvider"]) == ("queued", "mux")
    count = await transcribed.accounts.connection.fetchval(
        "SELECT count(*) FROM outbox WHERE workflow = 'hosting' AND library_id = $1", transcribed.library_id
    )
    assert count == 1
    assert (
        await hosting_api.get(f"/v1/jobs/hosting_{transcribed.video_id}")
    ).status_code == 404  # internal jobs are not exposed
    jobs = (await hosting_api.get(f"/v1/videos/{transcribed.video_id}/jobs")).json()["jobs"]
    assert [job["type"] for job in jobs] == ["transcript"]


@pytest.mark.parametrize("plan", [PlanName.FREE, PlanName.CREATOR])
async def test_insufficient_plan_is_rejected(
    hosting_api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts, person: Person, plan: PlanName
) -> None:
    path = await insert_source(transcribed)
    await accounts.connection.execute("UPDATE libraries SET plan = $2 WHERE id = $1", person.library_id, plan.value)
    response = await hosting_api.post(path, json={})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    assert response.json()["error"]["details"] == {"reason": "plan_required"}
    assert (await hosting_api.get(path)).json()["reason"] == "plan_required"


async def test_missing_source_is_rejected(hosting_api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    path = f"/v1/videos/{transcribed.video_id}/professional-hosting"
    response = await hosting_api.post(path, json={})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
    assert response.json()["error"]["details"] == {"reason": "missing_input"}


async def test_missing_provider_is_rejected(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    await insert_source(transcribed)
    path = f"/videos/{transcribed.video_id}/professional-hosting"
    response = await api.post(path, json={})
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (409, "FAILED_PRECONDITION")
    assert (error["message"], error["details"]) == ("No hosting provider is configured.", {"reason": "no_provider"})
    status = (await api.get(path)).json()
    assert (status["canActivate"], status["reason"]) == (False, "missing_input")
    assert status["message"] == "No hosting provider is configured."


async def test_idempotency_key_covers_all_path_variants(
    hosting_api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    path, key = await insert_source(transcribed), {"Idempotency-Key": "once"}
    first = await hosting_api.post(path, json={}, headers=key)
    for spelling in (f"{path}/", path.removeprefix("/v1"), f"{path.removeprefix('/v1')}/"):
        response = await hosting_api.post(spelling, json={}, headers=key)
        assert (response.status_code, response.json()) == (first.status_code, first.json())
        assert response.headers["idempotency-replayed"] == "true"
    other = await hosting_api.post(path, json={"a": 1}, headers=key)
    assert other.json()["error"]["code"] == "IDEMPOTENCY_REPLAY"


async def test_events_without_a_valid_signature_are_rejected(anonymous: httpx.AsyncClient) -> None:
    response = await anonymous.post("http://cutroom.test/hosting/mux/events", content=b"{}")
    assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
