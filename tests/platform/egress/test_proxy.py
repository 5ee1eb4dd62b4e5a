"""The proxy allows only listed hosts."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from cutroom.platform.egress.addresses import Resolver
from cutroom.platform.egress.proxy import MAX_HEAD_BYTES, USER, Proxy, is_allowed, open_proxy
from tests.support.network_namespace import (
    FakeInternet,
    ReceivedRequest,
    in_namespace,
    open_internet,
    reply,
    unavailable_reason,
)

needs_namespace = pytest.mark.skipif(unavailable_reason() is not None, reason=unavailable_reason() or "")


async def send_file(_: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(reply(200, b"x" * 100_000))


@asynccontextmanager
async def opened(max_bytes: int = 1_000_000) -> AsyncIterator[tuple[FakeInternet, Proxy]]:
    async with open_internet() as internet:
        await internet.serve(["video.site.com", "evilsite.com", "public.site.com"], send_file)
        internet.names.set("private.site.com", ["10.0.0.1"])
        internet.names.set("mixed.site.com", ["8.8.4.4", "127.0.0.1"])
        resolver = Resolver()
        async with open_proxy(resolver, ("site.com",), max_bytes=max_bytes, timeout_seconds=20) as proxy:
            yield internet, proxy
        resolver.close()
        assert internet.canaries.connections == []


async def connect(
    proxy: Proxy, first_line: str, *, password: str | None = None
) -> tuple[str, asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    secret = base64.b64encode(f"{USER}:{proxy.password if password is None else password}".encode()).decode()
    writer.write(f"{first_line}\r\nProxy-Authorization: Basic {secret}\r\n\r\n".encode())
    response = (await reader.readuntil(b"\r\n\r\n")).decode().split(" ")[1]
    return response, reader, writer


async def status(proxy: Proxy, first_line: str, *, password: str | None = None) -> str:
    response, _, writer = await connect(proxy, first_line, password=password)
    writer.close()
    return response


async def through(internet: FakeInternet, proxy: Proxy) -> bytes:
    """Fetches over TLS through the tunnel."""
    response, reader, writer = await connect(proxy, "CONNECT video.site.com:443 HTTP/1.1")
    assert response == "200"
    await writer.start_tls(internet.authority.trust(), server_hostname="video.site.com")
    writer.write(b"GET / HTTP/1.1\r\nHost: video.site.com\r\n\r\n")
    try:
        return await reader.read()
    finally:
        writer.close()


@needs_namespace
@in_namespace
async def test_allowed_host_is_reachable() -> None:
    async with opened() as (internet, proxy):
        assert (await through(internet, proxy)).endswith(b"x" * 100_000)
        assert proxy.transferred_bytes > 100_000
        assert proxy.url == f"http://{USER}:{proxy.password}@127.0.0.1:{proxy.port}"


@needs_namespace
@in_namespace
async def test_other_targets_get_the_same_refusal() -> None:
    async with opened() as (internet, proxy):
        for target in (
            *("evilsite.com:443", "site.com.evil.com:443", "private.site.com:443", "mixed.site.com:443"),
            *("missing.site.com:443", "video.site.com:80", "video.site.com:8443", "127.0.0.1:443", "[::1]:443"),
            *("localhost:443", "video.site.com:443/x", "a@video.site.com:443", "video.site.com%00:443", "", ":443"),
        ):
            assert await status(proxy, f"CONNECT {target} HTTP/1.1") == "403", target
        assert await status(proxy, "GET https://video.site.com/ HTTP/1.1") == "403"
        assert internet.accepted == 0


@needs_namespace
@in_namespace
async def test_password_is_required() -> None:
    async with opened() as (_, proxy):
        for password in ("", "wrong", proxy.password + "x"):
            assert await status(proxy, "CONNECT video.site.com:443 HTTP/1.1", password=password) == "403"


@needs_namespace
@in_namespace
async def test_transferred_bytes_are_limited() -> None:
    async with opened(max_bytes=50_000) as (internet, proxy):
        try:
            received = len(await through(internet, proxy))
        except OSError:  # the tunnel closes in the middle of a TLS record
            received = 0
        assert received <= 50_000


@needs_namespace
@in_namespace
async def test_request_head_size_is_limited() -> None:
    async with opened() as (_, proxy):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"CONNECT video.site.com:443 HTTP/1.1\r\nX: " + b"x" * 4 * MAX_HEAD_BYTES)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()


@pytest.mark.parametrize(
    ("host", "allowed"),
    [("a.com", True), ("b.a.com", True), ("evila.com", False), ("a.com.evil.com", False), ("com", False), ("", False)],
)
def test_a_list_holds_names_and_what_is_below_them(host: str, allowed: bool) -> None:  # noqa: FBT001 (a table)
    assert is_allowed(host, ("a.com",)) is allowed
