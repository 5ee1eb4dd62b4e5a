"""What differs between the asynchronous and the synchronous client: waiting, threads and concurrency."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
FindUrl: TypeAlias = Callable[[], Awaitable[str]]


async def sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a function that reads or writes files."""
    return await asyncio.to_thread(function, *args, **kwargs)


async def run_all(steps: Sequence[Callable[[], Awaitable[None]]], *, at_once: int) -> None:
    """Runs steps concurrently; the first failure cancels the others and is raised."""
    waiting = iter(steps)

    async def work() -> None:
        for step in waiting:
            await step()

    workers = [asyncio.ensure_future(work()) for _ in range(min(at_once, len(steps)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for each in workers:
            each.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def monotonic() -> float:
    return time.monotonic()
