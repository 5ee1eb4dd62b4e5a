"""Ends background tasks of clients that can lose a cancellation, as asyncpg and redis do while they connect."""

import asyncio
from collections.abc import Iterable
from typing import Any

CANCEL_SECONDS = 0.1


async def end_tasks(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Cancel the tasks until they have ended; their errors are dropped."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=CANCEL_SECONDS)
