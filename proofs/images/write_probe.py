"""Finds what a process of a container can write to: enters its file system, becomes its user and tries every path.

Runs as a program, because entering a container cannot be undone: `python -m proofs.images.write_probe PID DECLARED...`.
Prints one JSON object: the declared folders without symbolic links, and the writable folders and files. Leaves nothing.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

# Provided by the container runtime in every container: device nodes, the kernel's own interfaces, shared memory.
RUNTIME = {"/dev", "/proc", "/sys"}
CREDENTIALS = re.compile(r"^(Uid|Gid|Groups):[ \t]*(.*)$", re.MULTILINE)
PROBE = ".cutroom-write-probe"


def main(pid: int, declared: Sequence[str]) -> None:
    found = {name: [int(each) for each in ids.split()] for name, ids in CREDENTIALS.findall(_status(pid))}
    os.chroot(f"/proc/{pid}/root")
    os.chdir("/")
    os.setgroups(found["Groups"])
    os.setgid(found["Gid"][1])
    os.setuid(found["Uid"][1])  # a process that is not root loses its capabilities
    resolved = [os.path.realpath(each) for each in declared]
    print(json.dumps({"declared": resolved, "writable": sorted(writable("/"))}))


def _status(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")


def writable(top: str) -> Iterator[str]:
    """Folders in which a file can be created, and files that can be opened for writing, outside such folders."""
    for folder, folders, files in os.walk(top, onerror=None):
        if folder in RUNTIME:
            folders.clear()
            continue
        if _can_create(folder):
            yield folder
            folders.clear()  # the whole subtree belongs to it
            continue
        for name in files:
            path = os.path.join(folder, name)  # noqa: PTH118 (a hundred thousand paths)
            if _can_open(path):
                yield path


def _can_create(folder: str) -> bool:
    path = os.path.join(folder, PROBE)  # noqa: PTH118
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        os.unlink(path)  # noqa: PTH108
        return True
    return False


def _can_open(path: str) -> bool:
    with suppress(OSError):
        if stat.S_ISREG(os.lstat(path).st_mode):
            os.close(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK))
            return True
    return False


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
