"""A local HTTPS webhook receiver whose behavior is selected by the request path."""

import asyncio
import json
import socket
import ssl
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from standardwebhooks import Webhook, WebhookVerificationError

from dev.server import free_port
from proofs.stage.certificates import self_signed
from proofs.stage.loopback_worker import NAME, LoopbackSender

FLOOD_BYTES = 10 * 1000**3
BUSY_SECONDS = 8
STATUS_LINES = {
    "takes": "200 OK",
    "fails": "500 Internal Server Error",
    "moves": "302 Found\r\nlocation: https://{host}/takes/moved",
    "leaves": "410 Gone",
    "busy": f"429 Too Many Requests\r\nretry-after: {BUSY_SECONDS}",
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """A received delivery."""

    path: str
    message_id: str
    at: float  # on the monotonic clock
    verified: bool
    body: bytes = b""


@dataclass
class Receiver:
    """Serves HTTPS and verifies every delivery with the official Standard Webhooks library."""

    folder: Path
    port: int = field(default_factory=free_port)
    secrets: dict[str, str] = field(default_factory=dict)  # by path
    deliveries: list[Delivery] = field(default_factory=list)
    repaired: set[str] = field(default_factory=set)  # paths that accept every delivery from now on
    flooded_bytes: int = 0
    _server: asyncio.Server | None = None
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        certificate, key = self_signed(NAME)
        (self.folder / "certificate.pem").write_bytes(certificate)
        (self.folder / "key.pem").write_bytes(key)
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(self.folder / "certificate.pem", self.folder / "key.pem")
        self.sender = LoopbackSender(ssl.create_default_context(cadata=certificate.decode()))

    @property
    def host(self) -> str:
        return f"{NAME}:{self.port}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._tls)

    async def stop(self) -> None:
        """Refuse connections from now on, as if the receiver were down."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def at(self, path: str) -> list[Delivery]:
        return [delivery for delivery in self.deliveries if delivery.path == path]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._respond(await self._receive(reader), writer)
        finally:
            self._open.discard(task)
            with suppress(OSError):
                writer.transport.abort()

    async def _receive(self, reader: asyncio.StreamReader) -> str:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers["content-length"]))
        verified = path in self.secrets and _is_verified(self.secrets[path], body, headers)
        message_id = headers.get("webhook-id", "")
        self.deliveries.append(Delivery(path, message_id, at=time.monotonic(), verified=verified, body=body))
        return path

    async def _respond(self, path: str, writer: asyncio.StreamWriter) -> None:
        behavior = "takes" if path in self.repaired else path.split("/")[1]
        if behavior in STATUS_LINES:
            status = STATUS_LINES[behavior].format(host=self.host)
            writer.write(f"HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok".encode())
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        elif behavior == "hangs":
            await asyncio.sleep(3600)
        elif behavior == "resets":
            # A zero linger time makes close() send RST instead of FIN.
            peer: socket.socket = writer.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif behavior == "drips":
            await _drip(writer, b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", b"x")
        elif behavior == "drips-headers":
            await _drip(writer, b"HTTP/1.1 200 OK\r\n", b"x: y\r\n")
        elif behavior == "floods":
            await self._flood(writer)

    async def _flood(self, writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {FLOOD_BYTES}\r\n\r\n".encode())
        chunk = bytes(64 * 1024)
        while self.flooded_bytes < FLOOD_BYTES:
            writer.write(chunk)
            await writer.drain()
            self.flooded_bytes += len(chunk)


async def _drip(writer: asyncio.StreamWriter, start: bytes, drop: bytes) -> None:
    writer.write(start)
    for _ in range(3600):
        await asyncio.sleep(0.5)
        writer.write(drop)
        await writer.drain()


def _is_verified(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    try:
        event = Webhook(secret).verify(body, headers)
    except (WebhookVerificationError, json.JSONDecodeError, ValueError):
        return False
    return set(event) == {"type", "timestamp", "data"}
