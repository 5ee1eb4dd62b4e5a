"""Ends a process whose threads are still in native calls, which nothing can interrupt."""

import asyncio
import logging
from concurrent.futures import Executor, ThreadPoolExecutor

from cutroom.platform.process.exit import exit_now

FINISH_SECONDS = 5.0

_log = logging.getLogger(__name__)


async def exit_despite_threads(*pools: Executor) -> None:
    """Returns once the default executor and the pools are idle; after 5 s, exits without waiting for their calls.

    Call it last: the tasks of these calls have been handed over, and their results would be refused.
    """
    loop = asyncio.get_running_loop()
    waiter = ThreadPoolExecutor(thread_name_prefix="shutdown")  # the default executor may be full
    closing = [
        asyncio.ensure_future(loop.shutdown_default_executor()),
        *(asyncio.wrap_future(waiter.submit(pool.shutdown)) for pool in pools),
    ]
    _, waiting = await asyncio.wait(closing, timeout=FINISH_SECONDS)
    if waiting:
        _log.warning("exited with calls still running in threads")
        exit_now(0)
