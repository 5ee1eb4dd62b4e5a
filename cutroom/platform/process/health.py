"""Liveness and readiness: what a supervisor may restart or take out of rotation, and when."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import asyncpg

from cutroom.platform.db import CONNECT_TIMEOUT_SECONDS, DATABASE_ERRORS

INTERVAL_SECONDS = 5.0
CHECK_SECONDS = 5.0
FAILURES_TO_UNREADY = 3  # one lost connection or slow response is not an outage
REQUEST_SECONDS = 5.0
APPLICATION = "cutroom-health"

Check = Callable[[], Awaitable[object]]

_log = logging.getLogger(__name__)


class Readiness:
    """Whether every dependency responds; unready after three failed checks in a row, ready after one success."""

    def __init__(self, checks: Mapping[str, Check], *, interval_seconds: float = INTERVAL_SECONDS) -> None:
        self._checks = checks
        self._failures = dict.fromkeys(checks, 0)
        self._interval_seconds = interval_seconds
        self._serving = False

    def start(self) -> None:
        """The process has started to work."""
        self._serving = True

    def stop(self) -> None:
        """The process takes no new work, because it is about to end."""
        self._serving = False

    @property
    def is_ready(self) -> bool:
        return self._serving and all(self.dependencies().values())

    def dependencies(self) -> dict[str, bool]:
        return {name: failures < FAILURES_TO_UNREADY for name, failures in self._failures.items()}

    async def check(self) -> None:
        """Checks each dependency once."""
        await asyncio.gather(*(self._check(name, check) for name, check in self._checks.items()))

    async def watch(self) -> None:
        """Checks until canceled."""
        while True:
            await self.check()
            await asyncio.sleep(self._interval_seconds)

    async def _check(self, name: str, check: Check) -> None:
        before = self.dependencies()[name]
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await check()
            self._failures[name] = 0
        except Exception as error:  # noqa: BLE001 (whatever it is, the dependency did not respond)
            self._failures[name] += 1
            _log.debug("dependency check failed", extra={"dependency": name, "error": repr(error)})
        if (now := self.dependencies()[name]) != before:
            _log.warning("dependency available" if now else "dependency unavailable", extra={"dependency": name})


class PostgresCheck:
    """Queries PostgreSQL on a connection of its own: a pool that is busy under load does not make a process unready."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None

    async def __call__(self) -> None:
        try:
            if self._connection is not None:
                try:
                    await self._connection.execute("SELECT 1")
                except DATABASE_ERRORS:
                    self.close()  # it was ended since the last check, which says nothing about PostgreSQL now
                else:
                    return
            settings = {"application_name": APPLICATION}
            self._connection = await asyncpg.connect(
                self._url, timeout=CONNECT_TIMEOUT_SECONDS, server_settings=settings
            )
            await self._connection.execute("SELECT 1")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


@asynccontextmanager
async def health_server(readiness: Readiness, port: int | None, *, host: str) -> AsyncIterator[None]:
    """Serves `/live` and `/ready` from the event loop of the process, so that a blocked loop does not respond."""
    if port is None:
        yield
        return

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_response(head, readiness))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # not an HTTP request, or its sender has gone
        finally:
            writer.close()

    server = await asyncio.start_server(respond, host=host, port=port)
    try:
        yield
    finally:
        server.close()


def _response(head: bytes, readiness: Readiness) -> bytes:
    path = head.split(b" ", 2)[1:2]
    if path == [b"/live"]:
        status, body = b"200 OK", json.dumps({"live": True})
    elif path == [b"/ready"]:
        status = b"200 OK" if readiness.is_ready else b"503 Service Unavailable"
        body = json.dumps({"ready": readiness.is_ready, "dependencies": readiness.dependencies()})
    else:
        status, body = b"404 Not Found", "{}"
    headers = b"Content-Type: application/json\r\nConnection: close\r\nContent-Length: %d" % len(body)
    return b"HTTP/1.1 %s\r\n%s\r\n\r\n%s" % (status, headers, body.encode())
