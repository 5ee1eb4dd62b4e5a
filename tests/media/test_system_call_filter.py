"""What the system call filter denies in the real sandbox, and that nothing runs without it."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from cutroom.media import sandbox as sandbox_module
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox
from cutroom.platform.process import seccomp
from cutroom.platform.process.seccomp import compile_filter
from tests.support.system_calls import ALLOW_ALL, CONTROL, attempt_calls, run_python


async def test_forbidden_calls_fail_in_the_sandbox(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    filtered = await attempt_calls(sandbox)
    assert filtered.pop(CONTROL) == 0
    assert len(filtered) > 60
    expected = {name: errno.ENOSYS if name in seccomp.UNAVAILABLE else errno.EPERM for name in filtered}
    assert filtered == expected

    monkeypatch.setattr(sandbox_module, "compile_filter", lambda: ALLOW_ALL)
    unfiltered = await attempt_calls(sandbox)
    differing = {name for name in filtered if unfiltered[name] != filtered[name]}
    assert {name for name in differing if unfiltered[name] == 0} >= {"socket", "unshare", "personality"}
    assert len(differing) > 30


async def test_programs_inherit_nothing_but_their_files(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(secret, True)  # noqa: FBT003 (positional only)
    probe = "import os\nfor each in range(64):\n  try: os.fstat(each); print(each)\n  except OSError: pass"
    try:
        finished = await run_python(sandbox, probe)
    finally:
        os.close(secret)
    assert finished.stdout.split() == [b"0", b"1", b"2"]


async def test_nothing_runs_if_the_filter_is_rejected(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "compile_filter", lambda: b"\xff" * 8)
    with pytest.raises(MediaError) as caught:
        await sandbox.run("ffprobe", ["-version"], inputs={})
    assert caught.value.reason is Reason.SANDBOX_UNAVAILABLE
    assert "SECCOMP" in caught.value.detail


async def test_nothing_runs_without_a_filter_for_the_machine(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "compile_filter", lambda: compile_filter("riscv64"))
    with pytest.raises(MediaError) as caught:
        await sandbox.run("ffprobe", ["-version"], inputs={})
    assert caught.value.reason is Reason.SANDBOX_UNAVAILABLE
    assert caught.value.detail == "There is no system call filter for riscv64."


async def test_program_outside_the_visible_folders_is_missing(sandbox: Sandbox, tmp_path: Path) -> None:
    hidden = Path(shutil.copy("/usr/bin/true", tmp_path / "program"))
    assert (await sandbox.run_on_text(hidden, [], seconds=20)).exit_code == 127
    assert (await sandbox.run_on_text(hidden, [], seconds=20, folders=[tmp_path])).exit_code == 0
    with pytest.raises(MediaError) as caught:
        await sandbox.run_on_text(tmp_path / "missing", [], seconds=20)
    assert caught.value.reason is Reason.TOOL_MISSING
