"""Every ten seconds a part of the service, any of them, ends as at a power cut, and is started again."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from dev.services import control
from tests.support.stage import Stage

VICTIMS = ("api", "worker", "temporal", "postgres", "redis", "seaweedfs")
EVERY_SECONDS = 10.0
AWAY_SECONDS = 1.0
LOOK_SECONDS = 0.5


@dataclass
class Chaos:
    """Who was killed, and how often; each is killed before anybody is killed again."""

    stage: Stage
    seconds: float  # for how long it kills; it mends for as long as it is open
    chance: random.Random = field(default_factory=lambda: random.Random(12))
    killed: Counter[str] = field(default_factory=Counter)
    _left: list[str] = field(default_factory=list)

    async def run(self) -> None:
        began = last = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.keep_running()
            now = time.monotonic()
            if now - began < self.seconds and now - last >= EVERY_SECONDS:
                last = now
                await self._kill(self._choose())

    async def keep_running(self) -> None:
        """As a supervisor does: a worker that finds no Temporal gives up."""
        self.stage.worker.keep_running()

    def _choose(self) -> str:
        if not self._left:
            self._left = list(VICTIMS)
            self.chance.shuffle(self._left)
        return self._left.pop()

    async def _kill(self, victim: str) -> None:
        self.killed[victim] += 1
        if victim == "api":
            await asyncio.to_thread(self.stage.api.kill)
            await asyncio.sleep(AWAY_SECONDS)
            await asyncio.to_thread(self.stage.api.start)
        elif victim == "worker":
            await asyncio.to_thread(self.stage.worker.kill)
        else:
            await asyncio.to_thread(control.kill, victim)
            await asyncio.sleep(AWAY_SECONDS)
            await asyncio.to_thread(control.start, victim)


@asynccontextmanager
async def chaos(stage: Stage, *, seconds: float) -> AsyncIterator[Chaos]:
    made = Chaos(stage, seconds)
    running = asyncio.create_task(made.run())
    try:
        yield made
        if running.done():
            running.result()  # it failed: a part did not come back
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
