"""Follows what transactions have changed, for pages that show it: notifications of database triggers, by library.

A notification is sent with the commit of its transaction, so none is lost while the connection lasts. After it was
lost, all followers learn that they may have missed changes.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import asyncpg

from cutroom.platform.db import CONNECT_TIMEOUT_SECONDS, DATABASE_ERRORS
from cutroom.platform.messages.ending import end_tasks

CHANNEL = "changes"
APPLICATION = "cutroom-changes"  # the name of the connection in pg_stat_activity
RECENT_CHANGES = 4_096  # kept for followers that start with a snapshot from before
RECONNECT_SECONDS = 1.0
PING_SECONDS = 10.0
MAX_SNAPSHOT = 2_000  # characters
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Which transactions had been committed when something was read, as `pg_current_snapshot()`."""

    minimum: int  # all before have ended
    maximum: int  # this one and all later ones had not started
    running: frozenset[int] = frozenset()

    @classmethod
    def parse(cls, text: str) -> "Snapshot | None":
        """Return None for anything that PostgreSQL did not return."""
        minimum, _, rest = text[: MAX_SNAPSHOT + 1].partition(":")
        maximum, _, running = rest.partition(":")
        numbers = [minimum, maximum, *(running.split(",") if running else ())]
        if len(text) > MAX_SNAPSHOT or not all(each.isascii() and each.isdigit() for each in numbers):
            return None
        return cls(int(minimum), int(maximum), frozenset(map(int, numbers[2:])))

    def sees(self, transaction: int) -> bool:
        return transaction < self.minimum or (transaction < self.maximum and transaction not in self.running)


@dataclass(frozen=True, slots=True)
class Change:
    """A transaction changed something about a topic of a library, or of a session."""

    key: str
    topic: str
    transaction: int

    @classmethod
    def parse(cls, payload: str) -> "Change":
        key, topic, transaction = payload.split(" ")
        return cls(key, topic, int(transaction))


@dataclass(frozen=True, slots=True)
class Changes:
    """The topics that have changed; if some may have been missed, any can have."""

    topics: frozenset[str] = frozenset()
    is_incomplete: bool = False

    def __bool__(self) -> bool:
        return bool(self.topics) or self.is_incomplete


@dataclass(eq=False)
class ChangeFollower:
    """One follower; it holds topics, not changes, so that a slow one needs no memory."""

    topics: set[str] = field(default_factory=set)
    is_incomplete: bool = False
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    async def next(self) -> Changes:
        """Wait for changes, and return those since the last call."""
        await self.woken.wait()
        self.woken.clear()
        found = Changes(frozenset(self.topics), self.is_incomplete)
        self.topics.clear()
        self.is_incomplete = False
        return found

    def receive(self, topic: str) -> None:
        self.topics.add(topic)
        self.woken.set()

    def miss(self) -> None:
        self.is_incomplete = True
        self.woken.set()


class ChangeHub:
    """Listens on one connection of its own for all followers in this process."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._followers: dict[str, set[ChangeFollower]] = {}
        self._recent: deque[Change] = deque()
        self._complete_from: int | None = None  # later transactions are among the recent ones; None while disconnected

    @asynccontextmanager
    async def running(self) -> AsyncIterator["ChangeHub"]:
        task = asyncio.create_task(self._run())
        try:
            yield self
        finally:
            await end_tasks([task])

    @asynccontextmanager
    async def follow(self, keys: Iterable[str], *, since: Snapshot | None) -> AsyncIterator[ChangeFollower]:
        """Follows libraries and sessions from a snapshot on; without one, all that changed before was missed."""
        follower, keys = ChangeFollower(), tuple(keys)
        for key in keys:
            self._followers.setdefault(key, set()).add(follower)
        self._replay(follower, keys, since)
        try:
            yield follower
        finally:
            for key in keys:
                self._followers[key].discard(follower)
                if not self._followers[key]:
                    del self._followers[key]

    def _replay(self, follower: ChangeFollower, keys: tuple[str, ...], since: Snapshot | None) -> None:
        if since is None or (self._complete_from is not None and since.minimum < self._complete_from):
            follower.miss()
            return
        for change in self._recent:
            if change.key in keys and not since.sees(change.transaction):
                follower.receive(change.topic)

    async def _run(self) -> None:
        while True:
            try:
                await self._listen()
            except DATABASE_ERRORS as error:
                _log.warning("changes not received", extra={"error": repr(error)})
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _listen(self) -> None:
        """One connection, until it fails."""
        is_closed = asyncio.Event()
        connection = await asyncpg.connect(
            self._url, timeout=CONNECT_TIMEOUT_SECONDS, server_settings={"application_name": APPLICATION}
        )
        connection.add_termination_listener(lambda _: is_closed.set())
        try:
            await connection.add_listener(CHANNEL, self._receive)
            snapshot = Snapshot.parse(await connection.fetchval("SELECT pg_current_snapshot()::text"))
            assert snapshot is not None
            self._recent.clear()
            self._complete_from = snapshot.maximum
            for follower in {each for followers in self._followers.values() for each in followers}:
                follower.miss()
            while not is_closed.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(is_closed.wait(), PING_SECONDS)
                await connection.execute("SELECT 1", timeout=PING_SECONDS)
        finally:
            self._complete_from = None
            connection.terminate()

    def _receive(self, _connection: object, _process: int, _channel: str, payload: object) -> None:
        change = Change.parse(str(payload))
        self._recent.append(change)
        if len(self._recent) > RECENT_CHANGES and self._complete_from is not None:
            oldest = self._recent.popleft()
            self._complete_from = max(self._complete_from, oldest.transaction + 1)
        for follower in self._followers.get(change.key, ()):
            follower.receive(change.topic)
