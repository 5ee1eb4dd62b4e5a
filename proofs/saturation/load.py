"""A load of HTTP requests, in a process of its own: at a constant rate whatever the responses, or back to back.

It imports little and keeps one request per connection under way, so that it costs a fraction of the service.
"""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

MAX_CONNECTIONS = 400  # of one process; what finds none is counted as unsent
STEP_SECONDS = 0.001
DRAIN_SECONDS = 10.0
HEALTH_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Load:
    """What to send: `rate` requests per second, or with `closed` connections the next after each response."""

    port: int
    requests: Sequence[str]  # complete HTTP requests, sent at random
    seconds: float
    rate: float = 0.0
    closed: int = 0
    niceness: int = 0
    core: int | None = None
    seed: int = 1
    probes_health: bool = False


@dataclass(slots=True)
class Outcome:
    """What came back; each response is (seconds since the start, latency, status)."""

    started: float = 0.0  # on the monotonic clock, which processes share
    responses: list[tuple[float, float, int]] = field(default_factory=list)
    shed_without_retry_after: int = 0
    unsent: int = 0  # because no connection was free
    broken: int = 0  # connections that ended without a response
    health: list[int] = field(default_factory=list)
    late_seconds: float = 0.0  # by how much the process itself was late, at most


class _Connection(asyncio.Protocol):
    """A keep-alive connection with one request at a time."""

    def __init__(self, sender: "_Sender") -> None:
        self._sender = sender
        self._buffer = b""
        self._sent_at = 0.0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def send(self, request: bytes) -> None:
        assert self.transport is not None
        self._sent_at = time.monotonic()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        lowered = head.lower()
        length = int(lowered.split(b"content-length: ")[1].split(b"\r\n")[0])
        if len(body) < length:
            return
        self._buffer = b""
        sent_at, self._sent_at = self._sent_at, 0.0
        assert self.transport is not None
        if b"connection: close" in lowered:
            self.transport.close()
        self._sender.on_response(self, sent_at, status=int(head[9:12]), has_retry=b"\r\nretry-after: " in lowered)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio's interface)
        self._sender.on_closed(self, has_request=self._sent_at > 0)


class _Sender:
    def __init__(self, load: Load) -> None:
        self._load = load
        self._requests = [each.encode() for each in load.requests]
        self._random = random.Random(load.seed)
        self._idle: list[_Connection] = []
        self._open = 0
        self._ends = 0.0
        self._opening: set[asyncio.Task[None]] = set()
        self.outcome = Outcome()

    async def run(self) -> Outcome:
        load, outcome = self._load, self.outcome
        for _ in range(load.closed or min(MAX_CONNECTIONS, 16)):
            await self._connect(send=False)
        outcome.started = time.monotonic()
        self._ends = outcome.started + load.seconds
        health = asyncio.create_task(self._probe_health()) if load.probes_health else None
        if load.closed:
            while self._idle:
                self._idle.pop().send(self._next())
            await asyncio.sleep(load.seconds)
        else:
            await self._send_at_rate()
        deadline = time.monotonic() + DRAIN_SECONDS
        while len(self._idle) < self._open and time.monotonic() < deadline:
            await asyncio.sleep(STEP_SECONDS)
        if health is not None:
            await health
        return outcome

    async def _send_at_rate(self) -> None:
        due = self.outcome.started
        while due < self._ends:
            now = time.monotonic()
            while due <= now and due < self._ends:
                self.outcome.late_seconds = max(self.outcome.late_seconds, now - due)
                self._send_one()
                due += self._random.expovariate(self._load.rate)
            await asyncio.sleep(STEP_SECONDS)

    def _send_one(self) -> None:
        if self._idle:
            self._idle.pop().send(self._next())
        elif self._open + len(self._opening) < MAX_CONNECTIONS:
            task = asyncio.create_task(self._connect(send=True))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
        else:
            self.outcome.unsent += 1

    async def _connect(self, *, send: bool) -> None:
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: _Connection(self), "127.0.0.1", self._load.port
        )
        self._open += 1
        if send:
            connection.send(self._next())
        else:
            self._idle.append(connection)

    def _next(self) -> bytes:
        return self._random.choice(self._requests)

    def on_response(self, connection: _Connection, sent_at: float, *, status: int, has_retry: bool) -> None:
        now = time.monotonic()
        self.outcome.responses.append((sent_at - self.outcome.started, now - sent_at, status))
        self.outcome.shed_without_retry_after += status == 429 and not has_retry
        assert connection.transport is not None
        if connection.transport.is_closing():
            return
        if self._load.closed and now < self._ends:
            connection.send(self._next())
        else:
            self._idle.append(connection)

    def on_closed(self, connection: _Connection, *, has_request: bool) -> None:
        self._open -= 1
        self.outcome.broken += has_request
        if connection in self._idle:
            self._idle.remove(connection)

    async def _probe_health(self) -> None:
        """Ask for the health on new connections, as a load balancer does."""
        while time.monotonic() < self._ends:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._load.port)
            writer.write(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            head = await reader.read()
            self.outcome.health.append(int(head[9:12]) if head else 0)
            writer.close()
            await asyncio.sleep(HEALTH_SECONDS)


async def send(load: Load) -> Outcome:
    """Run a load in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "proofs.saturation.load",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        output, _ = await process.communicate(json.dumps(asdict(load)).encode())
    except BaseException:
        process.kill()
        raise
    if process.returncode:
        raise RuntimeError(f"the load ended with exit code {process.returncode}")
    return Outcome(**json.loads(output))


def main() -> None:
    load = Load(**json.load(sys.stdin))
    os.nice(load.niceness)
    if load.core is not None:
        os.sched_setaffinity(0, {load.core})
    print(json.dumps(asdict(asyncio.run(_Sender(load).run()))))


if __name__ == "__main__":
    main()
