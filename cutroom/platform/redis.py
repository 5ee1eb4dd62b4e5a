"""A Redis client that pipelines the commands of concurrent requests."""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError

TIMEOUT_SECONDS = 0.25
MAX_BATCH = 500

Command = Sequence[str | int]


class RedisUnavailableError(Exception):
    """Redis timed out or returned an error; callers must work without it."""


class Script:
    """A Lua script, called by its hash and loaded on first use."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sha1 = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class BatchingRedis:
    """Collects commands while a batch is in flight, so that under load a command costs a fraction of a round trip."""

    def __init__(self, url: str, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._redis = Redis.from_url(
            url,
            socket_timeout=timeout_seconds,
            socket_connect_timeout=timeout_seconds,
            retry=Retry(NoBackoff(), 0),  # no retries: requests do not wait for an unavailable Redis
        )
        self._pending: list[tuple[Command, asyncio.Future[Any] | None]] = []
        self._sender: asyncio.Task[None] | None = None

    async def run(self, script: Script, keys: Sequence[str], *, arguments: Command) -> Any:  # noqa: ANN401
        """Runs a script and returns its result."""
        rest: Command = (len(keys), *keys, *arguments)
        try:
            try:
                return await self._request(("EVALSHA", script.sha1, *rest))
            except NoScriptError:  # on first use, and after Redis has restarted
                return await self._request(("EVAL", script.text, *rest))
        except (RedisError, OSError, TimeoutError) as error:
            raise RedisUnavailableError from error

    async def _request(self, command: Command) -> Any:  # noqa: ANN401
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._enqueue(command, future)
        return await future

    def send(self, command: Command) -> None:
        """Sends a command without waiting for its result; it may be lost."""
        self._enqueue(command, None)

    def _enqueue(self, command: Command, future: asyncio.Future[Any] | None) -> None:
        self._pending.append((command, future))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._pending:
            batch, self._pending = self._pending[:MAX_BATCH], self._pending[MAX_BATCH:]
            pipeline = self._redis.pipeline(transaction=False)
            for command, _ in batch:
                pipeline.execute_command(*command)
            try:
                results: list[Any] = await pipeline.execute(raise_on_error=False)
            except Exception as error:  # noqa: BLE001 - delivered to every waiting caller
                results = [error] * len(batch)
            for (_, future), result in zip(batch, results, strict=True):
                if future is None or future.done():
                    continue
                if isinstance(result, BaseException):
                    future.set_exception(result)
                else:
                    future.set_result(result)
        self._sender = None

    async def close(self) -> None:
        if self._sender is not None:
            await self._sender
        await self._redis.aclose()
