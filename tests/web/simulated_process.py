"""An API process in simulated time: the admission runs on an event loop whose clock only advances by simulated work.

Other programs on the machine do not change its figures, so that tests may judge them.
"""

import asyncio
import heapq
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry

from cutroom.web.admission.admission import Admission
from cutroom.web.admission.event_loop_load import EventLoopLoad
from cutroom.web.admission.metrics import AdmissionMetrics
from cutroom.web.admission.queues import Slot

TURN_SECONDS, EVENT_SECONDS = 4e-6, 2e-6  # of the event loop itself
PARSE_SECONDS, SHED_SECONDS = 60e-6, 40e-6
STEPS, STEP_SECONDS = 5, 234e-6  # CPU time of a request; between its steps, it waits for PostgreSQL
QUERY_SECONDS, LATENCY_SECONDS = 250e-6, 200e-6
CONNECTIONS = 20
PLACES = 16
ROUND_TRIP_SECONDS = 150e-6  # between clients and the process


class SimulatedTime:
    """The clock, and what happens outside the process."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def work(self, seconds: float) -> None:
        self.now += seconds

    def at(self, time: float, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._numbers), happen))

    def close(self) -> None:
        """As a selector."""

    def select(self, timeout: float | None = None) -> list[Callable[[], None]]:
        """What the event loop finds when it looks for events, after waiting for the first one."""
        self.work(TURN_SECONDS)
        if timeout is None or timeout > 0:
            times = [] if timeout is None else [self.now + timeout]
            times += [self._events[0][0]] if self._events else []
            self.now = max(self.now, min(times))
        found = []
        while self._events and self._events[0][0] <= self.now:
            found.append(heapq.heappop(self._events)[2])
        return found


class _SimulatedLoop(asyncio.BaseEventLoop):
    def __init__(self, time: SimulatedTime) -> None:
        super().__init__()
        self._simulated = time
        self._selector = time
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self._simulated.now

    def _process_events(self, events: Sequence[Callable[[], None]]) -> None:
        for happen in events:
            self.call_soon(self._run_event, happen)

    def _run_event(self, happen: Callable[[], None]) -> None:
        self._simulated.work(EVENT_SECONDS)
        happen()

    def _write_to_self(self) -> None:
        pass


@dataclass
class Responses:
    """Responses of one load: when each request was sent, its latency, and whether it was accepted."""

    all: list[tuple[float, float, bool]] = field(default_factory=list)

    def percentile(self, share: float, *, since: float = 0.0) -> float:
        latencies = sorted(latency for at, latency, accepted in self.all if accepted and at >= since)
        return latencies[min(len(latencies) - 1, int(share * len(latencies)))]

    def rate(self, start: float, end: float) -> float:
        """Accepted requests whose responses arrived in this time, per second."""
        return sum(accepted and start <= at + latency < end for at, latency, accepted in self.all) / (end - start)

    @property
    def shed(self) -> int:
        return sum(not accepted for _, _, accepted in self.all)


class _Request:
    is_gone = False

    def __init__(self, process: "SimulatedProcess", sent_at: float, end: Callable[[bool], None]) -> None:
        self._process, self._sent_at, self._end = process, sent_at, end

    def start(self, slot: Slot) -> None:
        self._process.run(self._run(slot))

    def shed(self, retry_seconds: int) -> None:  # noqa: ARG002 (the admission's interface)
        self._process.time.work(SHED_SECONDS)
        self._end(False)  # noqa: FBT003 (whether it was accepted)

    async def _run(self, slot: Slot) -> None:
        for step in range(STEPS):
            self._process.time.work(STEP_SECONDS * self._process.random.uniform(0.7, 1.3))
            if step < STEPS - 1:
                await self._process.query()
        self._end(True)  # noqa: FBT003 (as above)
        slot.release()


class SimulatedProcess:
    """An API process that computes on one core, and PostgreSQL on another."""

    def __init__(self) -> None:
        self.time = SimulatedTime()
        self.random = random.Random(5)
        self._loop = _SimulatedLoop(self.time)
        self._tasks: set[asyncio.Task[None]] = set()
        self._postgres_free_at = 0.0
        clock = lambda: self.time.now  # noqa: E731
        metrics = AdmissionMetrics(CollectorRegistry())
        self._admission = Admission(
            metrics, max_running=CONNECTIONS, max_waiting=PLACES, clock=clock, load=EventLoopLoad(clock)
        )
        self._admission.watch(lambda: CONNECTIONS - len(self._tasks))

    def run(self, coroutine: Any) -> None:  # noqa: ANN401 (a coroutine)
        task = self._loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def query(self) -> "asyncio.Future[None]":
        future = self._loop.create_future()
        started = max(self.time.now, self._postgres_free_at)
        self._postgres_free_at = started + QUERY_SECONDS * self.random.choice((0.5, 1, 1.5))
        self.time.at(self._postgres_free_at + LATENCY_SECONDS, lambda: future.set_result(None))
        return future

    def load(self, libraries: Sequence[str], *, rate: float, start: float = 0.0, seconds: float) -> Responses:
        """Send requests at a constant rate, whatever the responses."""
        responses, at = Responses(), start
        while (at := at + self.random.expovariate(rate)) < start + seconds:
            self._send(self.random.choice(libraries), at, responses)
        return responses

    def closed_load(self, libraries: Sequence[str], *, connections: int, seconds: float) -> Responses:
        """Send the next request of each connection when there is a response."""
        responses = Responses()

        def send_next() -> None:
            if self.time.now < seconds:
                self._send(self.random.choice(libraries), self.time.now + ROUND_TRIP_SECONDS, responses, send_next)

        for _ in range(connections):
            self._send(self.random.choice(libraries), 0.0, responses, send_next)
        return responses

    def _send(self, library: str, at: float, responses: Responses, after: Callable[[], None] | None = None) -> None:
        def end(accepted: bool) -> None:  # noqa: FBT001 (the only argument)
            responses.all.append((at, self.time.now - at, accepted))
            if after is not None:
                after()

        def arrive() -> None:
            self.time.work(PARSE_SECONDS)
            self._admission.submit(library, _Request(self, at, end))

        self.time.at(at, arrive)

    def run_until(self, end: float) -> None:
        self._loop.run_until_complete(asyncio.sleep(end - self.time.now))

    def close(self) -> None:
        assert not self._tasks
        self._loop.close()
