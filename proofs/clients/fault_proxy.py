"""An HTTP proxy between a client and the service that injects faults, and records every attempt."""

import asyncio
import socket
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random

from proofs.clients.faults import INJECTED, Attempt, Fault, choose, injected_response

BLOCK_BYTES = 65_536
SLOW_SECONDS = 0.2
BAD_TIMEOUT = b"HTTP/1.1 504 Injected\r\nContent-Length: 0\r\n\r\n"
UPLOADS = "/uploads/"


@dataclass(frozen=True, slots=True)
class Head:
    """The first lines of a request."""

    raw: bytes
    method: str
    path: str
    length: int
    key: str | None

    @classmethod
    def parse(cls, raw: bytes) -> "Head":
        first, *lines = raw.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)}
        method, path, _ = first.split(" ")
        length = int(headers.get("content-length", "0"))
        return cls(raw, method, path.partition("?")[0], length, headers.get("idempotency-key"))


@dataclass
class FaultProxy:
    """Forwards one request per connection, and spoils some of them."""

    upstream_port: int
    random: Random
    faulty: bool = True
    attempts: list[Attempt] = field(default_factory=list)
    uploaded: int = 0  # bytes of upload bodies that the client sent
    upload_bytes_per_second: float | None = None
    uploading: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = Head.parse(await reader.readuntil(b"\r\n\r\n"))
            if head.path.startswith(UPLOADS) or not self.faulty:
                await self._relay(head, reader, writer)
            else:
                await self._spoil(head, await reader.readexactly(head.length), writer)
        with suppress(OSError):
            writer.close()
            await writer.wait_closed()

    async def _spoil(self, head: Head, body: bytes, writer: asyncio.StreamWriter) -> None:
        fault = choose(self.random, method=head.method, key=head.key)
        began, status = time.monotonic(), None
        if fault in INJECTED:
            response = injected_response(fault)
        elif fault is Fault.RESET_BEFORE:
            response = b""
        else:
            response = await self._forward(head, body)
            if fault is Fault.DUPLICATED:
                response = await self._forward(head, body)
        if fault is Fault.GATEWAY_TIMEOUT:
            response = BAD_TIMEOUT
        if fault is Fault.SLOW:
            await asyncio.sleep(SLOW_SECONDS)
        if fault is Fault.TRUNCATED:
            response = response[: max(len(response) - 2, 1)]
            if b"\r\n\r\n" in response and response.endswith(b"\r\n"):  # it had no body to cut off
                response = response[:10]
        if fault in {Fault.RESET_BEFORE, Fault.RESET_AFTER}:
            reset(writer)
        else:
            status = int(response[9:12]) if len(response) > 12 else None
            writer.write(response)
            await writer.drain()
        self.attempts.append(Attempt(head.method, head.path, head.key, fault, status, began, time.monotonic()))

    async def _forward(self, head: Head, body: bytes) -> bytes:
        """The complete response of the service; the connection is closed after it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream_port)
        writer.write(closing(head.raw) + body)
        response = await reader.read()
        writer.close()
        return response.replace(b"\r\nconnection: close", b"", 1)

    async def _relay(self, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Passes an upload on as it comes, at most as fast as is set, and counts its bytes."""
        upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", self.upstream_port)
        try:
            upstream.write(closing(head.raw))
            left = head.length
            while left:
                block = await reader.read(min(BLOCK_BYTES, left))
                if not block:
                    break
                left -= len(block)
                if head.path.startswith(UPLOADS):
                    self.uploaded += len(block)
                    self.uploading.set()
                upstream.write(block)
                await upstream.drain()
                if self.upload_bytes_per_second:
                    await asyncio.sleep(len(block) / self.upload_bytes_per_second)
            while left == 0 and (block := await upstream_reader.read(BLOCK_BYTES)):
                writer.write(block)
                await writer.drain()
        finally:
            upstream.close()


def closing(raw: bytes) -> bytes:
    """The head of a request that asks the service to close the connection after its response."""
    lines = [each for each in raw[:-4].split(b"\r\n") if not each.lower().startswith(b"connection:")]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def reset(writer: asyncio.StreamWriter) -> None:
    """Ends a connection with RST."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def fault_proxy(upstream_port: int, seed: int, *, faulty: bool = True) -> AsyncIterator[FaultProxy]:
    proxy = FaultProxy(upstream_port, Random(seed), faulty=faulty)  # the same faults in every run
    server = await asyncio.start_server(proxy.handle, "127.0.0.1", 0, limit=2**20)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
