"""Attributes CPU time to the activity that uses it: of calls in threads, and of programs."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import ParamSpec, TypeVar

Params = ParamSpec("Params")
Result = TypeVar("Result")


class CpuTime:
    """CPU time that was used while this was the current measurement."""

    def __init__(self) -> None:
        self.seconds = 0.0


_current: ContextVar[CpuTime | None] = ContextVar("cpu_time", default=None)
_lock = Lock()


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
    process is divided evenly among the calls that run at the same time.
    """

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="call")
        self._running: list[CpuTime] = []
        self._divided_until = time.process_time()

    def submit(self, fn: Callable[Params, Result], /, *args: Params.args, **kwargs: Params.kwargs) -> "Future[Result]":
        measured = _current.get()
        if measured is None:
            return super().submit(fn, *args, **kwargs)
        return super().submit(self._measured, measured, lambda: fn(*args, **kwargs))

    def _measured(self, measured: CpuTime, call: Callable[[], Result]) -> Result:
        with _lock:
            self._divide()
            self._running.append(measured)
        try:
            return call()
        finally:
            with _lock:
                self._divide()
                self._running.remove(measured)

    def _divide(self) -> None:
        now = time.process_time()
        for measured in self._running:
            measured.seconds += (now - self._divided_until) / len(self._running)
        self._divided_until = now
