"""Tests how the processor is shared between batch work and interactive speech."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from cutroom.platform.process.cpu_time import MeasuringThreadPool
from cutroom.platform.process.processor import ProcessorBudget, available_cores

LOWEST = 19


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def niceness_of_a_new_thread() -> int:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(niceness()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize(
    ("cores", "threads", "slots"), [(1, 1, 1), (2, 2, 1), (4, 4, 1), (6, 4, 1), (8, 4, 2), (32, 4, 8)]
)
def test_voice_tasks_get_threads_and_slots_by_core_count(cores: int, threads: int, slots: int) -> None:
    assert ProcessorBudget.of(cores) == ProcessorBudget(cores, threads, slots)


def test_settings_take_precedence_over_the_core_count() -> None:
    assert ProcessorBudget.of(8, voice_threads=2, voice_concurrency=3) == ProcessorBudget(8, 2, 3)


@pytest.mark.parametrize(
    ("cores", "tasks", "spare"),
    [(2, 0, True), (2, 1, False), (4, 1, False), (8, 1, True), (8, 2, False), (32, 7, True), (32, 8, False)],
)
def test_batch_work_runs_on_the_cores_that_speech_leaves(cores: int, tasks: int, *, spare: bool) -> None:
    assert ProcessorBudget.of(cores).has_spare_core(voice_tasks=tasks) is spare


@pytest.mark.parametrize(
    ("quota", "limit"),
    [("100000 100000", 1), ("50000 100000", 1), ("150000 100000", 2), ("max 100000", 1024), ("", 1024)],
)
def test_a_container_quota_limits_the_cores(tmp_path: Path, quota: str, limit: int) -> None:
    (tmp_path / "cpu.max").write_text(quota)
    usable = len(os.sched_getaffinity(0))
    assert available_cores(tmp_path) == min(usable, limit)
    assert available_cores(tmp_path / "missing") == usable


def test_batch_threads_and_what_they_start_have_a_lower_priority() -> None:
    here = niceness()
    lower = min(here + 5, LOWEST)

    async def check() -> None:
        with MeasuringThreadPool(niceness=5) as batch, MeasuringThreadPool("voice") as voice:
            asyncio.get_running_loop().set_default_executor(batch)
            assert await asyncio.to_thread(niceness) == lower
            assert await asyncio.to_thread(niceness_of_a_new_thread) == lower
            assert await voice.run(niceness) == here
            assert await voice.run(niceness_of_a_new_thread) == here

    asyncio.run(check())  # on a loop of its own, which keeps the executor
    assert niceness() == here
