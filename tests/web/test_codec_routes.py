"""The codec endpoint for operators: off by default, authenticated, and in Temporal's protocol."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from google.protobuf.json_format import MessageToDict
from prometheus_client import CollectorRegistry
from pydantic import SecretStr
from temporalio.api.common.v1 import Payload

from cutroom.entrypoints.api import build_app
from cutroom.platform.payload_codec import payloads_of
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import AccessLog
from cutroom.platform.temporal import data_converter
from cutroom.web.internal.codec_routes import MAX_BYTES, MAX_PAYLOADS, PATH
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime, open_runtime
from dev.scratch import Accounts, Keyring, Person

TOKEN = "an operator's token of sufficient length"
ORIGIN = "https://temporal.example.com"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "X-Namespace": "default"}
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=b'"a title"')


@asynccontextmanager
async def api_process(settings: Settings, **changed: object) -> AsyncIterator[httpx.AsyncClient]:
    app = build_app(lambda: open_runtime(settings.model_copy(update=changed)))
    served = RequestMiddleware(app, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("WARNING"))
    transport = httpx.ASGITransport(app=served, client=("10.9.8.7", 4000))
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://a") as client:
        yield client


@pytest.fixture
async def operator(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with api_process(settings, codec_token=SecretStr(TOKEN), codec_origin=ORIGIN) as client:
        yield client


@pytest.fixture
async def body(runtime: Runtime, person: Person) -> dict[str, Any]:
    """An encrypted payload, as Temporal's UI sends it."""
    codec = data_converter(runtime.settings, database=runtime.database).payload_codec
    assert codec is not None
    with payloads_of(person.library_id):
        return {"payloads": [MessageToDict(each) for each in await codec.encode([PLAIN])]}


async def test_payloads_are_decoded(operator: httpx.AsyncClient, body: dict[str, Any]) -> None:
    body["payloads"].append(MessageToDict(PLAIN))
    response = await operator.post(PATH, json=body, headers=HEADERS)
    assert response.status_code == 200, response.text
    assert response.json() == {"payloads": [MessageToDict(PLAIN)] * 2}
    assert response.headers["access-control-allow-origin"] == ORIGIN
    assert response.headers["cache-control"] == "no-store"


async def test_erased_and_damaged_payloads_are_returned_as_they_are(
    operator: httpx.AsyncClient, body: dict[str, Any], accounts: Accounts, person: Person
) -> None:
    await accounts.connection.execute("DELETE FROM data_keys WHERE library_id = $1", person.library_id)
    [sealed] = body["payloads"]
    bad_names = [base64.b64encode(each).decode() for each in (b"\xff", b"a\0b", b"")]
    damaged = [{**sealed, "metadata": {**sealed["metadata"], "library": each}} for each in bad_names]
    sent = {"payloads": [sealed, *damaged, MessageToDict(PLAIN)]}
    response = await operator.post(PATH, json=sent, headers=HEADERS)
    assert (response.status_code, response.json()) == (200, sent)


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN, f"Basic {TOKEN}"]
)
async def test_wrong_token_is_refused(
    operator: httpx.AsyncClient, body: dict[str, Any], authorization: str | None
) -> None:
    headers = {"Authorization": authorization} if authorization is not None else {}
    response = await operator.post(PATH, json=body, headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (401, "UNAUTHENTICATED")


async def test_api_key_is_refused(operator: httpx.AsyncClient, body: dict[str, Any], key: Keyring) -> None:
    assert (await operator.post(PATH, json=body, headers=key.headers)).status_code == 401


async def test_guesses_are_limited(settings: Settings, body: dict[str, Any]) -> None:
    changed = {"codec_token": SecretStr(TOKEN), "failed_credentials_per_minute": 3}
    async with api_process(settings, **changed) as client:
        statuses = [(await client.post(PATH, json=body)).status_code for _ in range(60)]
    assert set(statuses) == {401, 429}


async def test_endpoint_is_off_unless_configured(settings: Settings, body: dict[str, Any]) -> None:
    async with api_process(settings) as client:
        for method in ("POST", "OPTIONS", "GET"):
            response = await client.request(method, PATH, json=body, headers=HEADERS)
            assert response.status_code == 404
            assert "access-control-allow-origin" not in response.headers


async def test_preflight_of_a_browser_is_answered(operator: httpx.AsyncClient) -> None:
    response = await operator.options(PATH, headers={"Origin": ORIGIN, "Access-Control-Request-Method": "POST"})
    assert response.status_code == 204
    assert "Authorization" in response.headers["access-control-allow-headers"]
    assert (await operator.get(PATH, headers=HEADERS)).status_code == 405


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"payloads": 1}',
        b"\xff",
        b"[" * 5_000,
        json.dumps({"payloads": [{}] * (MAX_PAYLOADS + 1)}).encode(),
        b" " * (MAX_BYTES + 1),
    ],
    ids=["empty", "number", "bytes", "nested", "many", "large"],
)
async def test_unusable_body_is_refused(operator: httpx.AsyncClient, content: bytes) -> None:
    response = await operator.post(PATH, content=content, headers=HEADERS)
    assert response.status_code in {400, 413}, response.text
