"""The requests that wait to start: a queue for each library, in turns and bounded."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from prometheus_client import Counter

from cutroom.web.admission.event_loop_load import EventLoopLoad
from cutroom.web.admission.metrics import AdmissionMetrics, ShedLog

MAX_WAITING = 2_000  # in all queues
# A burst may wait. A queue stands when it has taken in more than a burst since it was last empty: counted in requests,
# not in time, so that a slow machine sheds no more than another. Libraries with waiting requests share both.
BURST_WAITING = 256
IDLE_BURST = 1_024  # instead, before a queue stands while the process waits for others: the burst may end by itself
LEAST_WAITING = 1  # in the queue of one library that stands, however many libraries share the places
SHED_PER_ARRIVAL = 4  # at most, of the oldest in a queue beyond its bound; a burst that nothing follows is left alone
MAX_WAIT_SECONDS = 30.0  # of a burst that nothing follows; clients give up at some time
RETRY_SPREAD_SECONDS = 3  # shed clients come back after 1 to 3 seconds, and not all at once


class Slot:
    """The right of one request to run."""

    __slots__ = ("_release", "flow", "is_protected", "started_at")

    def __init__(
        self, release: Callable[["Slot"], None], flow: "Flow", started_at: float, *, is_protected: bool
    ) -> None:
        self._release: Callable[[Slot], None] | None = release
        self.flow = flow
        self.started_at = started_at
        self.is_protected = is_protected  # its library had no backlog

    def release(self) -> None:
        """Let another request start; later calls have no effect."""
        if self._release is not None:
            release, self._release = self._release, None
            release(self)


class Request(Protocol):
    """A request whose head has arrived."""

    def start(self, slot: Slot) -> None:
        """Run it; release the slot when it ends."""

    def shed(self, retry_seconds: int) -> None:
        """Reject it."""

    @property
    def is_gone(self) -> bool:
        """Whether the client has disconnected."""


@dataclass(slots=True, eq=False)
class Flow:
    """The requests of one library, or of one client address if their library is unknown."""

    name: str
    running: int = 0
    slots: int = 0  # running, and not for long
    waiting: deque[tuple[float, Request]] = field(default_factory=deque)  # with their arrival, oldest first
    started_at: float = 0.0  # the newest start
    taken_in: int = 0  # requests that had to wait since the queue was last empty
    backlog_until: float = 0.0

    @property
    def is_idle(self) -> bool:
        return not self.running and not self.waiting and not self.backlog_until


class FlowQueues:
    """The waiting requests of all flows.

    A queue that stands has a share of few places, because each of its requests waits for all before it.
    """

    def __init__(self, metrics: AdmissionMetrics, *, places: int, load: EventLoopLoad) -> None:
        self._metrics = metrics
        self._places = places
        self._load = load
        self._shed = 0
        self.shed_log = ShedLog()
        self.turns: deque[Flow] = deque()  # flows with waiting requests, in the order of their turns
        self.count = 0

    def add(self, flow: Flow, request: Request, now: float) -> bool:
        """Let a request wait; returns False if it was shed."""
        if not flow.waiting and now >= flow.backlog_until:  # an empty moment does not end a backlog
            flow.taken_in = 0
        if len(flow.waiting) >= BURST_WAITING:
            self._reject(flow, request, self._metrics.full)
            return False
        if self.count >= MAX_WAITING:
            self._shed_oldest(max(self.turns, key=lambda each: len(each.waiting)))
        if not flow.waiting:
            self.turns.append(flow)
        flow.waiting.append((now, request))
        flow.taken_in += 1
        self.count += 1
        for _ in range(min(SHED_PER_ARRIVAL, len(flow.waiting) - self._most_waiting(flow))):
            self._shed_oldest(flow)
        return True

    def take(self, flow: Flow) -> tuple[float, Request]:
        """Remove the oldest request of a flow; returns it with its arrival."""
        self.count -= 1
        taken = flow.waiting.popleft()
        if not flow.waiting:
            self.turns.remove(flow)
        return taken

    def shed_late(self, flow: Flow, now: float) -> None:
        """Shed what has waited for too long, and forget what is gone."""
        while flow.waiting:
            arrived, request = flow.waiting[0]
            if request.is_gone:
                self.take(flow)
            elif now - arrived > MAX_WAIT_SECONDS:
                self._reject(flow, self.take(flow)[1], self._metrics.late)
            else:
                return

    def _most_waiting(self, flow: Flow) -> int:
        burst = IDLE_BURST if self._load.is_idle else BURST_WAITING
        if flow.taken_in <= burst // len(self.turns):
            return BURST_WAITING // len(self.turns)
        return max(LEAST_WAITING, self._places // len(self.turns))

    def _shed_oldest(self, flow: Flow) -> None:
        self._reject(flow, self.take(flow)[1], self._metrics.full)

    def _reject(self, flow: Flow, request: Request, counter: Counter) -> None:
        counter.inc()
        self.shed_log.count(flow.name)
        self._shed += 1
        request.shed(1 + self._shed % RETRY_SPREAD_SECONDS)
