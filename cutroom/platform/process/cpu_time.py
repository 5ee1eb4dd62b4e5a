"""Attributes CPU time to the activity that uses it: of calls in threads, and of programs."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from threading import Lock
from typing import ParamSpec, TypeVar

from cutroom.platform.process.processor import lower_thread_priority

Params = ParamSpec("Params")
Result = TypeVar("Result")


class CpuTime:
    """CPU time that was used while this was the current measurement."""

    def __init__(self) -> None:
        self.seconds = 0.0


class _Calls:
    """Calls that run in threads now, and the time up to which the CPU time of the process was divided among them."""

    def __init__(self) -> None:
        self.running: list[CpuTime] = []
        self._divided_until = time.process_time()

    def divide(self) -> None:
        now = time.process_time()
        for measured in self.running:
            measured.seconds += (now - self._divided_until) / len(self.running)
        self._divided_until = now


_current: ContextVar[CpuTime | None] = ContextVar("cpu_time", default=None)
_lock = Lock()
_calls = _Calls()


@contextmanager
def measure_cpu_time() -> Iterator[CpuTime]:
    """Measures the body, including the threads and programs that it waits for."""
    measured = CpuTime()
    token = _current.set(measured)
    try:
        yield measured
    finally:
        _current.reset(token)


def add_cpu_seconds(seconds: float) -> None:
    """Adds the CPU time of a finished program to the current measurement, if there is one."""
    if (measured := _current.get()) is not None:
        with _lock:
            measured.seconds += seconds


class MeasuringThreadPool(ThreadPoolExecutor):
    """Runs calls in threads and adds the CPU time of each to the measurement that was current when it was submitted.

    Engines compute in native threads of their own, so the time of the calling thread says little. The CPU time of the
    process is divided evenly among the calls that run at the same time, in all pools. Threads that an engine starts
    inherit the priority of the pool in which it is built.
    """

    def __init__(self, name: str = "call", *, niceness: int = 0) -> None:
        super().__init__(thread_name_prefix=name, initializer=lower_thread_priority, initargs=(niceness,))

    async def run(self, function: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs) -> Result:
        """Like `asyncio.to_thread`, in a thread of this pool."""
        call = partial(copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self, call)

    def submit(self, fn: Callable[Params, Result], /, *args: Params.args, **kwargs: Params.kwargs) -> "Future[Result]":
        measured = _current.get()
        if measured is None:
            return super().submit(fn, *args, **kwargs)
        return super().submit(self._measured, measured, lambda: fn(*args, **kwargs))

    def _measured(self, measured: CpuTime, call: Callable[[], Result]) -> Result:
        with _lock:
            _calls.divide()
            _calls.running.append(measured)
        try:
            return call()
        finally:
            with _lock:
                _calls.divide()
                _calls.running.remove(measured)
