"""Tests that subprocesses are bounded and never left running."""

import asyncio
import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from cutroom.media.process import (
    STDERR_TAIL_BYTES,
    FfmpegProgress,
    FinishedProcess,
    MediaError,
    Reason,
    check_exit,
    run,
)
from cutroom.platform.process.cpu_time import measure_cpu_time

PLAIN = {"PATH": "/usr/bin"}


async def test_stdout_is_returned() -> None:
    finished = await run(["/usr/bin/printf", "a b"], seconds=5, environment=PLAIN)
    assert (finished.exit_code, finished.stdout) == (0, b"a b")


async def test_arguments_are_not_interpreted_by_a_shell() -> None:
    finished = await run(["/usr/bin/printf", "%s", "$(id);`id`|id"], seconds=5, environment=PLAIN)
    assert finished.stdout == b"$(id);`id`|id"


BURN = "import sys, time\nwhile time.process_time() < 0.2: pass\nprint(time.process_time())"


async def test_cpu_time_of_the_program_and_its_children_is_counted() -> None:
    with measure_cpu_time() as cpu:
        finished = await run([sys.executable, "-c", BURN], seconds=60, environment=PLAIN)
        script = f"{shlex.join([sys.executable, '-c', BURN])}; exit 3"
        by_child = await run(["/bin/sh", "-c", script], seconds=60, environment=PLAIN)
    assert finished.cpu_seconds >= float(finished.stdout) >= 0.2
    assert (by_child.exit_code, by_child.cpu_seconds >= float(by_child.stdout)) == (3, True)
    assert cpu.seconds == pytest.approx(finished.cpu_seconds + by_child.cpu_seconds)


async def test_cpu_time_of_a_killed_program_is_counted() -> None:
    async def fail(_line: str) -> None:
        raise LookupError

    with measure_cpu_time() as cpu, pytest.raises(LookupError):
        await run([sys.executable, "-uc", f"{BURN}\ntime.sleep(60)"], seconds=60, environment=PLAIN, on_line=fail)
    assert cpu.seconds >= 0.2


async def test_missing_program_is_reported() -> None:
    with pytest.raises(MediaError) as caught:
        await run(["/usr/bin/does-not-exist"], seconds=5, environment=PLAIN)
    assert caught.value.reason is Reason.TOOL_MISSING
    assert caught.value.retryable


async def test_timeout_kills_the_process_group(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {note}; wait"
    with pytest.raises(MediaError) as caught:
        await run(["/bin/sh", "-c", script], seconds=0.5, environment=PLAIN)
    assert caught.value.reason is Reason.TIMED_OUT
    await _wait_until_dead(int(note.read_text()))


async def test_cancellation_kills_the_process_group(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    task = asyncio.create_task(
        run(["/bin/sh", "-c", f"sleep 60 & echo $! > {note}; wait"], seconds=60, environment=PLAIN)
    )
    while not note.exists() or not note.read_text():
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _wait_until_dead(int(note.read_text()))


async def _wait_until_dead(pid: int) -> None:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":  # a zombie not yet reaped by init
            return
        await asyncio.sleep(0.05)
    os.kill(pid, 9)
    pytest.fail("a child was left running")


async def test_excessive_stdout_is_rejected() -> None:
    with pytest.raises(MediaError) as caught:
        await run(["/usr/bin/yes"], seconds=10, environment=PLAIN)
    assert caught.value.reason is Reason.TOO_MUCH_OUTPUT


async def test_excessive_stderr_is_rejected() -> None:
    with pytest.raises(MediaError) as caught:
        await run(["/bin/sh", "-c", "yes >&2"], seconds=10, environment=PLAIN)
    assert caught.value.reason is Reason.UNREADABLE


async def test_end_of_stderr_is_kept() -> None:
    finished = await run(["/bin/sh", "-c", "seq 100000 >&2"], seconds=10, environment=PLAIN)
    assert finished.stderr.endswith("100000\n")
    assert len(finished.stderr) == STDERR_TAIL_BYTES


@pytest.mark.parametrize(
    ("code", "text", "reason"),
    [
        (128 + 24, "", Reason.TOO_SLOW),
        (128 + 25, "", Reason.TOO_MUCH_OUTPUT),
        (128 + 11, "", Reason.CRASHED),
        (-9, "", Reason.KILLED),
        (1, "x: Cannot allocate memory", Reason.TOO_MUCH_MEMORY),
        (1, "x: No space left on device", Reason.DISK_FULL),
        (1, "Number of streams exceeds max_streams parameter", Reason.TOO_MANY_STREAMS),
        (127, "", Reason.TOOL_MISSING),
        (1, "Invalid data found", Reason.UNREADABLE),
    ],
)
def test_exit_code_maps_to_reason(code: int, text: str, reason: Reason) -> None:
    with pytest.raises(MediaError) as caught:
        check_exit(FinishedProcess(code, b"", text))
    assert caught.value.reason is reason


async def test_progress_is_a_fraction_of_the_duration() -> None:
    reported: list[float] = []

    progress = FfmpegProgress(10.0, reported.append)
    blocks = "out_time_us=N/A|progress=continue|frame=12|out_time_us=2500000|progress=continue"
    for line in f"{blocks}|out_time_us=11000000|progress=end".split("|"):
        await progress.read_line(line)
    assert reported == [0.0, 0.25, 1.0]
    assert (progress.frames, progress.seconds) == (12, 11.0)


async def test_callback_error_kills_the_program() -> None:
    async def fail(_line: str) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        await run(["/usr/bin/yes"], seconds=10, environment=PLAIN, on_line=fail)
