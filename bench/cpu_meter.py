"""A worker whose processor time can be read, with all that its programs use."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil

from tests.support.stage import Stage, WorkerProcess

SETTLE_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class CpuMeter:
    """A running worker."""

    process: psutil.Process

    def cpu_seconds(self) -> float:
        """Seconds of the processor so far: its own, and those of the programs that have ended."""
        times = self.process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)


@asynccontextmanager
async def metered_worker(stage: Stage, variables: Mapping[str, str] | None = None) -> AsyncIterator[CpuMeter]:
    """In place of the stage's own worker. It begins with no engine loaded.

    Its programs run without walls: bubblewrap hides from the kernel's books what runs inside it.
    """
    stage.worker.stop()
    worker = WorkerProcess({**stage.worker.environment, **(variables or {}), "CUTROOM_SANDBOX": "off"})
    worker.start()
    try:
        await asyncio.sleep(SETTLE_SECONDS)
        yield CpuMeter(psutil.Process(worker.pid))
    finally:
        worker.stop()
