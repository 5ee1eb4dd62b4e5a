"""Tests that CPU time is attributed to the measurement in which it was used."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from cutroom.platform.process.cpu_time import CpuTime, MeasuringThreadPool, add_cpu_seconds, measure_cpu_time


@pytest.fixture
def pool() -> Iterator[MeasuringThreadPool]:
    with MeasuringThreadPool() as opened:
        yield opened


def burn(seconds: float) -> None:
    started = time.thread_time()
    while time.thread_time() - started < seconds:
        pass


async def measured(pool: MeasuringThreadPool, seconds: float) -> CpuTime:
    with measure_cpu_time() as cpu:
        await asyncio.get_running_loop().run_in_executor(pool, burn, seconds)
    return cpu


async def test_a_call_in_a_thread_is_measured(pool: MeasuringThreadPool) -> None:
    assert (await measured(pool, 0.1)).seconds >= 0.1


async def test_concurrent_calls_share_the_time_of_the_process(pool: MeasuringThreadPool) -> None:
    started = time.process_time()
    results = await asyncio.gather(measured(pool, 0.1), measured(pool, 0.1))
    total = sum(cpu.seconds for cpu in results)
    assert 0.2 <= total <= time.process_time() - started


def test_a_call_outside_a_measurement_is_not_attributed(pool: MeasuringThreadPool) -> None:
    with measure_cpu_time() as cpu:
        pass
    pool.submit(burn, 0.05).result()
    assert cpu.seconds == 0


def test_programs_are_added_to_the_innermost_measurement() -> None:
    add_cpu_seconds(1.0)
    with measure_cpu_time() as outer:
        with measure_cpu_time() as inner:
            add_cpu_seconds(2.0)
        add_cpu_seconds(3.0)
    assert (outer.seconds, inner.seconds) == (3.0, 2.0)
