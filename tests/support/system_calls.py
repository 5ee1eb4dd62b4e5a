"""Makes forbidden system calls inside the sandbox, with Python."""

import errno
import json
import platform
import struct
import sys
from pathlib import Path

from cutroom.media.process import FinishedProcess
from cutroom.media.sandbox import Sandbox
from cutroom.platform.process import seccomp
from cutroom.platform.process.seccomp import ALLOW, ARCHITECTURES

ALWAYS = {**seccomp.FORBIDDEN, **seccomp.UNAVAILABLE}
BY_ARGUMENT = {
    "clone": seccomp.CLONE,
    "ioctl": seccomp.IOCTL,
    "prctl": seccomp.PRCTL,
    "personality": seccomp.PERSONALITY,
}
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, ALLOW)  # a filter
DENIED = {errno.EPERM: "EPERM", errno.ENOSYS: "ENOSYS"}

_PROBE = """
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
_BAD = -1
CONTROL = "inotify_init1"  # allowed, to show that the probe does not just fail
ATTEMPTS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(ALWAYS, (_BAD, _BAD, _BAD, _BAD, _BAD, _BAD)),
    "socket": (2, 1, 0),  # AF_INET
    "socketpair": (1, 1, 0, 0),  # AF_UNIX
    "unshare": (0,),
    "personality": (0x0040000,),
    "prctl": (0x59616D61, 0),
    "clone": (0x1000_0000 | 17, 0, 0, 0, 0),  # CLONE_NEWUSER, which bubblewrap itself forbids with another error
    "clone3": (0, 0),
    "ioctl": (0, 0x5412, 0),
    "chroot": (0,),
    "acct": (_BAD,),
    "swapon": (_BAD, 0),
    "swapoff": (_BAD,),
    "get_mempolicy": (0, 0, 0, 0, 0),
    "set_mempolicy": (0, 0, 0),
    "shmget": (0, 4096, 0o600),
    "semget": (0, 1, 0o600),
    "msgget": (0, 0o600),
    "fanotify_init": (0, 0),
    "userfaultfd": (1,),  # UFFD_USER_MODE_ONLY
    "memfd_secret": (0,),
    CONTROL: (0,),
}
_ALLOWED = {CONTROL: (294, 26)}


async def run_python(sandbox: Sandbox, script: str, *arguments: str) -> FinishedProcess:
    folders = [Path(sys.base_prefix).resolve(), Path(sys.base_prefix), Path(sys.prefix)]
    command = ["-I", "-c", script, *arguments]
    return await sandbox.run_on_text(Path(sys.executable), command, seconds=60, folders=folders)


async def attempt_calls(sandbox: Sandbox) -> dict[str, int]:
    """Makes each call inside the sandbox, and returns the error numbers; 0 if it succeeded."""
    column = ARCHITECTURES[platform.machine()].column
    calls = [(name, (ALWAYS | BY_ARGUMENT | _ALLOWED)[name][column], each) for name, each in ATTEMPTS.items()]
    known = [each for each in calls if each[1] is not None]
    finished = await run_python(sandbox, _PROBE, json.dumps(known))
    if finished.exit_code != 0:
        raise RuntimeError(f"the calls could not be tried: {finished.stderr}")
    found: dict[str, int] = json.loads(finished.stdout)
    return found
