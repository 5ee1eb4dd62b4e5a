"""Admits requests to an API process: starts them fairly among libraries, and sheds those that would wait too long."""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

MAX_WAITING = 2_000  # in all queues
BURST_WAITING = 256  # in the queue of one library, until it has not been empty for STANDING_SECONDS
LEAST_WAITING = 1  # in the queue of one library afterwards, however many libraries share the places
STANDING_SECONDS = 1.0
MAX_WAIT_SECONDS = 2.0
# A request that takes longer waits for something else than this process, such as a slow upload or another service. It
# leaves its slot to others, but still counts for its own library.
SLOT_SECONDS = 0.25
SHARED_SLOTS = 10  # enough to keep a process busy; the rest of the slots are for libraries with few running requests
SLOTS_BESIDE_OTHERS = 2  # of a library with a backlog, while it yields to others; a library with fewer starts at once
PROTECTED_SECONDS = 1.0  # after a library without a backlog has sent a request, backlogs of others yield to it
IDLE_TURN_SECONDS = 0.0001  # a turn of the event loop that did next to nothing
TURNS_PER_START = 3  # a request starts at the latest after this many busy turns
TICK_SECONDS = 0.05  # how often waiting times are checked while no request can start
KNOWN_CREDENTIALS = 30_000
SLOT = "cutroom.slot"  # ASGI scope key of a request's slot
RETRY_SPREAD_SECONDS = 3  # shed clients come back after 1 to 3 seconds, and not all at once


class Request(Protocol):
    """A request whose head has arrived."""

    def start(self, slot: "Slot") -> None:
        """Run it; release the slot when it ends."""

    def shed(self, retry_seconds: int) -> None:
        """Reject it."""

    @property
    def is_gone(self) -> bool:
        """Whether the client has disconnected."""


@dataclass(slots=True, eq=False)
class _Flow:
    """The requests of one library, or of one client address if their library is unknown."""

    name: str
    running: int = 0
    slots: int = 0  # running, and not for long
    waiting: deque[tuple[float, Request]] = field(default_factory=deque)  # with their arrival, oldest first
    filled_at: float = 0.0  # when the queue was last empty
    backlog_until: float = 0.0


class Slot:
    """The right of one request to run."""

    __slots__ = ("_admission", "flow", "started_at")

    def __init__(self, admission: "Admission", flow: _Flow, started_at: float) -> None:
        self._admission: Admission | None = admission
        self.flow = flow
        self.started_at = started_at

    def release(self) -> None:
        """Let another request start; later calls have no effect."""
        if self._admission is not None:
            admission, self._admission = self._admission, None
            admission.release(self)


class AdmissionMetrics:
    """Waiting, running and shed requests."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.shed = Counter("cutroom_requests_shed_total", "Requests shed under load.", ["reason"], registry=registry)
        self.full, self.late = self.shed.labels("full"), self.shed.labels("late")
        self.wait = Histogram("cutroom_request_wait_seconds", "Waits before requests start.", registry=registry)
        self.waiting = Gauge("cutroom_requests_waiting", "Requests that wait to start.", registry=registry)
        self.running = Gauge("cutroom_requests_running", "Requests that are running.", registry=registry)


class Admission:
    """Starts at most as many requests as keep the process busy; the others wait, in a queue for each library.

    Queues take turns. Beside libraries without a backlog, their requests start only when a turn of the event loop found
    nothing else to do, so that the requests of others hardly wait for them. Queues are bounded, and that of a library
    that stays behind is short.
    """

    def __init__(
        self,
        metrics: AdmissionMetrics,
        *,
        max_running: int,
        max_waiting: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._metrics = metrics
        self._max_running = max_running
        self._max_shared = min(SHARED_SLOTS, max_running)
        self._max_beside_others = min(SLOTS_BESIDE_OTHERS, max_running)
        self._max_waiting = max_waiting  # in queues that have not been empty for long
        self._clock = clock
        self._flows: dict[str, _Flow] = {}
        self._backlog: deque[_Flow] = deque()  # flows with waiting requests, in the order of their turns
        self._slots: dict[Slot, None] = {}  # oldest first
        self._waiting = 0
        self._shed = 0
        self._protected: _Flow | None = None  # has sent a request, and had no backlog
        self._protected_until = 0.0
        self._turn_at = 0.0
        self._busy_turns = 0
        self._is_turning = False  # a call of _turn is scheduled
        self._is_ticking = False
        metrics.waiting.set_function(lambda: self._waiting)
        metrics.running.set_function(lambda: len(self._slots))

    def submit(self, name: str, request: Request) -> None:
        """Start a request of this flow now or later, or shed it."""
        flow = self._flows.get(name)
        if flow is None:
            flow = self._flows[name] = _Flow(name)
        now = self._clock()
        self._expire_slots(now)
        most = self._max_running if flow.slots < self._max_beside_others else self._max_shared
        if not flow.waiting and now >= flow.backlog_until and len(self._slots) < most:
            self._protect(flow, now)
            self._start(flow, request, now)
        else:
            self._enqueue(flow, request, now)

    def _enqueue(self, flow: _Flow, request: Request, now: float) -> None:
        if not flow.waiting:
            flow.filled_at = now
        if len(flow.waiting) >= self._most_waiting(flow, now):
            self._reject(request, self._metrics.full)
            return
        if self._waiting >= MAX_WAITING:
            self._shed_oldest(max(self._backlog, key=lambda each: len(each.waiting)), self._metrics.full)
        if flow.waiting or flow.slots > self._max_shared // 2 or now < flow.backlog_until:
            flow.backlog_until = now + PROTECTED_SECONDS
            if self._protected is flow:
                self._protected = None
        else:  # others have taken the slots
            self._protect(flow, now)
        if not flow.waiting:
            self._backlog.append(flow)
        flow.waiting.append((now, request))
        self._waiting += 1
        self._schedule()

    def _protect(self, flow: _Flow, now: float) -> None:
        self._protected, self._protected_until = flow, now + PROTECTED_SECONDS

    def release(self, slot: Slot) -> None:
        """End the count of a request as running."""
        if slot in self._slots:
            self._leave(slot)
        slot.flow.running -= 1
        self._forget_if_idle(slot.flow)
        if self._waiting:
            self._schedule()

    def _expire_slots(self, now: float) -> None:
        while self._slots and now - (oldest := next(iter(self._slots))).started_at > SLOT_SECONDS:
            self._leave(oldest)

    def _leave(self, slot: Slot) -> None:
        del self._slots[slot]
        slot.flow.slots -= 1

    def _start(self, flow: _Flow, request: Request, now: float) -> None:
        slot = Slot(self, flow, now)
        self._slots[slot] = None
        flow.running += 1
        flow.slots += 1
        self._busy_turns = 0
        request.start(slot)

    def _schedule(self) -> None:
        if not self._is_turning:
            self._is_turning = True
            self._turn_at = -math.inf  # other work came first in this turn
            asyncio.get_running_loop().call_soon(self._turn)
        self._schedule_tick()

    def _schedule_tick(self) -> None:
        if not self._is_ticking:
            self._is_ticking = True
            asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _turn(self) -> None:
        """Run in every turn of the event loop while a waiting request could start."""
        self._is_turning = False
        now = self._clock()
        is_idle, self._turn_at = now - self._turn_at < IDLE_TURN_SECONDS, now
        self._busy_turns += 1
        must_wait = not is_idle and bool(self._slots) and self._busy_turns < TURNS_PER_START
        while (flow := self._next_flow(now)) is not None:
            if must_wait and self._yields(flow, now):
                self._backlog.rotate(1)  # it is still its turn
                break
            arrived, request = self._take_oldest(flow)
            self._metrics.wait.observe(now - arrived)
            self._start(flow, request, now)
            must_wait = True  # one in a turn, unless there is no library to yield to
        else:
            return  # until a request ends, or the next tick
        if self._waiting:
            self._is_turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _next_flow(self, now: float) -> _Flow | None:
        """The flow whose turn it is; None if nothing can start. Its turn then comes after those of all others."""
        self._expire_slots(now)
        if len(self._slots) >= self._max_shared:
            return None
        for _ in range(len(self._backlog)):
            flow = self._backlog[0]
            self._shed_late(flow, now)
            if flow.waiting:
                self._backlog.rotate(-1)
                if self._has_room(flow, now):
                    return flow
        return None

    def _yields(self, flow: _Flow, now: float) -> bool:
        return self._protected is not None and self._protected is not flow and now < self._protected_until

    def _has_room(self, flow: _Flow, now: float) -> bool:
        """Whether another request of a backlog may run; one always may beside those that take long."""
        most = self._max_beside_others if self._yields(flow, now) else self._max_shared
        return not flow.slots or (flow.slots < most and flow.running < self._max_shared)

    def _tick(self) -> None:
        self._is_ticking = False
        now = self._clock()
        for flow in list(self._backlog):
            self._shed_late(flow, now)
        for flow in [each for each in self._flows.values() if now >= each.backlog_until]:
            flow.backlog_until = 0.0
            self._forget_if_idle(flow)
        if self._waiting:
            self._schedule()
        elif self._flows:
            self._schedule_tick()

    def _most_waiting(self, flow: _Flow, now: float) -> int:
        """The bound of a queue. One that is not emptied in time has a share of few places: a request waits for all."""
        if now - flow.filled_at <= STANDING_SECONDS:
            return BURST_WAITING
        return max(LEAST_WAITING, self._max_waiting // max(1, len(self._backlog)))

    def _shed_late(self, flow: _Flow, now: float) -> None:
        """Shed what has waited for too long, what is beyond the bound of a standing queue, and what is gone."""
        most = self._most_waiting(flow, now)
        while flow.waiting:
            arrived, request = flow.waiting[0]
            if request.is_gone:
                self._take_oldest(flow)
            elif len(flow.waiting) > most or now - arrived > MAX_WAIT_SECONDS:
                self._shed_oldest(flow, self._metrics.late)
            else:
                return

    def _shed_oldest(self, flow: _Flow, counter: Counter) -> None:
        self._reject(self._take_oldest(flow)[1], counter)

    def _take_oldest(self, flow: _Flow) -> tuple[float, Request]:
        self._waiting -= 1
        taken = flow.waiting.popleft()
        if not flow.waiting:
            self._backlog.remove(flow)
            self._forget_if_idle(flow)
        return taken

    def _reject(self, request: Request, counter: Counter) -> None:
        counter.inc()
        self._shed += 1
        request.shed(1 + self._shed % RETRY_SPREAD_SECONDS)

    def _forget_if_idle(self, flow: _Flow) -> None:
        if not flow.running and not flow.waiting and not flow.backlog_until:
            self._flows.pop(flow.name, None)


class KnownCredentials:
    """The libraries of recently authenticated credentials, which are not kept themselves."""

    def __init__(self, size: int = KNOWN_CREDENTIALS) -> None:
        self._size = size
        self._libraries: OrderedDict[int, str] = OrderedDict()  # by the credential's hash

    def library_of(self, credential: bytes) -> str | None:
        return self._libraries.get(hash(credential))

    def learn(self, credential: bytes, library_id: str) -> None:
        key = hash(credential)
        self._libraries[key] = library_id
        self._libraries.move_to_end(key)
        if len(self._libraries) > self._size:
            self._libraries.popitem(last=False)

    def forget(self, credential: bytes) -> None:
        self._libraries.pop(hash(credential), None)
