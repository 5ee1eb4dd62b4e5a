"""What differs between the asynchronous and the synchronous client: waiting, threads and concurrency."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
FindUrl: TypeAlias = Callable[[], str]


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a function that reads or writes files."""
    return function(*args, **kwargs)


def run_all(steps: Sequence[Callable[[], None]], *, at_once: int) -> None:
    """Runs steps concurrently; after the first failure no further one starts, and it is raised."""
    failed = threading.Event()

    def run(step: Callable[[], None]) -> None:
        if failed.is_set():
            return
        try:
            step()
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(max(1, min(at_once, len(steps)))) as pool:
        for future in [pool.submit(run, step) for step in steps]:
            future.result()


def monotonic() -> float:
    return time.monotonic()
