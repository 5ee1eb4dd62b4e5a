"""Redis publish/subscribe between processes: messages to the followers of a topic, each of which may be lost."""

import asyncio
import logging
import random
from collections.abc import Callable, Iterable
from contextlib import suppress

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from cutroom.platform.messages.announcements import Announcement
from cutroom.platform.redis import BatchingRedis

CONNECT_SECONDS = 2.0
SEND_SECONDS = 5.0
CONFIRM_SECONDS = 0.5
PING_SECONDS = 10.0  # without a message; a connection whose ping is not answered in this time is replaced
RECONNECT_SECONDS = 0.5  # on average
_PREFIX = "broadcast:"
_OWN = f"{_PREFIX}-"  # followed by every receiver, so that it is connected before anything else is
_log = logging.getLogger(__name__)

OnMessage = Callable[[str, str], None]  # takes the topic and the message


class Broadcaster:
    """Sends messages without waiting for Redis."""

    def __init__(self, url: str) -> None:
        # Nothing waits for it, so a slow moment of the machine need not lose messages.
        self._redis = BatchingRedis(url, timeout_seconds=SEND_SECONDS)

    async def close(self) -> None:
        await self._redis.close()

    def send_all(self, announcements: Iterable[Announcement]) -> None:
        for each in announcements:
            self._redis.send(("PUBLISH", f"{_PREFIX}{each.topic}", each.message))


class BroadcastReceiver:
    """Receives the messages of the followed topics; it reconnects by itself, and says so, because some were missed."""

    def __init__(self, url: str, *, on_message: OnMessage, on_connect: Callable[[], None]) -> None:
        self._redis = Redis.from_url(
            url,
            socket_connect_timeout=CONNECT_SECONDS,
            socket_timeout=CONNECT_SECONDS,
            retry=Retry(NoBackoff(), 0),
            decode_responses=True,
        )
        self._on_message = on_message
        self._on_connect = on_connect
        self._topics: set[str] = set()
        self._changed = asyncio.Event()
        self._pubsub: PubSub | None = None
        self._is_open = True  # or being opened
        self._confirmations: dict[str, asyncio.Event] = {}

    async def follow(self, topic: str) -> None:
        """Returns when messages are received, or soon if Redis is unavailable."""
        channel = f"{_PREFIX}{topic}"
        self._topics.add(channel)
        self._changed.set()
        if self._is_open:
            confirmed = self._confirmations.setdefault(channel, asyncio.Event())
            with suppress(TimeoutError):
                async with asyncio.timeout(CONFIRM_SECONDS):
                    await confirmed.wait()

    def unfollow(self, topic: str) -> None:
        self._topics.discard(f"{_PREFIX}{topic}")
        self._changed.set()

    async def run(self) -> None:
        """Until cancelled."""
        try:
            while True:
                try:
                    await self._receive()
                except (RedisError, OSError, TimeoutError, RuntimeError) as error:
                    _log.warning("broadcasts not received", extra={"error": repr(error)})
                await asyncio.sleep(RECONNECT_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 (jitter)
        finally:
            await self._redis.aclose()

    async def _receive(self) -> None:
        """One connection, until it fails."""
        self._pubsub = pubsub = self._redis.pubsub()
        self._is_open = True
        try:
            followed = set(self._topics)
            await pubsub.subscribe(_OWN, *followed)
            updating = asyncio.create_task(self._update(pubsub, followed))
            await self._read(pubsub, updating)
        finally:
            self._pubsub, self._is_open = None, False
            self._changed.set()  # ends the update: its cancellation could get lost in the client
            for confirmed in self._confirmations.values():
                confirmed.set()
            self._confirmations.clear()
            await pubsub.aclose()  # type: ignore[no-untyped-call]

    async def _update(self, pubsub: PubSub, followed: set[str]) -> None:
        while True:
            await self._changed.wait()
            if pubsub is not self._pubsub:
                return
            self._changed.clear()
            wanted = set(self._topics)
            if added := wanted - followed:
                await pubsub.subscribe(*added)
            if removed := followed - wanted:
                await pubsub.unsubscribe(*removed)
            followed = wanted

    async def _read(self, pubsub: PubSub, updating: "asyncio.Task[None]") -> None:
        is_pinged = False
        while not updating.done():
            message = await pubsub.get_message(timeout=PING_SECONDS)
            if message is None:
                if is_pinged:
                    raise TimeoutError("Redis did not answer a ping")
                await pubsub.ping()
                is_pinged = True
                continue
            is_pinged = False
            if message["type"] == "subscribe":
                self._confirm(message["channel"])
            elif message["type"] == "message":
                self._on_message(message["channel"].removeprefix(_PREFIX), message["data"])

        updating.result()  # raises what has ended it

    def _confirm(self, channel: str) -> None:
        if channel == _OWN:  # with all topics that were followed before
            self._on_connect()
        if (confirmed := self._confirmations.pop(channel, None)) is not None:
            confirmed.set()
