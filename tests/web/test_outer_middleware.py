"""Unknown paths, wrong methods, path normalization and unexpected errors."""

import httpx
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from starlette.types import Receive, Scope, Send

from cutroom.platform.telemetry import AccessLog
from cutroom.web.outer_middleware import RequestMiddleware


@pytest.mark.parametrize("path", ["/nothing", "/videos/a/b/c", "/../etc/passwd"])
async def test_unknown_path_is_not_found(api: httpx.AsyncClient, path: str) -> None:
    response = await api.get(path)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert "x-request-id" in response.headers


async def test_405_lists_allowed_methods(api: httpx.AsyncClient) -> None:
    response = await api.put("/folders")
    assert (response.status_code, response.json()["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert response.headers["allow"] == "GET, POST"


async def test_trailing_slash_is_ignored(api: httpx.AsyncClient) -> None:
    assert (await api.get("/videos/")).json() == {"videos": []}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/upload-and-caption"),
        ("POST", "/upload-and-dub"),
        ("GET", "/videos/01j9z3k4m5n6p7q8r9s0t1v2w3/subtitles/en/download"),
    ],
)
async def test_retired_operations_return_410(anonymous: httpx.AsyncClient, method: str, path: str) -> None:
    response = await anonymous.request(method, path)
    assert response.status_code == 410
    assert response.json()["error"] == {"code": "GONE", "message": "This operation has been retired.", "details": {}}
    assert response.headers["x-request-id"]


async def test_health_needs_no_key(anonymous: httpx.AsyncClient) -> None:
    assert (await anonymous.get("/health")).json() == {"ok": True, "version": "v1"}


async def test_unexpected_error_becomes_500_and_is_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def broken(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("with cr_0123456789abcdef in it")

    registry = CollectorRegistry()
    middleware = RequestMiddleware(broken, registry=registry, tracer=None, access_log=AccessLog("INFO"))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=middleware), base_url="http://cutroom.test"
    ) as client:
        response = await client.get("/cr_0123456789abcdef?token=secret")
    assert response.json() == {"error": {"code": "INTERNAL", "message": "An unexpected error occurred.", "details": {}}}
    printed = capsys.readouterr().out
    assert "cr_…" in printed
    assert "0123456789abcdef" not in printed
    assert "secret" not in printed
    counted = 'cutroom_requests_total{method="GET",route="unmatched",status="500"} 1.0'
    assert counted in generate_latest(registry).decode()
