"""The events that a feed holds, and how often it sends progress."""

import asyncio
import time

from cutroom.events import feed as module
from cutroom.events.feed import Feed, JobProgressReport
from cutroom.events.service import LoggedEvent
from cutroom.platform.clock import system_clock


class Listener:
    """A subscriber that counts."""

    def __init__(self) -> None:
        self.woken = 0
        self.reports: list[str] = []
        self.received = asyncio.Event()

    def wake(self) -> None:
        self.woken += 1

    def receive_progress(self, report: JobProgressReport) -> None:
        self.reports.append(report.payload)
        self.received.set()


def event(position: int, payload: str = '{"id":"job"}') -> LoggedEvent:
    return LoggedEvent(position, f"e{position}", "job.ready", system_clock(), payload)


def feed_with(count: int, *, payload: str = "{}") -> Feed:
    feed = Feed("library", clock=time.monotonic)
    feed.start_at(100)
    feed.extend([event(100 + number, payload) for number in range(1, count + 1)], head=100 + count)
    return feed


async def test_recent_events_come_in_order_and_in_pages() -> None:
    feed = feed_with(5)
    assert [each.position for each in feed.recent_after(102, limit=10) or ()] == [103, 104, 105]
    assert [each.position for each in feed.recent_after(100, limit=2) or ()] == [101, 102]
    assert feed.recent_after(105, limit=2) == []


async def test_what_is_not_held_any_more_is_known() -> None:
    feed = feed_with(module.RECENT_EVENTS + 10)
    assert feed.recent_after(109, limit=1) is None
    held = feed.recent_after(110, limit=module.RECENT_EVENTS) or []
    assert [held[0].position, len(held)] == [111, module.RECENT_EVENTS]


async def test_large_payloads_are_held_within_the_bound() -> None:
    feed = feed_with(20, payload="x" * (module.RECENT_CHARACTERS // 4))
    assert feed.floor == 116
    assert len(feed.recent_after(116, limit=100) or ()) == 4


async def test_progress_of_a_job_is_sent_at_most_once_a_second() -> None:
    now, listener = [1_000.0], Listener()
    feed = Feed("library", clock=lambda: now[0])
    feed.subscribers.add(listener)
    for number in range(5):
        feed.receive_progress(JobProgressReport("one", f"one {number}"))
        feed.receive_progress(JobProgressReport("two", f"two {number}"))
    assert listener.reports == ["one 0", "two 0"]
    listener.received.clear()
    await listener.received.wait()  # the timer of the first
    assert listener.reports[2:] in (["one 4"], ["one 4", "two 4"])  # what was overtaken is left out
    feed.close(RuntimeError())


async def test_progress_that_the_end_of_its_job_has_overtaken_is_dropped() -> None:
    now, listener = [1_000.0], Listener()
    feed = Feed("library", clock=lambda: now[0])
    feed.subscribers.add(listener)
    feed.receive_progress(JobProgressReport("job", "before"))
    feed.extend([event(1)], head=1)
    now[0] += module.PROGRESS_SECONDS
    feed.receive_progress(JobProgressReport("job", "overtaken"))
    assert listener.reports == ["before"]
    now[0] += module.ENDED_SECONDS
    feed.receive_progress(JobProgressReport("job", "of another attempt"))
    assert listener.reports == ["before", "of another attempt"]
