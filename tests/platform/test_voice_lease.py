"""Tests that interactive speech tasks are counted across processes, and never after their process has died."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cutroom.platform.voice_lease import MAX_TASKS, VoiceLease

HOLDER = """
import sys
from pathlib import Path
from cutroom.platform.voice_lease import VoiceLease
with VoiceLease(Path(sys.argv[1])).held():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lease(tmp_path: Path) -> VoiceLease:
    return VoiceLease(tmp_path / "voice.lock")


def test_tasks_of_one_process_are_counted(lease: VoiceLease) -> None:
    assert lease.count() == 0
    with lease.held():
        assert lease.count() == 1
        with lease.held():
            assert lease.count() == 2
        assert lease.count() == 1
    assert lease.count() == 0


def test_a_task_that_ends_frees_its_place(lease: VoiceLease) -> None:
    first, second, third = lease.held(), lease.held(), lease.held()
    with first:
        second.__enter__()
    with third:
        assert lease.count() == 2
    second.__exit__(None, None, None)
    assert lease.count() == 0


def test_a_task_of_another_process_counts_until_that_process_dies(tmp_path: Path, lease: VoiceLease) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "voice.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert lease.count() == 1
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert lease.count() == 0


def test_tasks_beyond_the_limit_run_uncounted(lease: VoiceLease) -> None:
    held = [lease.held() for _ in range(MAX_TASKS + 1)]
    for each in held:
        each.__enter__()
    assert lease.count() == MAX_TASKS
    for each in held:
        each.__exit__(None, None, None)
    assert lease.count() == 0


def test_without_a_usable_file_nothing_is_counted_and_tasks_run(tmp_path: Path) -> None:
    unusable = VoiceLease(tmp_path / "missing" / "voice.lock")
    with unusable.held():
        assert unusable.count() == 0
