"""Processes that keep every core busy beside a proof."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dev.child_process import start_child


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    command = [sys.executable, "-c", "while True: pass"]
    processes = [start_child(command, environment={}, output=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
