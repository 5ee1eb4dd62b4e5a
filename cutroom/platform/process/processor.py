"""Shares the processor between batch work and interactive speech: threads, slots and scheduling priority."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

MAX_VOICE_THREADS = 4  # speech synthesis hardly gains from more
CGROUP = Path("/sys/fs/cgroup")


def available_cores(cgroup: Path = CGROUP) -> int:
    """Cores that this process may use: those of its CPU affinity, at most the CPU quota of its container."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = (cgroup / "cpu.max").read_text().split()
    except (OSError, ValueError):
        return cores
    return cores if quota == "max" else max(1, min(cores, math.ceil(int(quota) / int(period))))


def lower_thread_priority(niceness: int) -> None:
    """Lowers the calling thread's priority; on Linux, niceness belongs to a thread, and its new threads inherit it."""
    os.nice(niceness)


@dataclass(frozen=True, slots=True)
class ProcessorBudget:
    """Cores of this machine, and what one interactive speech task gets of them."""

    cores: int
    voice_threads: int
    voice_slots: int

    @classmethod
    def of(cls, cores: int, *, voice_threads: int = 0, voice_concurrency: int = 0) -> Self:
        """What is 0 is derived from the number of cores."""
        threads = voice_threads or min(cores, MAX_VOICE_THREADS)
        return cls(cores, threads, voice_concurrency or max(1, cores // threads))

    def has_spare_core(self, *, voice_tasks: int) -> bool:
        """Whether that many interactive speech tasks leave a core for batch work."""
        return voice_tasks * self.voice_threads < self.cores
