"""Tells the batch workers of a machine how many interactive speech tasks run on it, through locks on a shared file."""

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MAX_TASKS = 64  # more are not counted
_FLOCK = struct.Struct("hhqqi0q")  # struct flock: type, whence, start, length, process id


class VoiceLease:
    """Each task locks one byte of the file.

    Open file description locks also work between the tasks of one process, and the kernel releases them however the
    process ends. The lease is a hint: without it, batch work does not pause.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def held(self) -> Iterator[None]:
        """Counts as a running task until the end of the body."""
        file = self._open()
        try:
            if file is not None:
                _lock_free_byte(file)
            yield
        finally:
            if file is not None:
                os.close(file)

    def count(self) -> int:
        """Tasks that hold the lease, in all processes of this machine."""
        file = self._open()
        if file is None:
            return 0
        try:
            return sum(_is_locked(file, byte) for byte in range(MAX_TASKS))
        finally:
            os.close(file)

    def _open(self) -> int | None:
        with suppress(OSError):
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return None


def _lock_free_byte(file: int) -> None:
    for byte in range(MAX_TASKS):
        with suppress(OSError):  # locked by another task
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, _lock_of(byte))
            return


def _is_locked(file: int, byte: int) -> bool:
    """Whether another open file has locked the byte; the kernel answers with that lock, or with type F_UNLCK."""
    answer = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _lock_of(byte))
    kind: int = _FLOCK.unpack(answer)[0]
    return kind != fcntl.F_UNLCK


def _lock_of(byte: int) -> bytes:
    return _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
