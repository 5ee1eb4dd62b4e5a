"""Limits of a library and an account over HTTP, against many keys."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from prometheus_client import CollectorRegistry

from cutroom.accounts.plans import PlanName
from cutroom.entrypoints.api import build_app
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import AccessLog
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import open_runtime
from dev.scratch import Accounts, Person, write_plans

FREE_WORK, RATE, ACCOUNT_FREE_WORK = 3, 10, 5
UPLOAD = {"source": {"type": "upload"}}


@pytest.fixture
async def tight(settings: Settings, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """An API process whose free plan has low limits per library."""
    limits = {"library_free_work_per_day": FREE_WORK, "library_requests_per_minute": RATE}
    plans = write_plans(tmp_path / "plans.toml", free=limits)
    changed = {"plans_file": plans, "account_free_work_per_day": ACCOUNT_FREE_WORK}
    app = build_app(lambda: open_runtime(settings.model_copy(update=changed)))
    async with app.router.lifespan_context(app):
        edge = RequestMiddleware(app, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("WARNING"))
        transport = httpx.ASGITransport(app=edge)
        async with httpx.AsyncClient(transport=transport, base_url="http://cutroom.test/v1") as client:
            yield client


@pytest.fixture
async def owner(accounts: Accounts) -> Person:
    return await accounts.person(PlanName.FREE)


async def test_many_keys_do_not_multiply_free_work(tight: httpx.AsyncClient, accounts: Accounts, owner: Person) -> None:
    bodies = [UPLOAD, {"source": {"type": "https", "url": "https://example.com/"}}, {}]  # work, and failed attempts
    responses = []
    for body in [*bodies, UPLOAD, UPLOAD]:
        key = await accounts.key(owner)
        responses.append(await tight.post("/videos", json=body, headers=key.headers))
    assert [each.status_code == 429 for each in responses] == [False, False, False, True, True]
    refused = responses[-1]
    assert refused.json()["error"]["code"] == "RATE_LIMITED"
    assert refused.json()["error"]["details"] == {"limit": "free_work", "per": "library"}
    assert int(refused.headers["Retry-After"]) > 3_600
    assert (await tight.get("/videos", headers=(await accounts.key(owner)).headers)).status_code == 200


async def test_many_libraries_do_not_multiply_free_work(
    tight: httpx.AsyncClient, accounts: Accounts, owner: Person
) -> None:
    refused = []
    for _ in range(ACCOUNT_FREE_WORK + 2):
        workspace_id = await accounts.workspace(owner, plan=PlanName.FREE)
        key = await accounts.key(owner, library_id=workspace_id)
        response = await tight.post("/videos", json=UPLOAD, headers=key.headers)
        if response.status_code == 429:
            refused.append(response.json()["error"]["details"])
    assert refused == [{"limit": "free_work", "per": "account"}] * 2


async def test_many_keys_do_not_multiply_the_rate(tight: httpx.AsyncClient, accounts: Accounts, owner: Person) -> None:
    keys = [await accounts.key(owner) for _ in range(RATE + 2)]
    responses = [await tight.get("/videos", headers=key.headers) for key in keys]
    assert [each.status_code for each in responses] == [*[200] * RATE, 429, 429]
    refused = responses[-1]
    assert refused.json()["error"]["details"] == {"limit": "rate", "per": "library"}
    assert refused.headers["RateLimit-Limit"] == str(RATE)
    assert int(refused.headers["Retry-After"]) >= 1
