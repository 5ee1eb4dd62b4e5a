"""A process past its limit sheds requests in the error envelope, and answers health checks."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from cutroom.platform.settings import Settings
from cutroom.web.admission.admission import SHARED_SLOTS
from cutroom.web.admission.queues import BURST_WAITING
from dev.scratch import Keyring, environment_of
from dev.server import Server

COUNT = SHARED_SLOTS + BURST_WAITING + 200
BODY = b'{"name":"a"}'


@pytest.fixture(scope="module")
def server(settings: Settings) -> Iterator[Server]:
    server = Server({**environment_of(settings), "CUTROOM_ADMISSION": "on"})
    server.start()
    yield server
    server.stop()


def request(method: str, path: str, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: x", *headers, *([f"Content-Length: {len(body)}"] if body else [])]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Responses:
    """Reads responses from one connection."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def next(self, *, has_body: bool = True) -> tuple[int, dict[str, str], bytes]:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = await self._reader.readexactly(int(headers["content-length"])) if has_body else b""
        return int(head[0].split()[1]), headers, body


async def flood(server: Server, sent: bytes, *, has_body: bool = True) -> list[tuple[int, dict[str, str], bytes]]:
    """Send the same request on many connections at once; return the responses."""
    connections = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(COUNT)]
    for _, writer in connections:
        writer.write(sent)
    responses = await asyncio.gather(*(Responses(reader).next(has_body=has_body) for reader, _ in connections))
    for _, writer in connections:
        writer.close()
    return responses


async def test_what_exceeds_a_burst_is_shed_in_the_error_envelope(server: Server, key: Keyring) -> None:
    authorization = f"Authorization: {key.headers['Authorization']}"
    responses = await flood(
        server, request("POST", "/v1/folders", authorization, "Content-Type: application/json", body=BODY)
    )
    statuses = {status for status, _, _ in responses}
    assert statuses == {201, 429}
    for status, headers, body in responses:
        if status == 429:
            error = json.loads(body)["error"]
            assert (error["code"], error["details"]) == ("RATE_LIMITED", {"limit": "capacity"})
            assert 1 <= int(headers["retry-after"]) <= 3
            assert headers["connection"] == "keep-alive"
            assert headers["x-content-type-options"] == "nosniff"
            assert len(headers["x-request-id"]) == 26


async def test_shed_head_has_no_body(server: Server, key: Keyring) -> None:
    authorization = f"Authorization: {key.headers['Authorization']}"
    responses = await flood(server, request("HEAD", "/v1/videos", authorization), has_body=False)
    assert 429 in {status for status, _, _ in responses}


async def test_health_is_never_shed(server: Server) -> None:
    responses = await flood(server, request("GET", "/v1/health"))
    assert {status for status, _, _ in responses} == {200}
