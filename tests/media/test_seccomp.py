"""Tests of the system call filter: its table, its rules, and what it denies in the real sandbox."""

import ctypes
import errno
import json
import os
import platform
import shutil
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutroom.media import sandbox as sandbox_module
from cutroom.media.process import FinishedProcess, MediaError, Reason
from cutroom.media.sandbox import Sandbox
from cutroom.platform import seccomp
from cutroom.platform.seccomp import ALLOW, ARCHITECTURES, FORBID, HIDE, KILL, compile_filter

BY_ARGUMENT = {
    "clone": seccomp.CLONE,
    "ioctl": seccomp.IOCTL,
    "prctl": seccomp.PRCTL,
    "personality": seccomp.PERSONALITY,
}
ALWAYS = {**seccomp.FORBIDDEN, **seccomp.UNAVAILABLE}
EVERY_CALL = {**ALWAYS, **BY_ARGUMENT}
X32_BIT = 0x4000_0000
I386 = 0x4000_0003
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, ALLOW)


def decide(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """Interprets the filter as the kernel does."""
    audit_arch = ARCHITECTURES[machine].audit_arch if architecture is None else architecture
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number & 0xFFFF_FFFF, audit_arch, 0, *padded)
    program = list(struct.iter_unpack("=HBBI", compile_filter(machine)))
    at, loaded = 0, 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == 0x06:
            return int(value)
        if code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, value)
            continue
        holds = {0x15: loaded == value, 0x25: loaded > value, 0x45: bool(loaded & value)}[code]
        at += if_true if holds else if_false


def numbers(machine: str) -> Iterator[tuple[str, int]]:
    for name, row in EVERY_CALL.items():
        number = row[ARCHITECTURES[machine].column]
        if number is not None:
            yield name, number


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_numbers_are_those_of_libseccomp(machine: str) -> None:
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_syscall_resolve_name_arch.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    architecture = ARCHITECTURES[machine]
    for name, row in EVERY_CALL.items():
        number = library.seccomp_syscall_resolve_name_arch(architecture.audit_arch, name.encode())
        assert (number if number >= 0 else None) == row[architecture.column], name


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_listed_calls_are_denied_and_all_others_allowed(machine: str) -> None:
    denied = dict(numbers(machine))
    for name, number in denied.items():
        if name in ALWAYS:
            assert decide(machine, number) == (FORBID if name in seccomp.FORBIDDEN else HIDE), name
    others = set(range(seccomp.NEWEST_CALL + 1)) - set(denied.values())
    assert {decide(machine, number) for number in others} == {ALLOW}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_other_architectures_and_unknown_calls_are_denied(machine: str) -> None:
    other = next(each.audit_arch for name, each in ARCHITECTURES.items() if name != machine)
    assert decide(machine, 0, architecture=I386) == decide(machine, 0, architecture=other) == KILL
    for number in (seccomp.NEWEST_CALL + 1, 999, X32_BIT, X32_BIT | 41, -1):
        assert decide(machine, number) == HIDE


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize(
    ("call", "arguments", "action"),
    [
        ("clone", (0x0100_0011,), ALLOW),  # fork
        ("clone", (0x003D_0F00,), ALLOW),  # a thread
        *[("clone", (1 << bit | 17,), FORBID) for bit in (17, 25, 26, 27, 28, 29, 30)],
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), FORBID),
        ("ioctl", (0, 1 << 32 | 0x5412), FORBID),  # the kernel ignores the upper half
        ("ioctl", (0, 0x541C), FORBID),
        ("prctl", (15,), ALLOW),
        ("prctl", (22, 2), FORBID),
        ("prctl", (0x59616D61, 1), FORBID),
        ("personality", (0,), ALLOW),
        ("personality", (0x0040000,), FORBID),  # ADDR_NO_RANDOMIZE
    ],
)
def test_calls_are_denied_by_their_arguments(machine: str, call: str, arguments: tuple[int, ...], action: int) -> None:
    number = BY_ARGUMENT[call][ARCHITECTURES[machine].column]
    assert number is not None
    assert decide(machine, number, *arguments) == action


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
    calls = [(name, (EVERY_CALL | ALLOWED)[name][column], each) for name, each in ATTEMPTS.items()]
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
