"""Chaos testing: every ten seconds a random process of the service is killed with -9 and restarted."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from dev.services import control
from tests.support.stage import Stage

TARGETS = ("api", "worker", "temporal", "postgres", "redis", "seaweedfs")
KILL_INTERVAL_SECONDS = 10.0
DOWN_SECONDS = 1.0
POLL_SECONDS = 0.5


@dataclass
class Chaos:
    """Kills processes in random order, each once per round, and counts the kills."""

    stage: Stage
    seconds: float  # how long it kills; it restarts processes for as long as it is open
    generator: random.Random = field(default_factory=lambda: random.Random(12))
    killed: Counter[str] = field(default_factory=Counter)
    _remaining: list[str] = field(default_factory=list)

    async def run(self) -> None:
        started = last = time.monotonic()
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await self.keep_running()
            now = time.monotonic()
            if now - started < self.seconds and now - last >= KILL_INTERVAL_SECONDS:
                last = now
                await self._kill(self._choose())

    async def keep_running(self) -> None:
        """Restart the worker like a supervisor, because it exits when Temporal is unavailable."""
        self.stage.worker.keep_running()

    def _choose(self) -> str:
        if not self._remaining:
            self._remaining = list(TARGETS)
            self.generator.shuffle(self._remaining)
        return self._remaining.pop()

    async def _kill(self, target: str) -> None:
        self.killed[target] += 1
        if target == "api":
            await asyncio.to_thread(self.stage.api.kill)
            await asyncio.sleep(DOWN_SECONDS)
            await asyncio.to_thread(self.stage.api.start)
        elif target == "worker":
            await asyncio.to_thread(self.stage.worker.kill)
        else:
            await asyncio.to_thread(control.kill, target)
            await asyncio.sleep(DOWN_SECONDS)
            await asyncio.to_thread(control.start, target)


@asynccontextmanager
async def chaos(stage: Stage, *, seconds: float) -> AsyncIterator[Chaos]:
    killer = Chaos(stage, seconds)
    running = asyncio.create_task(killer.run())
    try:
        yield killer
        if running.done():
            running.result()  # raises: a process did not restart
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
