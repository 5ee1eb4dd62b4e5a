"""A loopback CONNECT proxy that restricts a subprocess to an allowlist of hosts."""

import asyncio
import base64
import hmac
import logging
import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from cutroom.platform.egress.addresses import MAX_CONNECT_TRIES, AddressDeniedError, Resolver
from cutroom.platform.egress.urls import HTTPS_PORT, UrlError, parse_url

LOOPBACK = "127.0.0.1"
USER = "cutroom"
MAX_HEAD_BYTES = 8 * 1024
MAX_CONNECTIONS = 32
HEAD_SECONDS = 5.0
CONNECT_SECONDS = 5.0
IDLE_SECONDS = 60.0  # without a byte in either direction
CHUNK_BYTES = 64 * 1024

logger = logging.getLogger("cutroom.proxy")


class _RefusedError(Exception):
    """Why a request was rejected; only logged, the client always gets the same response."""


@dataclass
class Proxy:
    """One listener per subprocess: tunnels to port 443 of allowed hosts and enforces a byte limit."""

    resolver: Resolver
    allowed_hosts: Collection[str]  # including their subdomains
    max_bytes: int  # total, in both directions
    password: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    port: int = 0
    transferred_bytes: int = 0
    _open: int = 0
    _tunnels: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """The proxy URL with its password, which keeps other local processes out."""
        return f"http://{USER}:{self.password}@{LOOPBACK}:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tunnels.add(task)
        self._open += 1
        try:
            await self._handle(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the client disconnected
        finally:
            self._open -= 1
            self._tunnels.discard(task)
            writer.close()

    async def close(self) -> None:
        tunnels = list(self._tunnels)
        for tunnel in tunnels:
            tunnel.cancel()
        await asyncio.gather(*tunnels, return_exceptions=True)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(HEAD_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
        try:
            host = self._authorize(head.decode("latin-1"))
            remote_reader, remote_writer = await self._connect(host)
        except _RefusedError as error:
            logger.info("proxy refused", extra={"reason": str(error)[:300]})
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            return
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            async with asyncio.TaskGroup() as directions:
                directions.create_task(self._forward(reader, remote_writer))
                directions.create_task(self._forward(remote_reader, writer))
        except* (OSError, _RefusedError) as group:
            logger.info("tunnel ended", extra={"host": host, "reason": repr(group.exceptions[0])[:300]})
        finally:
            remote_writer.close()

    def _authorize(self, head: str) -> str:
        """Checks method, password and target; returns the host to connect to."""
        lines = head.split("\r\n")
        request_line = lines[0].split(" ")
        if len(request_line) != 3 or request_line[0] != "CONNECT":
            raise _RefusedError("not a CONNECT")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        expected = "Basic " + base64.b64encode(f"{USER}:{self.password}".encode()).decode()
        if not hmac.compare_digest(headers.get("proxy-authorization", "").encode(), expected.encode()):
            raise _RefusedError("wrong password")
        if self._open > MAX_CONNECTIONS:
            raise _RefusedError("too many connections")
        try:
            target = parse_url(f"https://{request_line[1]}/")
        except UrlError as error:
            raise _RefusedError(f"{request_line[1]!r}: {error}") from error
        if target.port != HTTPS_PORT or not is_allowed(target.host, self.allowed_hosts) or target.path != "/":
            raise _RefusedError(f"{request_line[1]!r} is not allowed")
        return target.host

    async def _connect(self, host: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            addresses = await self.resolver.resolve(host, HTTPS_PORT)
        except AddressDeniedError as error:
            raise _RefusedError(f"{host}: {error}") from error
        for address in addresses[:MAX_CONNECT_TRIES]:
            with suppress(OSError):  # includes TimeoutError
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection(str(address), HTTPS_PORT)
        raise _RefusedError(f"{host}: unreachable")

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            async with asyncio.timeout(IDLE_SECONDS):
                chunk = await reader.read(CHUNK_BYTES)
                if not chunk:
                    break
                self.transferred_bytes += len(chunk)
                if self.transferred_bytes > self.max_bytes:
                    raise _RefusedError("too many bytes")
                writer.write(chunk)
                await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()  # half-close: the other direction may still be open


def is_allowed(host: str, allowed: Collection[str]) -> bool:
    """Whether the host is an allowed name or a subdomain of one."""
    return any(host == name or host.endswith(f".{name}") for name in allowed)


@asynccontextmanager
async def open_proxy(
    resolver: Resolver, allowed_hosts: Collection[str], *, max_bytes: int, timeout_seconds: float
) -> AsyncIterator[Proxy]:
    """Runs a proxy for the duration of the block, at most `timeout_seconds`."""
    proxy = Proxy(resolver, allowed_hosts, max_bytes=max_bytes)
    server = await asyncio.start_server(proxy.serve, LOOPBACK, 0, limit=MAX_HEAD_BYTES)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        async with asyncio.timeout(timeout_seconds):
            yield proxy
    finally:
        server.close()
        await proxy.close()
