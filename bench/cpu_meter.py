"""A worker whose CPU time can be read, including its subprocesses."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil

from tests.support.stage import Stage, WorkerProcess

SETTLE_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class CpuMeter:
    """Reads the CPU time of a running worker."""

    process: psutil.Process

    def cpu_seconds(self) -> float:
        """CPU seconds so far, including finished subprocesses."""
        times = self.process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)


@asynccontextmanager
async def metered_worker(stage: Stage, variables: Mapping[str, str] | None = None) -> AsyncIterator[CpuMeter]:
    """Replace the stage's worker with a new one that has no engine loaded.

    The sandbox is off, because bubblewrap hides the CPU time of its children from the kernel's accounting.
    """
    stage.worker.stop()
    worker = WorkerProcess({**stage.worker.environment, **(variables or {}), "CUTROOM_SANDBOX": "off"})
    worker.start()
    try:
        await asyncio.sleep(SETTLE_SECONDS)
        yield CpuMeter(psutil.Process(worker.pid))
    finally:
        worker.stop()
