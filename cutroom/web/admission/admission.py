"""Admits requests to an API process: starts them fairly among libraries, and sheds those that would wait too long."""

import asyncio
import math
import time
from collections.abc import Callable

from cutroom.web.admission.event_loop_load import IDLE_TURN_SECONDS, EventLoopLoad
from cutroom.web.admission.metrics import AdmissionMetrics
from cutroom.web.admission.queues import Flow, FlowQueues, Request, Slot

# A request that takes longer waits for something else than this process, such as a slow upload or another service. It
# leaves its slot to others, but still counts for its own library.
SLOT_SECONDS = 0.25
SHARED_SLOTS = 10  # enough to keep a process busy; the rest of the slots are for libraries with few running requests
SLOTS_BESIDE_OTHERS = 2  # of a library with a backlog, while it yields to others; a library with fewer starts at once
MAX_PAUSE_SECONDS = 0.02  # … between its starts, while a request of these others is running
PROTECTED_SECONDS = 1.0  # after a library without a backlog has sent a request, backlogs of others yield to it
MAX_RUNNING_WHILE_IDLE = 256  # of one library, while the process waits for others
SPARE_SHARE = 4  # a process that waits for others starts more while one of this many database connections is unused
TURNS_PER_START = 10  # a request starts at the latest after this many busy turns
PROBED_TURNS = 8  # of the event loop after a request has ended or started, to find one that did nothing else
TICK_SECONDS = 0.05  # how often waiting times are checked while no request can start
SLOT = "cutroom.slot"  # ASGI scope key of a request's slot


class Admission:
    """Starts at most as many requests as keep the process busy; the others wait, in a queue for each library.

    Queues take turns. Beside libraries without a backlog, their requests start only when a turn of the event loop found
    nothing else to do, so that the requests of others hardly wait for them. A process whose event loop is idle, because
    its requests wait for locks or other services, starts more of them, and no backlog yields.
    """

    def __init__(
        self,
        metrics: AdmissionMetrics,
        *,
        max_running: int,
        max_waiting: int,
        clock: Callable[[], float] = time.perf_counter,
        load: EventLoopLoad | None = None,
    ) -> None:
        self._metrics = metrics
        self._max_running = max_running
        self._max_shared = min(SHARED_SLOTS, max_running)
        self._clock = clock
        self._load = load or EventLoopLoad()
        self._queues = FlowQueues(metrics, places=max_waiting, load=self._load)
        self._spare_connections: Callable[[], int] = lambda: 0
        self._flows: dict[str, Flow] = {}
        self._slots: dict[Slot, None] = {}  # oldest first
        self._protected_slots = 0
        self._protected: Flow | None = None  # has sent a request, and had no backlog
        self._protected_until = 0.0
        self._turn_at = 0.0
        self._busy_turns = 0  # since a request has started
        self._probes = 0  # turns to come although nothing may start in a busy process
        self._is_turning = False  # a call of _turn is scheduled
        self._is_ticking = False
        metrics.waiting.set_function(lambda: self._queues.count)
        metrics.running.set_function(lambda: len(self._slots))

    def watch(self, spare_connections: Callable[[], int]) -> None:
        """Set what returns the number of unused database connections."""
        self._spare_connections = spare_connections

    def submit(self, name: str, request: Request) -> None:
        """Start a request of this flow now or later, or shed it."""
        flow = self._flows.get(name)
        if flow is None:
            flow = self._flows[name] = Flow(name)
        now = self._clock()
        self._expire_slots(now)
        most = self._max_running if flow.slots < SLOTS_BESIDE_OTHERS else self._max_shared
        if not flow.waiting and now >= flow.backlog_until and len(self._slots) < most:
            self._protect(flow, now)
            self._start(flow, request, now)
        elif self._queues.add(flow, request, now):
            self._note_backlog(flow, now)
            self._schedule()

    def _note_backlog(self, flow: Flow, now: float) -> None:
        """Decide whether a flow whose request has to wait has a backlog, or finds the slots taken by others."""
        if len(flow.waiting) > 1 or flow.slots > self._max_shared // 2 or now < flow.backlog_until:
            flow.backlog_until = now + PROTECTED_SECONDS
            if self._protected is flow:
                self._protected = None
        else:
            self._protect(flow, now)

    def _protect(self, flow: Flow, now: float) -> None:
        self._protected, self._protected_until = flow, now + PROTECTED_SECONDS

    def release(self, slot: Slot) -> None:
        """End the count of a request as running."""
        if slot in self._slots:
            self._leave(slot)
        slot.flow.running -= 1
        self._forget_if_idle(slot.flow)
        if self._queues.count:
            self._schedule()

    def _expire_slots(self, now: float) -> None:
        while self._slots and now - (oldest := next(iter(self._slots))).started_at > SLOT_SECONDS:
            self._leave(oldest)

    def _leave(self, slot: Slot) -> None:
        del self._slots[slot]
        slot.flow.slots -= 1
        self._protected_slots -= slot.is_protected

    def _start(self, flow: Flow, request: Request, now: float) -> None:
        slot = Slot(self.release, flow, now, is_protected=now >= flow.backlog_until)
        self._slots[slot] = None
        self._protected_slots += slot.is_protected
        flow.running += 1
        flow.slots += 1
        flow.started_at = now
        self._busy_turns, self._probes = 0, PROBED_TURNS
        request.start(slot)

    def _schedule(self) -> None:
        self._probes = PROBED_TURNS
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
        now, turn_at = self._clock(), self._load.cpu_clock()
        is_idle, self._turn_at = turn_at - self._turn_at < IDLE_TURN_SECONDS, turn_at
        self._busy_turns += 1
        self._probes -= 1
        must_wait = not is_idle and bool(self._slots) and self._busy_turns < TURNS_PER_START
        while (flow := self._next_flow(now, is_idle=is_idle)) is not None:
            if must_wait and self._yields(flow, now):
                self._queues.turns.rotate(1)  # it is still its turn
                break
            arrived, request = self._queues.take(flow)
            self._metrics.wait.observe(now - arrived)
            self._start(flow, request, now)
            must_wait, is_idle = True, False  # one in a turn, unless there is no library to yield to
        else:
            if not self._load.is_idle or self._probes <= 0:
                return  # until a request ends, or the next tick
        if self._queues.count:
            self._is_turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _next_flow(self, now: float, *, is_idle: bool) -> Flow | None:
        """The flow whose turn it is; None if nothing can start. Its turn then comes after those of all others."""
        self._expire_slots(now)
        exceeds_slots = is_idle and self._load.is_idle and self._has_spare_connections()
        if len(self._slots) >= self._max_shared and not exceeds_slots:
            return None
        for _ in range(len(self._queues.turns)):
            flow = self._queues.turns[0]
            self._queues.shed_late(flow, now)
            if flow.waiting:
                self._queues.turns.rotate(-1)
                if self._has_room(flow, now) or (exceeds_slots and flow.running < MAX_RUNNING_WHILE_IDLE):
                    return flow
            else:
                self._forget_if_idle(flow)
        return None

    def _has_spare_connections(self) -> bool:
        return self._spare_connections() * SPARE_SHARE > self._max_running

    def _yields(self, flow: Flow, now: float) -> bool:
        is_beside_others = self._protected is not None and self._protected is not flow
        return is_beside_others and now < self._protected_until and not self._load.is_idle

    def _has_room(self, flow: Flow, now: float) -> bool:
        """Whether another request of a backlog may run; one always may beside those that take long."""
        most = self._max_shared
        if self._yields(flow, now):
            if self._protected_slots and now - flow.started_at < MAX_PAUSE_SECONDS:
                return False
            most = SLOTS_BESIDE_OTHERS
        return not flow.slots or (flow.slots < most and flow.running < self._max_shared)

    def _tick(self) -> None:
        self._is_ticking = False
        now = self._clock()
        for flow in list(self._queues.turns):
            self._queues.shed_late(flow, now)
            self._forget_if_idle(flow)
        for flow in [each for each in self._flows.values() if now >= each.backlog_until]:
            flow.backlog_until = 0.0
            self._forget_if_idle(flow)
        self._queues.shed_log.write(now)
        if self._flows:
            self._load.sample()
        if self._queues.count:
            self._schedule()
        elif self._flows or not self._queues.shed_log.is_empty:
            self._schedule_tick()
        else:
            self._load.reset()

    def _forget_if_idle(self, flow: Flow) -> None:
        if flow.is_idle:
            self._flows.pop(flow.name, None)
