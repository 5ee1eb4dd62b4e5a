"""The edge: unknown paths, wrong methods, spelling of paths, errors that nobody foresaw."""

import httpx
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from starlette.types import Receive, Scope, Send

from cutroom.platform.telemetry import AccessLog
from cutroom.web.outer_middleware import RequestMiddleware


@pytest.mark.parametrize("path", ["/nothing", "/videos/a/b/c", "/../etc/passwd"])
async def test_an_unknown_path_is_not_found(api: httpx.AsyncClient, path: str) -> None:
    answer = await api.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert "x-request-id" in answer.headers


async def test_a_wrong_method_names_every_right_one(api: httpx.AsyncClient) -> None:
    answer = await api.put("/folders")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == "GET, POST"


async def test_a_trailing_slash_is_the_same_path(api: httpx.AsyncClient) -> None:
    assert (await api.get("/videos/")).json() == {"videos": []}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/upload-and-caption"),
        ("POST", "/upload-and-dub"),
        ("GET", "/videos/01j9z3k4m5n6p7q8r9s0t1v2w3/subtitles/en/download"),
    ],
)
async def test_retired_operations_are_gone(anonymous: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await anonymous.request(method, path)
    assert answer.status_code == 410
    assert answer.json()["error"] == {"code": "GONE", "message": "This operation has been retired.", "details": {}}
    assert answer.headers["x-request-id"]


async def test_health_needs_no_key(anonymous: httpx.AsyncClient) -> None:
    assert (await anonymous.get("/health")).json() == {"ok": True, "version": "v1"}


async def test_whatever_goes_past_a_route_is_answered_in_the_envelope_and_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def broken(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("with cr_0123456789abcdef in it")

    registry = CollectorRegistry()
    edge = RequestMiddleware(broken, registry=registry, tracer=None, access_log=AccessLog("INFO"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=edge), base_url="http://cutroom.test") as client:
        answer = await client.get("/cr_0123456789abcdef?token=secret")
    assert answer.json() == {"error": {"code": "INTERNAL", "message": "An unexpected error occurred.", "details": {}}}
    printed = capsys.readouterr().out
    assert "cr_…" in printed
    assert "0123456789abcdef" not in printed
    assert "secret" not in printed
    counted = 'cutroom_requests_total{method="GET",route="unmatched",status="500"} 1.0'
    assert counted in generate_latest(registry).decode()
