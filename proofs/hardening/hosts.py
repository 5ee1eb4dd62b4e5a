"""The attacker's HTTPS host on loopback, a canary that must not be reached, and the names of both."""

import asyncio
import ssl
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_address
from pathlib import Path

from cutroom.platform.egress.addresses import Address, Resolver
from cutroom.platform.egress.client import Egress
from dev.server import free_port
from proofs.stage.certificates import self_signed

DOMAIN = "attack.example.com"  # resolved only by the worker of this proof
# Names of a hostile name server. The product's own checks apply to their addresses.
PRIVATE_NAMES: Mapping[str, Sequence[str]] = {
    "loopback.hostile.example.com": ["127.0.0.1"],
    "loopback-v6.hostile.example.com": ["::1"],
    "metadata.hostile.example.com": ["169.254.169.254"],
    "private.hostile.example.com": ["10.0.0.1"],
    "mixed.hostile.example.com": ["8.8.8.8", "127.0.0.1"],
    "mapped.hostile.example.com": ["::ffff:127.0.0.1"],
}
DRIP_SECONDS = 0.25
DRIP_BYTES = {"slow": 1024, "steady": 32 * 1024}  # 4 KiB/s and 128 KiB/s, by the first segment of a path


class AttackResolver(Resolver):
    """The product's resolver with another name server; only the attacker's own host is exempt from its checks."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        if host.endswith(f".{DOMAIN}"):
            return [IPv4Address("127.0.0.1")]
        return await super().resolve(host, port)

    async def _lookup(self, host: str, port: int) -> list[Address]:
        if host in PRIVATE_NAMES:
            return [ip_address(each) for each in PRIVATE_NAMES[host]]
        return await super()._lookup(host, port)


class AttackEgress(Egress):
    """The product's egress client with that resolver."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(tls=tls)
        self._resolver = AttackResolver()


@dataclass
class Canary:
    """Listens where no request may arrive."""

    port: int = field(default_factory=free_port)
    connections: int = 0
    _server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._count, "127.0.0.1", self.port)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _count(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()

    async def check(self) -> None:
        """Show that it counts; otherwise its silence proves nothing."""
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.close()
        async with asyncio.timeout(10):
            while self.connections == 0:
                await asyncio.sleep(0.01)
        self.connections = 0


@dataclass
class AttackHost:
    """Serves media, slowly or not, redirects, and records deliveries."""

    folder: Path
    media: bytes
    canary: Canary
    port: int = field(default_factory=free_port)
    requests: Counter[str] = field(default_factory=Counter)  # by path
    downloading: Counter[str] = field(default_factory=Counter)  # now, by host name
    most_downloads: Counter[str] = field(default_factory=Counter)
    _server: asyncio.Server | None = None
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        certificate, key = self_signed(f"*.{DOMAIN}")
        self.certificate = self.folder / "certificate.pem"
        self.certificate.write_bytes(certificate)
        (self.folder / "key.pem").write_bytes(key)
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(self.certificate, self.folder / "key.pem")

    def url(self, name: str, path: str) -> str:
        return f"https://{name}.{DOMAIN}:{self.port}{path}"

    def redirect_target(self, name: str) -> str:
        """Where `/redirect/<name>` leads."""
        return {
            "loopback": f"https://127.0.0.1:{self.canary.port}/secret",
            "plain": f"http://127.0.0.1:{self.canary.port}/secret",
            "metadata": "https://169.254.169.254/latest/meta-data/",
            "name": f"https://loopback.hostile.example.com:{self.canary.port}/secret",
            "file": "file:///etc/passwd",
            "loop": "/redirect/loop",
        }[name]

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._tls)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._respond(reader, writer)
        finally:
            self._open.discard(task)
            with suppress(OSError):
                writer.transport.abort()

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        await reader.readexactly(int(headers.get("content-length", "0")))
        self.requests[path] += 1
        kind, name = path.split("/")[1], headers["host"].partition(".")[0]
        if kind in DRIP_BYTES:
            await self._drip(name, writer, size=DRIP_BYTES[kind])
        elif kind == "redirect":
            target = self.redirect_target(path.rpartition("/")[2])
            writer.write(f"HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n".encode())
        elif kind == "hook":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        else:
            size = len(self.media)
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: {size}\r\n\r\n".encode())
            writer.write(self.media)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def _drip(self, name: str, writer: asyncio.StreamWriter, *, size: int) -> None:
        self.downloading[name] += 1
        self.most_downloads[name] = max(self.most_downloads[name], self.downloading[name])
        try:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: 1000000000\r\n\r\n")
            writer.write(self.media[:size])
            started, sent = time.monotonic(), 0
            while True:
                await writer.drain()
                await asyncio.sleep(DRIP_SECONDS)
                due = int((time.monotonic() - started) / DRIP_SECONDS)  # a busy machine sleeps for longer
                writer.write(bytes(size * (due - sent)))
                sent = due
        finally:
            self.downloading[name] -= 1
