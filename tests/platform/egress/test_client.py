"""What leaves this machine for a caller: where to, how much and how long; in an internet of its own."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_network

import pytest

from cutroom.platform.egress import client as module
from cutroom.platform.egress.client import Answer, Egress, TooLargeError, UnreachableError
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
    """One public server at https://site.com/ and other.com, and a way out to it."""
    async with open_internet() as internet:
        await internet.serve(["site.com", "other.com", PUBLIC], behaviour)
        egress = Egress(tls=internet.authority.trust())
        yield internet, egress
        egress.close()
        assert internet.canaries.connections == []


async def echo(asked: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(reply(200, asked.method.encode() + b" " + asked.path.encode() + b" " + asked.body))


@in_namespace
async def test_a_public_url_is_fetched_by_name_and_by_address() -> None:
    async with site(echo) as (internet, egress):
        assert await egress.fetch("https://site.com/a?b", max_bytes=100) == b"GET /a?b "
        assert await egress.fetch(f"https://{PUBLIC}/", max_bytes=100) == b"GET / "
        await internet.serve(["six.com", PUBLIC_V6], echo, address=PUBLIC_V6, port=8443)
        assert await egress.fetch(f"https://[{PUBLIC_V6}]:8443/", max_bytes=100) == b"GET / "
        assert await egress.fetch("https://six.com:8443/", max_bytes=100) == b"GET / "
        assert [request.host for request in internet.requests][-2:] == [f"[{PUBLIC_V6}]:8443", "six.com:8443"]
        assert internet.requests[0].headers["accept-encoding"] == "identity"


@in_namespace
async def test_a_name_is_looked_up_once_and_its_first_address_is_the_one_connected_to() -> None:
    async with site(echo) as (internet, egress):
        internet.names.set("site.com", [PUBLIC], ["127.0.0.1"])  # rebinding: whoever asks twice gets the second
        assert await egress.fetch(URL, max_bytes=100) == b"GET / "
        assert internet.names.lookups["site.com"] == 1
        with pytest.raises(UnreachableError):
            await egress.fetch(URL, max_bytes=100)


@in_namespace
async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    async with site(echo) as (internet, egress):
        await internet.serve(["two.com"], echo, address=PUBLIC_2, port=44444)
        internet.names.set("two.com", [PUBLIC, PUBLIC_2])
        assert await egress.fetch("https://two.com:44444/", max_bytes=100) == b"GET / "


@in_namespace
async def test_what_cannot_be_had_looks_the_same_and_the_log_knows_why(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="cutroom.egress")
    async with site(echo) as (internet, egress):
        internet.names.set("untrusted.com", [PUBLIC])
        internet.names.set("private.com", ["10.0.0.1"])
        urls = ["https://nobody.com/", "https://untrusted.com/", "https://private.com/?token=secret"]
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
    assert "secret" not in " ".join(str(vars(record)) for record in caplog.records)


@in_namespace
async def test_the_operators_networks_are_refused() -> None:
    async with site(echo) as (internet, egress):
        assert await egress.fetch(URL, max_bytes=100)
        guarded = Egress(denied=[ip_network("8.8.4.0/24")], tls=internet.authority.trust())
        with pytest.raises(UnreachableError):
            await guarded.fetch(URL, max_bytes=100)
        guarded.close()


@in_namespace
async def test_no_hostile_url_is_answered_otherwise_than_a_missing_host() -> None:
    async with open_internet() as internet:
        await serve_hostile_names(internet)
        egress = Egress(tls=internet.authority.trust())
        fetch = egress_sinks(egress)[0]
        answers = set()
        for url in list(hostile_urls())[::3]:  # the proof tries them all
            internet.names.lookups.clear()
            answers.add(await fetch.fetch(url))
        egress.close()
        assert answers == {str(UnreachableError())}
        assert internet.canaries.connections == []


@in_namespace
async def test_three_redirects_are_followed_and_not_four() -> None:
    async def hop(asked: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        left = int(asked.path.strip("/"))
        writer.write(reply(302, Location=f"/{left - 1}") if left else reply(200, b"end"))

    async with site(hop) as (_, egress):
        async with egress.stream("GET", "https://site.com/3", max_bytes=100) as answer:
            assert (answer.status, answer.final_url) == (200, "https://site.com/0")
        with pytest.raises(UnreachableError):
            await egress.fetch("https://site.com/4", max_bytes=100)


@in_namespace
async def test_headers_of_the_caller_stay_with_the_host_they_were_for() -> None:
    async def hop(asked: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(302, Location="https://other.com/") if asked.host == "site.com" else reply(200))

    headers = {"Authorization": "secret", "Range": "bytes=0-1", "Host": "evil.com"}
    async with site(hop) as (internet, egress), egress.stream("GET", URL, headers=headers, max_bytes=100):
        first, second = internet.requests
        assert (first.headers["authorization"], first.host) == ("secret", "site.com")
        assert "authorization" not in second.headers
        assert (second.headers["range"], second.host) == ("bytes=0-1", "other.com")


@in_namespace
async def test_a_post_is_never_redirected_and_its_answer_is_cut_off() -> None:
    async def receiver(asked: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(307, Location="https://other.com/") if asked.path == "/hop" else reply(410, MEGABYTE))

    async with site(receiver) as (internet, egress):
        answer = await egress.post("https://site.com/hop", b"{}", headers={"webhook-id": "1"})
        assert (answer.status, len(internet.requests)) == (307, 1)
        assert (internet.requests[0].body, internet.requests[0].headers["webhook-id"]) == (b"{}", "1")
        answer = await egress.post(URL, b"{}", headers={})
        assert (answer.status, len(answer.body)) == (410, module.MAX_POST_ANSWER_BYTES)


@in_namespace
async def test_a_body_is_bounded_declared_or_not() -> None:
    async def endless(asked: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        length = "Content-Length: 5000000\r\n" if asked.path == "/declared" else ""
        writer.write(f"HTTP/1.1 200 OK\r\n{length}\r\n".encode())
        while True:
            writer.write(MEGABYTE)
            await writer.drain()

    async with site(endless) as (_, egress):
        for path in ("declared", "endless"):
            with pytest.raises(TooLargeError):
                await egress.fetch(f"https://site.com/{path}", max_bytes=3_000_000)


@in_namespace
async def test_a_compressed_answer_is_refused() -> None:
    async def gzip(_: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(200, b"bomb", Content_Encoding="gzip"))

    async with site(gzip) as (_, egress):
        with pytest.raises(UnreachableError):
            await egress.fetch(URL, max_bytes=100)


@in_namespace
async def test_headers_are_bounded() -> None:
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
async def test_the_whole_takes_no_longer_than_it_may() -> None:
    for behaviour in (hang, drip):
        async with site(behaviour) as (_, egress):
            started = time.monotonic()
            with pytest.raises(UnreachableError):
                await egress.fetch(URL, max_bytes=10_000, timeout_seconds=0.5)
            assert time.monotonic() - started < 2


def test_a_drip_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
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
async def test_a_broken_answer_is_unreachable() -> None:
    async def broken(asked: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write({"/cut": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"}.get(asked.path, b"SSH-2.0-x\r\n\r\n"))

    async with site(broken) as (_, egress):
        for path in ("cut", "ssh"):
            with pytest.raises(UnreachableError):
                await egress.fetch(f"https://site.com/{path}", max_bytes=100)


@in_namespace
async def test_a_fault_of_the_reader_stays_the_readers() -> None:
    async def read(answer: Answer) -> None:
        async for _ in answer:
            raise OSError("disk full")

    async with site(echo) as (_, egress):
        with pytest.raises(OSError, match="disk full"):
            async with egress.stream("GET", URL, max_bytes=100) as answer:
                await read(answer)


@in_namespace
async def test_proxies_in_the_environment_are_not_used() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HTTPS_PROXY", "http://127.0.0.1:8080")
        patch.setenv("ALL_PROXY", "http://127.0.0.1:8080")
        async with site(echo) as (_, egress):
            assert await egress.fetch(URL, max_bytes=100) == b"GET / "
