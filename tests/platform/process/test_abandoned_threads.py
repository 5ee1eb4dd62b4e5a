"""A process ends although a thread never does."""

import asyncio
import sys

PROGRAM = """
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
from cutroom.platform.process import abandoned_threads

abandoned_threads.FINISH_SECONDS = 0.1

async def main():
    pool, calls = ThreadPoolExecutor(), {calls}
    for started, never in calls:
        call = lambda: (started.set(), never.wait())
        ({where}).submit(call) if {where} else asyncio.get_running_loop().run_in_executor(None, call)
        started.wait()
    await asyncio.to_thread(print, "closed", flush=True) if not calls else print("closed", flush=True)
    await abandoned_threads.exit_despite_threads(pool)
    print("returned", flush=True)

asyncio.run(main())
"""
BLOCKED = "[(threading.Event(), threading.Event())]"


async def _run(*, calls: str, where: str) -> tuple[int | None, list[str]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM.format(calls=calls, where=where)), stdout=asyncio.subprocess.PIPE
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode, output.decode().split()


async def test_returns_if_all_threads_are_idle() -> None:
    assert await _run(calls="[]", where="None") == (0, ["closed", "returned"])


async def test_exits_while_a_call_of_the_default_executor_runs() -> None:
    assert await _run(calls=BLOCKED, where="None") == (0, ["closed"])


async def test_exits_while_a_call_of_another_pool_runs() -> None:
    assert await _run(calls=BLOCKED, where="pool") == (0, ["closed"])
