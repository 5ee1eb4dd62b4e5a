"""Redis, asked in batches: what many requests ask at once goes out and comes back together."""

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


class RedisAwayError(Exception):
    """Redis did not answer, or answered with an error; do without it."""


class Script:
    """A Lua script, sent by its name and, when Redis has not seen it yet, by its text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.name = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()  # as Redis names it


class BatchingRedis:
    """While one batch is on its way, the next one gathers; under load a command costs a fraction of a round trip."""

    def __init__(self, url: str, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._redis = Redis.from_url(
            url,
            socket_timeout=timeout_seconds,
            socket_connect_timeout=timeout_seconds,
            retry=Retry(NoBackoff(), 0),  # one try: nobody waits for a Redis that is away
        )
        self._waiting: list[tuple[Command, asyncio.Future[Any] | None]] = []
        self._sender: asyncio.Task[None] | None = None

    async def run(self, script: Script, keys: Sequence[str], *, arguments: Command) -> Any:  # noqa: ANN401
        """Run a script and wait for its answer, whatever that is."""
        rest: Command = (len(keys), *keys, *arguments)
        try:
            try:
                return await self._ask(("EVALSHA", script.name, *rest))
            except NoScriptError:  # the first time, and after Redis has restarted
                return await self._ask(("EVAL", script.text, *rest))
        except (RedisError, OSError, TimeoutError) as error:
            raise RedisAwayError from error

    async def _ask(self, command: Command) -> Any:  # noqa: ANN401
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._enqueue(command, answer)
        return await answer

    def tell(self, command: Command) -> None:
        """Send a command and do not wait; if it is lost, it is lost."""
        self._enqueue(command, None)

    def _enqueue(self, command: Command, answer: asyncio.Future[Any] | None) -> None:
        self._waiting.append((command, answer))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            pipeline = self._redis.pipeline(transaction=False)
            for command, _ in batch:
                pipeline.execute_command(*command)
            try:
                results: list[Any] = await pipeline.execute(raise_on_error=False)
            except Exception as error:  # noqa: BLE001 (each asker gets it, and decides)
                results = [error] * len(batch)
            for (_, answer), result in zip(batch, results, strict=True):
                if answer is None or answer.done():
                    continue
                if isinstance(result, BaseException):
                    answer.set_exception(result)
                else:
                    answer.set_result(result)
        self._sender = None

    async def close(self) -> None:
        if self._sender is not None:
            await self._sender
        await self._redis.aclose()
