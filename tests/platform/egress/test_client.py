"""Egress client against a fake internet: addresses, redirects, limits and timeouts."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_network

import pytest

from cutroom.platform.egress import client as module
from cutroom.platform.egress.client import Egress, EgressResponse, TooLargeError, UnreachableError
from tests.support.hostile_urls import egress_sinks, hostile_urls, serve_hostile_names
from tests.support.network_namespace import (
    PUBLIC,
    PUBLIC_2,
    PUBLIC_V6,
    FakeInternet,
    ReceivedRequest,
    in_namespace,
    open_internet,
    reply,
    unavailable_reason,
)

pytestmark = pytest.mark.skipif(unavailable_reason() is not None, reason=unavailable_reason() or "")

URL = "https://site.com/"
MEGABYTE = b"x" * 1024 * 1024


@asynccontextmanager
async def site(
    behaviour: Callable[[ReceivedRequest, asyncio.StreamWriter], Awaitable[None]],
) -> AsyncIterator[tuple[FakeInternet, Egress]]:
    """A public server at site.com and other.com, and an egress client."""
    async with open_internet() as internet:
        await internet.serve(["site.com", "other.com", PUBLIC], behaviour)
        egress = Egress(tls=internet.authority.trust())
        yield internet, egress
        egress.close()
        assert internet.canaries.connections == []


async def echo(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(reply(200, request.method.encode() + b" " + request.path.encode() + b" " + request.body))


@in_namespace
async def test_public_url_is_fetched_by_name_and_address() -> None:
    async with site(echo) as (internet, egress):
        assert await egress.fetch("https://site.com/a?b", max_bytes=100) == b"GET /a?b "
        assert await egress.fetch(f"https://{PUBLIC}/", max_bytes=100) == b"GET / "
        await internet.serve(["six.com", PUBLIC_V6], echo, address=PUBLIC_V6, port=8443)
        assert await egress.fetch(f"https://[{PUBLIC_V6}]:8443/", max_bytes=100) == b"GET / "
        assert await egress.fetch("https://six.com:8443/", max_bytes=100) == b"GET / "
        assert [request.host for request in internet.requests][-2:] == [f"[{PUBLIC_V6}]:8443", "six.com:8443"]
        assert internet.requests[0].headers["accept-encoding"] == "identity"


@in_namespace
async def test_host_is_resolved_once_per_connection() -> None:
    async with site(echo) as (internet, egress):
        internet.names.set("site.com", [PUBLIC], ["127.0.0.1"])  # DNS rebinding: a second lookup returns loopback
        assert await egress.fetch(URL, max_bytes=100) == b"GET / "
        assert internet.names.lookups["site.com"] == 1
        with pytest.raises(UnreachableError):
            await egress.fetch(URL, max_bytes=100)


@in_namespace
async def test_next_address_is_tried_after_a_failed_connection() -> None:
    async with site(echo) as (internet, egress):
        await internet.serve(["two.com"], echo, address=PUBLIC_2, port=44444)
        internet.names.set("two.com", [PUBLIC, PUBLIC_2])
        assert await egress.fetch("https://two.com:44444/", max_bytes=100) == b"GET / "


@in_namespace
async def test_failures_are_indistinguishable_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="cutroom.egress")
    async with site(echo) as (internet, egress):
        internet.names.set("untrusted.com", [PUBLIC])
        internet.names.set("private.com", ["10.0.0.1"])
        urls = ["https://missing.com/", "https://untrusted.com/", "https://private.com/?token=secret"]
        urls += [f"https://{PUBLIC}:44444/", "http://site.com/", "https://user:secret@site.com/"]
        faces = set()
        for url in urls:
            with pytest.raises(UnreachableError) as caught:
                await egress.fetch(url, max_bytes=100)
            faces.add((str(caught.value), caught.value.__cause__))
        assert len(faces) == 1
    reasons = " ".join(str(getattr(record, "reason", "")) for record in caplog.records)
    for word in ("Name or service", "CERTIFICATE", "10.0.0.1: private", "ConnectError", "not an https"):
        assert word in reasons
    logged = " ".join(str(vars(record)) for record in caplog.records)
    for word in ("secret", "missing.com", "untrusted.com", "private.com", "site.com"):  # logs outlive the caller's URLs
        assert word not in logged


@in_namespace
async def test_operator_denied_networks_are_unreachable() -> None:
    async with site(echo) as (internet, egress):
        assert await egress.fetch(URL, max_bytes=100)
        guarded = Egress(denied=[ip_network("8.8.4.0/24")], tls=internet.authority.trust())
        with pytest.raises(UnreachableError):
            await guarded.fetch(URL, max_bytes=100)
        guarded.close()


@in_namespace
async def test_hostile_urls_fail_like_a_missing_host() -> None:
    async with open_internet() as internet:
        await serve_hostile_names(internet)
        egress = Egress(tls=internet.authority.trust())
        fetch = egress_sinks(egress)[0]
        responses = set()
        for url in list(hostile_urls())[::3]:  # the proof covers all of them
            internet.names.lookups.clear()
            responses.add(await fetch.fetch(url))
        egress.close()
        assert responses == {str(UnreachableError())}
        assert internet.canaries.connections == []


@in_namespace
async def test_redirects_are_limited_to_three() -> None:
    async def hop(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        left = int(request.path.strip("/"))
        writer.write(reply(302, Location=f"/{left - 1}") if left else reply(200, b"end"))

    async with site(hop) as (_, egress):
        async with egress.stream("GET", "https://site.com/3", max_bytes=100) as response:
            assert (response.status, response.final_url) == (200, "https://site.com/0")
        with pytest.raises(UnreachableError):
            await egress.fetch("https://site.com/4", max_bytes=100)


@in_namespace
async def test_caller_headers_are_dropped_on_other_hosts() -> None:
    async def hop(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(302, Location="https://other.com/") if request.host == "site.com" else reply(200))

    headers = {"Authorization": "secret", "Range": "bytes=0-1", "Host": "evil.com"}
    async with site(hop) as (internet, egress), egress.stream("GET", URL, headers=headers, max_bytes=100):
        first, second = internet.requests
        assert (first.headers["authorization"], first.host) == ("secret", "site.com")
        assert "authorization" not in second.headers
        assert (second.headers["range"], second.host) == ("bytes=0-1", "other.com")


@in_namespace
async def test_post_follows_no_redirect_and_truncates_the_response() -> None:
    async def receiver(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(307, Location="https://other.com/") if request.path == "/hop" else reply(410, MEGABYTE))

    async with site(receiver) as (internet, egress):
        response = await egress.post("https://site.com/hop", b"{}", headers={"webhook-id": "1"})
        assert (response.status, len(internet.requests)) == (307, 1)
        assert (internet.requests[0].body, internet.requests[0].headers["webhook-id"]) == (b"{}", "1")
        response = await egress.post(URL, b"{}", headers={})
        assert (response.status, len(response.body)) == (410, module.MAX_POST_RESPONSE_BYTES)


@in_namespace
async def test_body_limit_applies_with_and_without_content_length() -> None:
    async def endless(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        length = "Content-Length: 5000000\r\n" if request.path == "/declared" else ""
        writer.write(f"HTTP/1.1 200 OK\r\n{length}\r\n".encode())
        while True:
            writer.write(MEGABYTE)
            await writer.drain()

    async with site(endless) as (_, egress):
        for path in ("declared", "endless"):
            with pytest.raises(TooLargeError):
                await egress.fetch(f"https://site.com/{path}", max_bytes=3_000_000)


@in_namespace
async def test_compressed_response_is_rejected() -> None:
    async def gzip(_: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, b"bomb", Content_Encoding="gzip"))

    async with site(gzip) as (_, egress):
        with pytest.raises(UnreachableError):
            await egress.fetch(URL, max_bytes=100)


@in_namespace
async def test_header_size_is_limited() -> None:
    async def verbose(_: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, X_Long="x" * (module.MAX_HEADER_BYTES + 1)))

    async with site(verbose) as (_, egress):
        with pytest.raises(UnreachableError):
            await egress.fetch(URL, max_bytes=100)


async def hang(_: ReceivedRequest, __: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def drip(_: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


@in_namespace
async def test_timeout_covers_the_whole_exchange() -> None:
    for behaviour in (hang, drip):
        async with site(behaviour) as (_, egress):
            started = time.monotonic()
            with pytest.raises(UnreachableError):
                await egress.fetch(URL, max_bytes=10_000, timeout_seconds=0.5)
            assert time.monotonic() - started < 2


def test_slow_body_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RATE_WINDOW_SECONDS", 0.2)

    @in_namespace
    async def work() -> None:
        async with site(drip) as (_, egress):
            started = time.monotonic()
            with pytest.raises(UnreachableError):
                await egress.fetch(URL, max_bytes=10_000, timeout_seconds=30)
            assert time.monotonic() - started < 3

    work()


@in_namespace
async def test_malformed_response_is_unreachable() -> None:
    async def broken(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write({"/cut": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"}.get(request.path, b"SSH-2.0-x\r\n\r\n"))

    async with site(broken) as (_, egress):
        for path in ("cut", "ssh"):
            with pytest.raises(UnreachableError):
                await egress.fetch(f"https://site.com/{path}", max_bytes=100)


@in_namespace
async def test_reader_errors_are_not_masked() -> None:
    async def read(response: EgressResponse) -> None:
        async for _ in response:
            raise OSError("disk full")

    async with site(echo) as (_, egress):
        with pytest.raises(OSError, match="disk full"):
            async with egress.stream("GET", URL, max_bytes=100) as response:
                await read(response)


@in_namespace
async def test_environment_proxies_are_ignored() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HTTPS_PROXY", "http://127.0.0.1:8080")
        patch.setenv("ALL_PROXY", "http://127.0.0.1:8080")
        async with site(echo) as (_, egress):
            assert await egress.fetch(URL, max_bytes=100) == b"GET / "
