"""Sends bytes that an HTTP client would not send."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

RESPONSE_SECONDS = 30.0
SILENT_SECONDS = 5.0  # after which a server is considered to wait for more


@dataclass(frozen=True, slots=True)
class WireResponse:
    """The responses on one connection, in order."""

    received: bytes

    @property
    def statuses(self) -> list[int]:
        starts = self.received.split(b"HTTP/1.1 ")[1:]
        return [int(each[:3]) for each in starts if each[:3].isdigit()]

    @property
    def first(self) -> int:
        """The first status; 0 if the connection was closed without one."""
        return self.statuses[0] if self.statuses else 0

    @property
    def headers(self) -> bytes:
        return self.received.partition(b"\r\n\r\n")[0].lower()

    def __str__(self) -> str:
        return ", ".join(map(str, self.statuses)) or "closed"


def request_bytes(method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


async def exchange(port: int, data: bytes, *, address: str = "127.0.0.1") -> WireResponse:
    """Send bytes, and read until the server closes the connection or waits for more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    received = b""
    try:
        with suppress(ConnectionError):
            writer.write(data)
            await writer.drain()
        with suppress(ConnectionError, TimeoutError):
            while chunk := await asyncio.wait_for(reader.read(65_536), SILENT_SECONDS):
                received += chunk
    finally:
        writer.close()
    return WireResponse(received)


@dataclass
class HalfOpenRequest:
    """A request that is never finished."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls, port: int, data: bytes, *, address: str = "127.0.0.1") -> "HalfOpenRequest":
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
        writer.write(data)
        await writer.drain()
        return cls(reader, writer)

    async def status(self, seconds: float = RESPONSE_SECONDS) -> int:
        """The status of the response, once there is one; 0 if the connection was closed without one."""
        try:
            async with asyncio.timeout(seconds):
                line = await self.reader.readuntil(b"\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return 0
        return int(line.split()[1])

    def close(self) -> None:
        self.writer.close()
