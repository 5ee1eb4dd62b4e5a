"""What the system call filter denies in the real sandbox, and that nothing runs without it."""

import errno
import json
import os
import platform
import shutil
import struct
import sys
from pathlib import Path

import pytest

from cutroom.media import sandbox as sandbox_module
from cutroom.media.process import FinishedProcess, MediaError, Reason
from cutroom.media.sandbox import Sandbox
from cutroom.platform import seccomp
from cutroom.platform.seccomp import ALLOW, ARCHITECTURES, compile_filter

ALWAYS = {**seccomp.FORBIDDEN, **seccomp.UNAVAILABLE}
BY_ARGUMENT = {
    "clone": seccomp.CLONE,
    "ioctl": seccomp.IOCTL,
    "prctl": seccomp.PRCTL,
    "personality": seccomp.PERSONALITY,
}
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, ALLOW)

PROBE = """
import ctypes, json, sys
library = ctypes.CDLL(None, use_errno=True)
found = {}
for name, number, arguments in json.loads(sys.argv[1]):
    ctypes.set_errno(0)
    result = library.syscall(ctypes.c_long(number), *[ctypes.c_long(each) for each in arguments])
    found[name] = ctypes.get_errno() if result == -1 else 0
print(json.dumps(found))
"""

# Calls that are harmless if they succeed: most are given arguments that the kernel rejects.
BAD = -1
ATTEMPTS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(ALWAYS, (BAD, BAD, BAD, BAD, BAD, BAD)),
    "socket": (2, 1, 0),  # AF_INET
    "socketpair": (1, 1, 0, 0),  # AF_UNIX
    "unshare": (0,),
    "personality": (0x0040000,),
    "prctl": (0x59616D61, 0),
    "clone": (0x1000_0000 | 17, 0, 0, 0, 0),  # CLONE_NEWUSER, which bubblewrap itself forbids with another error
    "clone3": (0, 0),
    "ioctl": (0, 0x5412, 0),
    "chroot": (0,),
    "acct": (BAD,),
    "swapon": (BAD, 0),
    "swapoff": (BAD,),
    "get_mempolicy": (0, 0, 0, 0, 0),
    "set_mempolicy": (0, 0, 0),
    "shmget": (0, 4096, 0o600),
    "semget": (0, 1, 0o600),
    "msgget": (0, 0o600),
    "fanotify_init": (0, 0),
    "userfaultfd": (1,),  # UFFD_USER_MODE_ONLY
    "memfd_secret": (0,),
    "inotify_init1": (0,),  # allowed, to show that the probe does not just fail
}
ALLOWED = {"inotify_init1": (294, 26)}


async def run_python(sandbox: Sandbox, script: str, *arguments: str) -> FinishedProcess:
    folders = [Path(sys.base_prefix).resolve(), Path(sys.base_prefix), Path(sys.prefix)]
    command = ["-I", "-c", script, *arguments]
    return await sandbox.run_on_text(Path(sys.executable), command, seconds=60, folders=folders)


async def attempt(sandbox: Sandbox) -> dict[str, int]:
    """Makes each call inside the sandbox, with Python, and returns the error numbers."""
    column = ARCHITECTURES[platform.machine()].column
    calls = [(name, (ALWAYS | BY_ARGUMENT | ALLOWED)[name][column], each) for name, each in ATTEMPTS.items()]
    known = [each for each in calls if each[1] is not None]
    finished = await run_python(sandbox, PROBE, json.dumps(known))
    assert finished.exit_code == 0, finished.stderr
    found: dict[str, int] = json.loads(finished.stdout)
    return found


async def test_forbidden_calls_fail_in_the_sandbox(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    filtered = await attempt(sandbox)
    assert filtered.pop("inotify_init1") == 0
    assert len(filtered) > 60
    expected = {name: errno.ENOSYS if name in seccomp.UNAVAILABLE else errno.EPERM for name in filtered}
    assert filtered == expected

    monkeypatch.setattr(sandbox_module, "compile_filter", lambda: ALLOW_ALL)
    unfiltered = await attempt(sandbox)
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
