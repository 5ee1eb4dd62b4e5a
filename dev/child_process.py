"""Starts child processes that never outlive the process that started them."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Have the kernel kill this process with SIGKILL when its parent ends, however the parent ends.

    Call it in the child between fork and exec. The kernel watches the thread that forked, so a child must not be
    started from a thread that ends before the child should.
    """
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def start_child(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None, output: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start a process in its own group, so that Ctrl-C in a terminal reaches only the parent, which stops it."""
    return subprocess.Popen(
        command,
        env=environment,
        stdout=output,
        stderr=output,
        process_group=0,
        preexec_fn=die_with_parent,  # noqa: PLW1509 (one prctl call, safe after fork)
    )


def end_child(process: subprocess.Popen[bytes] | None, number: signal.Signals, *, seconds: float) -> bool:
    """Send a signal and wait; kills the process group after `seconds`. Returns False if it had to be killed."""
    if process is None or process.poll() is not None:
        return True
    process.send_signal(number)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return True


def interrupt_on_termination() -> None:
    """Treat SIGTERM and SIGHUP like Ctrl-C, so that `finally` blocks run and stop what they started."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs of a shell script
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
