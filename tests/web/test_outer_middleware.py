"""Unknown paths, wrong methods, path normalization and unexpected errors."""

import httpx
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cutroom.platform.telemetry import AccessLog
from cutroom.web.outer_middleware import RequestMiddleware

ENDLESS = "/v1/events/stream"  # its HEAD is tested with the event log


@pytest.mark.parametrize("path", ["/nothing", "/videos/a/b/c", "/../etc/passwd"])
async def test_unknown_path_is_not_found(api: httpx.AsyncClient, path: str) -> None:
    response = await api.get(path)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert "x-request-id" in response.headers


async def test_405_lists_allowed_methods(api: httpx.AsyncClient) -> None:
    response = await api.put("/folders")
    assert (response.status_code, response.json()["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert response.headers["allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/v1/health", "GET, HEAD"),
        ("POST", "/v1/openapi.json", "GET, HEAD"),
        ("DELETE", "/v1/videos/a/jobs", "GET, HEAD"),
        ("HEAD", "/v1/videos/a/quote", "POST"),
        ("HEAD", "/v1/upload-and-dub", "POST"),
        ("PUT", "/v1/voices/add", "POST"),
        ("OPTIONS", "/v1/folders", "GET, HEAD, POST"),
        ("POST", "/library", "GET, HEAD"),
        ("PUT", "/sign-in", "GET, HEAD, POST"),
        ("POST", "/static/console.css", "GET, HEAD"),
        ("POST", "/docs", "GET, HEAD"),
        ("POST", "/media/a/b/c/d.mp4", "GET, HEAD, OPTIONS"),
        ("DELETE", "/files/a/libraries/b/c.mp4", "GET, HEAD, OPTIONS"),
    ],
)
async def test_405_has_allow_everywhere(anonymous: httpx.AsyncClient, method: str, path: str, allowed: str) -> None:
    response = await anonymous.request(method, f"http://cutroom.test{path}")
    assert (response.status_code, response.headers["allow"]) == (405, allowed)
    if method != "HEAD":
        assert response.json()["error"]["code"] == "METHOD_NOT_ALLOWED"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PATCH"])
async def test_405_of_upload_urls_has_allow(anonymous: httpx.AsyncClient, method: str) -> None:
    response = await anonymous.request(method, "http://cutroom.test/uploads/a")
    assert (response.status_code, response.headers["allow"]) == (405, "DELETE, OPTIONS, POST, PUT")
    response = await anonymous.request(method, "http://cutroom.test/upload/storage/v1/b/cutroom/o")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def same_headers(head: httpx.Response, get: httpx.Response) -> bool:
    """Whether both have the same headers; request ids, dates and rate limits differ between any two requests."""
    volatile = {"x-request-id", "date", "ratelimit-remaining", "ratelimit-reset", "set-cookie"}
    of_head, of_get = (
        {name: value for name, value in response.headers.items() if name not in volatile} for response in (head, get)
    )
    return of_head == of_get and set(head.headers) == set(get.headers)


async def test_head_answers_wherever_get_does(api: httpx.AsyncClient) -> None:
    """Every documented GET operation but the endless one, and the pages next to the API, with an unknown id."""
    document = (await api.get("/openapi.json")).json()
    operations = [path for path, item in document["paths"].items() if "get" in item and path != ENDLESS]
    paths = [path.replace("{", "").replace("}", "") for path in operations]
    assert ENDLESS in document["paths"]
    assert len(paths) > 20
    pages = ["/v1/openapi.json", "/docs", "/docs/assets/swagger-ui.css", "/", "/library?q=a", "/sign-in", "/none"]
    pages += ["/static/console.css", "/media/a/b/c/d.mp4", "/files/a/libraries/b/c.mp4"]
    pages += ["/v1/videos?limit=0", "/v1/videos/a/subtitles/en/download"]
    for path in [*paths, *pages]:
        url = f"http://cutroom.test{path}"
        get, head = await api.get(url), await api.head(url)
        assert (head.status_code, head.content) == (get.status_code, b""), path
        assert same_headers(head, get), (path, head.headers, get.headers)
    assert all("head" not in item for item in document["paths"].values())


async def test_head_that_runs_as_get_stays_head_for_the_server_and_metrics() -> None:
    async def runs_as_get(scope: Scope, receive: Receive, send: Send) -> None:
        scope["method"] = "GET"
        await Response("body")(scope, receive, send)

    registry, seen = CollectorRegistry(), []
    middleware = RequestMiddleware(runs_as_get, registry=registry, tracer=None, access_log=AccessLog("WARNING"))

    async def server(scope: Scope, receive: Receive, send: Send) -> None:
        await middleware(scope, receive, send)
        seen.append(scope["method"])

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=server), base_url="http://cutroom.test") as client:
        await client.head("/")
    assert seen == ["HEAD"]
    assert 'cutroom_requests_total{method="HEAD",' in generate_latest(registry).decode()


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
