"""Freed memory is used again without page faults, in a process of its own, because the settings last."""

import subprocess
import sys

import pytest

MEASURE = """
import ctypes, resource, sys, threading
from cutroom.platform.process.memory import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
BYTES = 80_000_000  # as the attention of a recognizer
def use():
    buffer = libc.malloc(BYTES)
    ctypes.memset(buffer, 1, BYTES)
    libc.free(buffer)
def faults():
    use()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    use()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
thread = threading.Thread(target=faults)  # engines run in threads, whose arenas are smaller
thread.start()
thread.join()
"""


def faults(mode: str) -> int:
    command = [sys.executable, "-c", MEASURE, mode]
    return int(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc")
def test_buffers_of_an_engine_are_not_mapped_again() -> None:
    assert faults("keep") < 1_000
    assert faults("default") > 1_000
