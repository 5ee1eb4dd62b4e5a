"""Measures resource usage: CPU time by process, peak memory, stored bytes and Temporal state transitions."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import obstore
import psutil

from bench.row_sizes import row_bytes
from cutroom.entrypoints.worker import RECURRING
from cutroom.platform.clock import system_clock
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import connect
from dev.services import control
from tests.support.stage import Stage

SAMPLE_SECONDS = 0.2
SETTLE_SECONDS = 6.0  # a job is reported as finished before its last row is written
SWEEPS = frozenset(each.workflow for each in RECURRING)  # recurring workflows run regardless of the measured work
MIB = 1024 * 1024


@dataclass
class Usage:
    """Resources used by a measured operation."""

    cpu_seconds: dict[str, float] = field(default_factory=dict)  # by process: worker, api, postgres, ...
    wall_seconds: float = 0.0
    peak_mib: float = 0.0  # of the worker and its subprocesses
    stored_bytes: int = 0
    row_bytes: int = 0
    workflows: int = 0
    transitions: int = 0  # Temporal state transitions, by which a cluster is sized
    history_bytes: int = 0


@dataclass(frozen=True, slots=True)
class UsageMeter:
    """Measures one stage and the services it runs on."""

    stage: Stage
    storage: Storage

    @asynccontextmanager
    async def measure(self) -> AsyncIterator[Usage]:
        usage = Usage()
        before, steps_before = await self._state(), await self._steps()
        began = system_clock()
        peak = _Peak(self.stage.worker.pid)
        peak.start()
        try:
            yield usage
        finally:
            usage.peak_mib = peak.stop()
        await asyncio.sleep(SETTLE_SECONDS)
        after = await self._state()
        usage.wall_seconds = (system_clock() - began).total_seconds()
        usage.cpu_seconds = {process: round(after[0][process] - before[0][process], 3) for process in after[0]}
        usage.stored_bytes, usage.row_bytes = after[1] - before[1], after[2] - before[2]
        for run, (transitions, size) in (await self._steps()).items():
            had = steps_before.get(run, (0, 0))  # a transcript's workflow starts with its import
            usage.workflows += run not in steps_before
            usage.transitions += transitions - had[0]
            usage.history_bytes += size - had[1]

    async def _state(self) -> tuple[Mapping[str, float], int, int]:
        processes = {"worker": self.stage.worker.pid, "api": self.stage.api.pid}
        processes |= {name: pid for name in control.NAMES if (pid := control.status(name).pid) is not None}
        cpu = {name: cpu_seconds(psutil.Process(pid)) for name, pid in processes.items()}
        prefix = f"libraries/{self.stage.person.library_id}/"
        stored = sum([each["size"] async for batch in obstore.list(self.storage.store, prefix) for each in batch])
        return cpu, stored, await row_bytes(self.stage.accounts.connection)

    async def _steps(self) -> dict[str, tuple[int, int]]:
        """State transitions and history bytes by workflow run; the namespace belongs to this stage."""
        client = await connect(self.stage.settings)
        steps = {}
        async for found in client.list_workflows(""):
            if found.workflow_type in SWEEPS:
                continue
            description = await client.get_workflow_handle(found.id, run_id=found.run_id).describe()
            info = description.raw_description.workflow_execution_info
            steps[found.run_id] = (info.state_transition_count, info.history_size_bytes)
        return steps


def cpu_seconds(process: psutil.Process) -> float:
    """CPU seconds of a process, its current children, and those it has waited for."""
    total = 0.0
    for each in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return float(total)


class _Peak:
    """Samples the resident memory of a process and its children; shared pages count once per process."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._ended = threading.Event()
        self._peak = 0
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> float:
        self._ended.set()
        self._thread.join()
        return round(self._peak / MIB, 1)

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            with contextlib.suppress(psutil.NoSuchProcess):
                found = (self._process, *self._process.children(recursive=True))
                self._peak = max(self._peak, sum(_resident(each) for each in found))


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
