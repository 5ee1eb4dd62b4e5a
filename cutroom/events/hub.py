"""Follows the event logs of libraries for all readers of one API process.

The interface that other packages build on, through `runtime.events`:

    async with runtime.events.subscribe(library_id, with_progress=True) as subscription:
        ...  # state that is read here is older than everything that the subscription returns
        batch = await subscription.next(timeout_seconds=30.0)
        for event in batch.events: ...  # a LoggedEvent: position, id, type, created_at, data
        for report in batch.progress: ...  # a JobProgressReport: job_id, payload (JSON)

`next` returns an empty batch, which is false, when the time is up or the process stops: the caller stops waiting too.
Events come in the order of the log, each once and none is skipped; `subscription.position` is that of the last one.
Without `after`, a subscription starts at the end of the log. It holds no database connection while it waits. It raises
when the library is moved or erased, and when the database fails.

The table is the truth: a Redis message makes the process look at once, and all followed libraries are checked every
few seconds, so that a lost message costs time only. A subscription has a position and no queue: a slow reader holds
no memory, and reads from the database what the feed of its library does not hold any more.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from cutroom.errors import Code, CutroomError, not_found
from cutroom.events.feed import Feed, JobProgressReport
from cutroom.events.rules import EVENT_TYPES
from cutroom.events.service import LoggedEvent, read_bounds, read_events, read_heads, read_tails, topic_of
from cutroom.platform import moved
from cutroom.platform.db import DATABASE_ERRORS, Database
from cutroom.platform.messages.broadcast import BroadcastReceiver
from cutroom.platform.messages.ending import end_tasks

CHECK_SECONDS = 3.0  # between two looks at the logs of all followed libraries
PAGE = 100  # events in a batch
TAIL_PAGE = 200  # events of one library that are read at once
PACE_SECONDS = 0.02  # between two reads, so that many small ones become few
CONCURRENT_READS = 4  # database connections that all subscriptions of a process use at once
IDLE_FEED_SECONDS = 15.0  # a library is followed on after its last subscription: long polls return
MAX_REPORTS = 200  # jobs whose latest report waits for a slow reader
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Batch:
    """What a subscription has not returned before; false if it is empty."""

    events: Sequence[LoggedEvent] = ()
    progress: Sequence[JobProgressReport] = ()

    def __bool__(self) -> bool:
        return bool(self.events or self.progress)


class Subscription:
    """One reader of a library's log."""

    def __init__(
        self, hub: "EventHub", feed: Feed, *, position: int, types: Sequence[str], with_progress: bool
    ) -> None:
        self.position = position  # of the last event that was returned or left out
        self._hub = hub
        self._feed = feed
        self._types = types
        self._with_progress = with_progress
        self._reports: dict[str, JobProgressReport] = {}
        self._woken = asyncio.Event()

    @property
    def has_ended(self) -> bool:
        """Whether the process stops: every batch is empty from now on."""
        return self._hub.has_ended

    async def next(self, timeout_seconds: float | None = None) -> Batch:
        """Wait for events or progress; return an empty batch when the time is up, or when the process stops."""
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._next()
        except TimeoutError:
            return Batch()

    async def _next(self) -> Batch:
        while True:
            self._woken.clear()
            if self._feed.error is not None:
                raise self._feed.error
            events = await self._read()
            reports, self._reports = list(self._reports.values()), {}
            if (batch := Batch(events, reports)) or self.has_ended:
                return batch
            if self.position >= self._feed.head:
                await self._woken.wait()

    async def _read(self) -> list[LoggedEvent]:
        head = self._feed.head
        if self.position >= head:
            return []
        found = self._feed.recent_after(self.position, limit=PAGE)
        if found is None:  # a cancelled read leaves the position as it was
            found = await self._hub.read_page(self._feed.library_id, self.position, types=self._types)
            last = found[-1].position if found else head
            self.position = last if len(found) == PAGE else max(last, head)
            return found
        self.position = found[-1].position if len(found) == PAGE else max(self.position, head)
        return [each for each in found if each.type in self._types]

    def wake(self) -> None:
        self._woken.set()

    def receive_progress(self, report: JobProgressReport) -> None:
        if not self._with_progress:
            return
        self._reports[report.job_id] = report
        if len(self._reports) > MAX_REPORTS:
            del self._reports[next(iter(self._reports))]
        self._woken.set()


class EventHub:
    """The feeds of the libraries that this process follows."""

    def __init__(
        self,
        database: Database,
        redis_url: str,
        *,
        check_seconds: float = CHECK_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._receiver = BroadcastReceiver(redis_url, on_message=self._receive, on_connect=self._check_soon)
        self._check_seconds = check_seconds
        self._monotonic = monotonic
        self._feeds: dict[str, Feed] = {}
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._behind: dict[str, Feed] = {}  # their logs may have more than their heads
        self._has_behind = asyncio.Event()
        self._reads = asyncio.Semaphore(CONCURRENT_READS)
        self._must_check = asyncio.Event()
        self.has_ended = False

    def end(self) -> None:
        """End all subscriptions, because the process stops."""
        self.has_ended = True
        for feed in self._feeds.values():
            feed.wake_all()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["EventHub"]:
        """Follows logs inside the block."""
        running = (self._receiver.run(), self._read_forever(), self._check_forever())
        tasks = [asyncio.create_task(each) for each in running]
        try:
            yield self
        finally:
            tasks += self._opening.values()
            await end_tasks(tasks)

    @asynccontextmanager
    async def subscribe(
        self,
        library_id: str,
        *,
        after: int | None = None,
        types: Sequence[str] = EVENT_TYPES,
        with_progress: bool = False,
    ) -> AsyncIterator[Subscription]:
        """Subscribes to the events after a position, or to those from now on."""
        feed = await self._open(library_id)
        position = feed.head if after is None else after
        subscription = Subscription(self, feed, position=position, types=types, with_progress=with_progress)
        feed.subscribers.add(subscription)
        try:
            yield subscription
        finally:
            feed.subscribers.discard(subscription)
            feed.idle_since = self._monotonic()

    @property
    def subscriptions(self) -> int:
        return sum(len(feed.subscribers) for feed in self._feeds.values())

    async def read_page(self, library_id: str, after: int, *, types: Sequence[str]) -> list[LoggedEvent]:
        async with self._reads, self._database.transaction(library_id) as connection:
            return await read_events(connection, library_id, after=after, limit=PAGE, types=types)

    async def _open(self, library_id: str) -> Feed:
        while True:
            feed = self._feeds.get(library_id)
            if feed is not None:
                return feed
            opening = self._opening.get(library_id)
            if opening is None:
                opening = self._opening[library_id] = asyncio.create_task(self._add(library_id))
                opening.add_done_callback(lambda _: self._opening.pop(library_id, None))
            await asyncio.shield(opening)

    async def _add(self, library_id: str) -> None:
        """Follow the library's announcements before its log is read, so that none is missed in between."""
        feed = Feed(library_id, clock=self._monotonic)
        await self._receiver.follow(topic_of(library_id))
        try:
            async with self._reads, self._database.transaction(library_id) as connection:
                feed.start_at((await read_bounds(connection, library_id)).last)
        except BaseException:
            self._receiver.unfollow(topic_of(library_id))
            raise
        self._feeds[library_id] = feed
        self._refresh(feed)  # for what was announced while it was read

    def _receive(self, topic: str, message: str) -> None:
        feed = self._feeds.get(topic.partition(":")[2])
        if feed is None:
            return
        if not message:
            self._refresh(feed)
            return
        job_id, _, payload = message.partition(" ")
        feed.receive_progress(JobProgressReport(job_id, payload))

    def _refresh(self, feed: Feed) -> None:
        """Read the end of its log soon, together with those of other libraries."""
        self._behind[feed.library_id] = feed
        self._has_behind.set()

    async def _read_forever(self) -> None:
        """Several messages cost one read; after a failure, the next check tries again."""
        while True:
            await self._has_behind.wait()
            self._has_behind.clear()
            feeds, self._behind = list(self._behind.values()), {}
            await self._read_tails(feeds)
            await asyncio.sleep(PACE_SECONDS)

    async def _read_tails(self, feeds: Sequence[Feed]) -> None:
        feeds = [each for each in feeds if each.error is None]
        try:
            async with self._reads, self._database.connection() as connection:
                heads = await read_heads(connection, [each.library_id for each in feeds])
                positions = {each.library_id: each.head for each in feeds if heads.get(each.library_id, 0) > each.head}
                tails = await read_tails(connection, positions, limit=TAIL_PAGE) if positions else {}
        except DATABASE_ERRORS as error:
            _log.warning("event logs not read", extra={"error": repr(error)})
            return
        for feed in feeds:
            if feed.library_id not in heads:
                self._close(feed, CutroomError(Code.INTERNAL, headers=dict(moved.HEADERS)))  # or it is being erased
            elif (events := tails.get(feed.library_id)) is not None:
                is_full = len(events) == TAIL_PAGE
                last = events[-1].position if events else 0
                feed.extend(events, head=last if is_full else max(last, heads[feed.library_id]))
                if is_full:
                    self._refresh(feed)

    def _check_soon(self) -> None:
        self._must_check.set()

    async def _check_forever(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._check_seconds):
                    await self._must_check.wait()
            self._must_check.clear()
            self._drop_idle_feeds()
            for feed in self._feeds.values():
                feed.forget_old_progress()
                self._refresh(feed)

    def _drop_idle_feeds(self) -> None:
        idle_before = self._monotonic() - IDLE_FEED_SECONDS
        for feed in list(self._feeds.values()):
            if not feed.subscribers and feed.idle_since < idle_before:
                self._close(feed, not_found())

    def _close(self, feed: Feed, error: Exception) -> None:
        if self._feeds.get(feed.library_id) is feed:
            del self._feeds[feed.library_id]
            self._receiver.unfollow(topic_of(feed.library_id))
        feed.close(error)
