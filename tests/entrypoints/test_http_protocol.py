"""Request heads are bounded in size and time."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from cutroom.entrypoints.http_protocol import HEAD_SECONDS, MAX_HEAD_BYTES, EnvelopeProtocol

CHUNK_BYTES = 8 * 1024
START = b"GET /v1/health HTTP/1.1\r\nHost: x\r\n"


class FakeTransport(asyncio.Transport):
    """Records what was written, and whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:  # noqa: ANN401, ARG002 (asyncio's interface)
        return default

    def write(self, data: Any) -> None:  # noqa: ANN401 (as above)
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass


class FakeTimer:
    """A timer that runs only when a test calls it."""

    def __init__(self, seconds: float, callback: Callable[[], None]) -> None:
        self.seconds, self.callback, self.canceled = seconds, callback, False

    def cancel(self) -> None:
        self.canceled = True


class FakeLoop:
    """Records timers and runs nothing."""

    def __init__(self) -> None:
        self.timers: list[FakeTimer] = []

    def call_later(self, seconds: float, callback: Callable[[], None]) -> FakeTimer:
        self.timers.append(FakeTimer(seconds, callback))
        return self.timers[-1]

    def create_task(self, coroutine: Any, **_options: object) -> asyncio.Future[None]:  # noqa: ANN401 (as above)
        coroutine.close()
        return asyncio.get_running_loop().create_future()


async def application(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Never runs: the loop is a fake."""


@pytest.fixture
async def loop() -> FakeLoop:
    return FakeLoop()


@pytest.fixture
async def protocol(loop: FakeLoop) -> EnvelopeProtocol:
    config = uvicorn.Config(application, log_config=None)
    made = EnvelopeProtocol(config, ServerState(), {}, _loop=cast("asyncio.AbstractEventLoop", loop))
    made.connection_made(FakeTransport())
    return made


def transport_of(protocol: EnvelopeProtocol) -> FakeTransport:
    return cast("FakeTransport", protocol.transport)


async def test_endless_header_is_refused(protocol: EnvelopeProtocol) -> None:
    protocol.data_received(START + b"X-Large: ")
    received = 0
    while not transport_of(protocol).closed:
        protocol.data_received(b"a" * CHUNK_BYTES)
        received += CHUNK_BYTES
    assert MAX_HEAD_BYTES - CHUNK_BYTES < received <= MAX_HEAD_BYTES + CHUNK_BYTES
    assert transport_of(protocol).written.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "head",
    [
        START + b"X-Large: " + b"a" * MAX_HEAD_BYTES + b"\r\n\r\n",
        START + b"X: y\r\n" * MAX_HEAD_BYTES + b"\r\n",
        b"GET /" + b"a" * MAX_HEAD_BYTES + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["a large header", "many headers", "a large path"],
)
async def test_large_head_in_one_chunk_is_refused(protocol: EnvelopeProtocol, head: bytes) -> None:
    protocol.data_received(head)
    assert transport_of(protocol).written.startswith(b"HTTP/1.1 400 ")
    assert transport_of(protocol).closed


async def test_large_body_is_no_head(protocol: EnvelopeProtocol) -> None:
    size = 4 * MAX_HEAD_BYTES
    protocol.data_received(f"POST /v1/folders HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode())
    for _ in range(size // CHUNK_BYTES):
        protocol.data_received(b"a" * CHUNK_BYTES)
    assert not transport_of(protocol).closed


async def test_connection_without_a_complete_head_is_closed(protocol: EnvelopeProtocol, loop: FakeLoop) -> None:
    protocol.data_received(START)
    (timer,) = loop.timers
    assert (timer.seconds, timer.canceled) == (HEAD_SECONDS, False)
    timer.callback()
    assert transport_of(protocol).closed


async def test_complete_head_stops_the_timer(protocol: EnvelopeProtocol, loop: FakeLoop) -> None:
    protocol.data_received(START + b"\r\n")
    assert [timer.canceled for timer in loop.timers] == [True]
    protocol.data_received(START)  # the next request on the connection
    assert [timer.canceled for timer in loop.timers] == [True, False]
    protocol.connection_lost(None)
    assert [timer.canceled for timer in loop.timers] == [True, True]
