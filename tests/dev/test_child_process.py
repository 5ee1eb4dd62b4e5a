"""Child processes end with the process that started them, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from dev.child_process import end_child, start_child

# Starts a child as a proof starts its API and worker, prints the child's pid, and waits.
PARENT = """
import signal, sys, time
from dev.child_process import start_child
signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in background jobs of a shell script
child = start_child([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""
# The same with cleanup, as in a proof.
CLEANING_PARENT = """
import asyncio, signal, sys
from dev.child_process import end_child, interrupt_on_termination, start_child

async def main():
    child = start_child([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        print(child.pid, flush=True)
        await asyncio.sleep(600)
    finally:
        end_child(child, signal.SIGTERM, seconds=10)
        print("stopped", flush=True)

interrupt_on_termination()
asyncio.run(main())
"""
END_SECONDS = 20.0


def has_ended(pid: int) -> bool:
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGABRT, signal.SIGKILL])
def test_child_ends_with_its_parent(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert psutil.pid_exists(child)
        parent.send_signal(number)
        assert has_ended(child)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_termination_runs_cleanup(number: signal.Signals) -> None:
    command = [
        "sh",
        "-c",
        "trap '' INT; exec \"$@\"",
        "sh",
        sys.executable,
        "-c",
        CLEANING_PARENT,
    ]  # as in the background
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.send_signal(number)
        assert "stopped" in process.stdout.read()
        assert has_ended(child)


def test_child_that_ignores_the_signal_is_killed_with_its_group(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    stubborn = (
        "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "os.fork() or time.sleep(600); open(sys.argv[1], 'w').close(); time.sleep(600)"
    )
    child = start_child([sys.executable, "-c", stubborn, str(ready)])
    while not ready.exists():
        time.sleep(0.02)
    grandchildren = [each.pid for each in psutil.Process(child.pid).children()]
    assert len(grandchildren) == 1
    assert os.getpgid(grandchildren[0]) == child.pid
    assert not end_child(child, signal.SIGTERM, seconds=0.2)
    assert all(has_ended(pid) for pid in (child.pid, *grandchildren))
