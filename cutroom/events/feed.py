"""The recent events of one library in this process, and the live progress of its jobs; shared by its subscriptions."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from cutroom.events.service import LoggedEvent

RECENT_EVENTS = 256
RECENT_CHARACTERS = 512 * 1024
PROGRESS_SECONDS = 1.0  # between two reports of a job
ENDED_SECONDS = 2.0  # after the end of a job, reports that were overtaken by it are dropped


@dataclass(frozen=True, slots=True)
class JobProgressReport:
    """What a running job reports; its payload is JSON."""

    job_id: str
    payload: str


class Subscriber(Protocol):
    """What a feed notifies."""

    def wake(self) -> None:
        """There are new events, or the feed was closed."""

    def receive_progress(self, report: JobProgressReport) -> None: ...


class Feed:
    """Holds the events between `floor` and `head`; earlier ones are read from the database."""

    def __init__(self, library_id: str, *, clock: Callable[[], float]) -> None:
        self.library_id = library_id
        self.subscribers: set[Subscriber] = set()
        self.floor = self.head = 0
        self.idle_since = clock()
        self.error: Exception | None = None  # why it was closed
        self._clock = clock
        self._recent: deque[LoggedEvent] = deque()
        self._characters = 0
        self._progress = _ProgressThrottle(self._send_progress, clock)

    def start_at(self, position: int) -> None:
        self.floor = self.head = position

    def extend(self, events: Iterable[LoggedEvent], *, head: int) -> None:
        """Add the events up to a new head, and forget the oldest."""
        for event in events:
            assert event.position > self.head, "one task extends the feeds"
            self._recent.append(event)
            self._characters += len(event.payload)
            if event.type.startswith("job.") and not self._progress.is_empty:
                self._progress.end(str(event.data.get("id")))
        self.head = max(self.head, head)
        while len(self._recent) > RECENT_EVENTS or self._characters > RECENT_CHARACTERS:
            oldest = self._recent.popleft()
            self._characters -= len(oldest.payload)
            self.floor = oldest.position
        self.wake_all()

    def recent_after(self, position: int, *, limit: int) -> list[LoggedEvent] | None:
        """The first events after a position; None if they are not held any more."""
        if position < self.floor:
            return None
        found: list[LoggedEvent] = []
        for event in reversed(self._recent):
            if event.position <= position:
                break
            found.append(event)
        return found[: -limit - 1 : -1]

    def receive_progress(self, report: JobProgressReport) -> None:
        if self.subscribers:
            self._progress.receive(report)

    def _send_progress(self, report: JobProgressReport) -> None:
        for subscriber in self.subscribers:
            subscriber.receive_progress(report)

    def close(self, error: Exception) -> None:
        self.error = error
        self._progress.clear()
        self.wake_all()

    def wake_all(self) -> None:
        for subscriber in self.subscribers:
            subscriber.wake()

    def forget_old_progress(self) -> None:
        self._progress.forget_old()


class _ProgressThrottle:
    """Sends the latest report of each job, at most one in PROGRESS_SECONDS."""

    def __init__(self, send: Callable[[JobProgressReport], None], clock: Callable[[], float]) -> None:
        self._send = send
        self._clock = clock
        self._sent_at: dict[str, float] = {}
        self._ended_at: dict[str, float] = {}
        self._waiting: dict[str, tuple[JobProgressReport, asyncio.TimerHandle]] = {}

    @property
    def is_empty(self) -> bool:
        return not self._sent_at

    def receive(self, report: JobProgressReport) -> None:
        now = self._clock()
        if now < self._ended_at.get(report.job_id, 0.0) + ENDED_SECONDS:
            return
        waiting = self._waiting.get(report.job_id)
        if waiting is not None:
            self._waiting[report.job_id] = (report, waiting[1])
            return
        delay = self._sent_at.get(report.job_id, -PROGRESS_SECONDS) + PROGRESS_SECONDS - now
        if delay <= 0:
            self._sent_at[report.job_id] = now
            self._send(report)
        else:
            timer = asyncio.get_running_loop().call_later(delay, self._send_waiting, report.job_id)
            self._waiting[report.job_id] = (report, timer)

    def _send_waiting(self, job_id: str) -> None:
        report, _ = self._waiting.pop(job_id)
        self._sent_at[job_id] = self._clock()
        self._send(report)

    def end(self, job_id: str) -> None:
        if self._sent_at.pop(job_id, None) is None:
            return
        self._ended_at[job_id] = self._clock()
        if (waiting := self._waiting.pop(job_id, None)) is not None:
            waiting[1].cancel()

    def forget_old(self) -> None:
        now = self._clock()
        self._sent_at = {job: at for job, at in self._sent_at.items() if at + 60 * PROGRESS_SECONDS > now}
        self._ended_at = {job: at for job, at in self._ended_at.items() if at + ENDED_SECONDS > now}

    def clear(self) -> None:
        for _, timer in self._waiting.values():
            timer.cancel()
        self._waiting.clear()
