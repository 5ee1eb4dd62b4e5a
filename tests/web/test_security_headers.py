"""Requests every route, and checks the security headers of every kind of response."""

import re
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from starlette.requests import Request
from starlette.routing import Mount, Route
from starlette.types import Message

from cutroom.accounts.sessions import AuthenticatedUser, SessionService
from cutroom.console.framework.forms import MAX_FORM_BYTES, read_fields
from cutroom.entrypoints.http_protocol import EnvelopeProtocol
from cutroom.errors import CutroomError
from cutroom.platform.telemetry import AccessLog
from cutroom.web import body
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime
from cutroom.web.security_headers import HSTS, NO_CONTENT_POLICY
from dev.scratch import Keyring, Person

ALWAYS = ("x-content-type-options", "content-security-policy", "referrer-policy", "cross-origin-resource-policy")
UNKNOWN = "01j9z3k4m5n6p7q8r9s0t1v2w3"
MEDIA = ("/files/", "/media/")
STREAMS = frozenset({"/v1/events/stream", "/events"})  # they do not end, for which this client would wait


def check(response: httpx.Response) -> None:
    shown = (response.request.method, response.request.url.path, response.status_code)
    for name in ALWAYS:
        assert len(response.headers.get_list(name)) == 1, (*shown, name)
    assert response.headers["x-content-type-options"] == "nosniff", shown
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy, shown
    is_media = response.request.url.path.startswith(MEDIA)
    assert "frame-ancestors 'none'" in policy or is_media, shown
    if response.headers.get("content-type") == "application/json" and not is_media:
        assert policy == NO_CONTENT_POLICY or "script-src 'self'" in policy, shown
    if response.status_code != 405:  # of media, there is nothing to embed
        expected = "cross-origin" if is_media else "same-origin"
        assert response.headers["cross-origin-resource-policy"] == expected, shown
    assert response.headers["strict-transport-security"] == HSTS, shown


@pytest.fixture
def application(service: RequestMiddleware) -> FastAPI:
    app = service._app
    assert isinstance(app, FastAPI)
    return app


@pytest.fixture
async def client(application: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service whose public URL is https; errors in routes fail the test."""
    served = RequestMiddleware(
        application, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("ERROR"), is_secure=True
    )
    transport = httpx.ASGITransport(app=served)
    async with httpx.AsyncClient(transport=transport, base_url="http://cutroom.test") as client:
        yield client


def routes(application: FastAPI) -> Iterator[tuple[str, frozenset[str]]]:
    """The path of every route, with values for its parameters, and its methods."""
    for route in application.routes:
        if isinstance(route, Route):
            yield re.sub(r"\{[^}]+\}", UNKNOWN, route.path), frozenset(route.methods or ())
        else:
            assert isinstance(route, Mount), route


async def test_every_route_without_credentials(application: FastAPI, client: httpx.AsyncClient) -> None:
    found = list(routes(application))
    assert len(found) > 150
    statuses = set()
    for path, methods in found:
        for method in sorted(methods):
            response = await client.request(method, path)
            check(response)
            statuses.add(response.status_code)
    assert {200, 204, 303, 400, 401, 403, 404, 410} <= statuses


async def test_every_route_with_a_wrong_method(application: FastAPI, client: httpx.AsyncClient) -> None:
    for path in {path for path, _ in routes(application)}:
        response = await client.request("REPORT", path)
        assert response.status_code == 405, path
        check(response)


@pytest.fixture
async def signed_in(client: httpx.AsyncClient, runtime: Runtime, person: Person) -> httpx.AsyncClient:
    service = SessionService(secret_box=runtime.secret_box, plans=runtime.authenticator.plans)
    async with runtime.database.connection() as connection:
        user = AuthenticatedUser(person.user_id, person.library_id)
        client.cookies.set("cutroom-session", await service.create(connection, user, now=runtime.clock()))
    return client


async def test_every_readable_route_with_credentials(
    application: FastAPI, signed_in: httpx.AsyncClient, key: Keyring
) -> None:
    signed_in.headers.update(key.headers)
    succeeded = 0
    for path, methods in routes(application):
        for method in methods & {"GET", "HEAD"} if path not in STREAMS else ():
            response = await signed_in.request(method, path)
            check(response)
            succeeded += response.status_code == 200
    assert succeeded > 40


async def test_other_responses(client: httpx.AsyncClient) -> None:
    for path, status in {
        "/static/console.css": 200,
        "/static/none.css": 404,
        "/docs/assets/swagger-ui.css": 200,
        "/nothing/here": 404,
        "/v1/nothing": 404,
    }.items():
        response = await client.get(path)
        assert response.status_code == status, path
        check(response)


async def test_reference_allows_its_own_script_only(client: httpx.AsyncClient) -> None:
    response = await client.get("/docs")
    policy = dict(rule.split(" ", 1) for rule in response.headers["content-security-policy"].split("; "))
    assert policy["script-src"].startswith("'self' 'sha256-")
    assert "unsafe-inline" not in policy["script-src"]
    assert response.text.count("<script>") == policy["script-src"].count("sha256-")


async def test_unexpected_errors_have_the_headers() -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError

    served = RequestMiddleware(
        broken, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("ERROR"), is_secure=True
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=served), base_url="http://cutroom.test") as client:
        response = await client.get("/v1/videos")
    assert response.status_code == 500
    check(response)


async def test_http_does_not_promise_tls(anonymous: httpx.AsyncClient) -> None:
    assert "strict-transport-security" not in (await anonymous.get("/health")).headers


def test_malformed_http_has_the_headers() -> None:
    written = b""

    class FakeTransport:
        def write(self, data: bytes) -> None:
            nonlocal written
            written += data

        def close(self) -> None:
            pass

    protocol = EnvelopeProtocol.__new__(EnvelopeProtocol)
    protocol.transport = FakeTransport()  # type: ignore[assignment]
    protocol.send_400_response("Invalid HTTP request received.")
    for name in ALWAYS:
        assert f"\r\n{name}: ".encode() in written


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
async def test_declared_oversized_form_is_rejected_unread(kind: str) -> None:
    async def receive() -> Message:
        raise AssertionError("The body was read.")

    headers = [(b"content-type", kind.encode()), (b"content-length", b"9" * 30)]
    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    read = body.read_form if body.is_form(request) else read_fields
    with pytest.raises(CutroomError) as refused:
        await read(request)
    assert refused.value.status == 400


async def test_undeclared_oversized_form_is_rejected_while_it_is_read() -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"a" * MAX_FORM_BYTES, "more_body": True}

    headers = [(b"content-type", b"application/x-www-form-urlencoded")]
    with pytest.raises(CutroomError) as refused:
        await read_fields(Request({"type": "http", "method": "POST", "headers": headers}, receive))
    assert refused.value.status == 400
