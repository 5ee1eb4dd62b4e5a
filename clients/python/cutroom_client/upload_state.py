"""The state of an unfinished upload, kept in a file so that another process can continue it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cutroom_client.transfers import read_state, write_state


@dataclass(frozen=True)
class UploadState:
    """How far an upload has come: nothing but a key, a video, or a session that accepts its bytes."""

    create_key: str
    video_id: str | None = None
    session_url: str | None = None

    @classmethod
    def new(cls) -> UploadState:
        return cls(create_key=str(uuid.uuid4()))


class UploadStateFile:
    """Where the state of the upload of one file, with one key, to one service is stored."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.state = UploadState.new()
        self.resumed = False

    def load(self) -> None:
        stored = read_state(self._path) if self._path is not None else None
        if stored is None:
            return
        with contextlib.suppress(TypeError):  # of another version
            self.state = UploadState(**stored)
            self.resumed = True

    def save(self, **changes: str | None) -> UploadState:
        """Stores a change before the next step depends on it."""
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]
        if self._path is not None:
            write_state(self._path, asdict(self.state))
        return self.state

    def start_over(self) -> None:
        self.state = UploadState.new()
        self.resumed = False

    def remove(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def state_name(file: Path, *, base_url: str, api_key: str, options: str) -> str:
    """A name that changes with the file's content, the service, the account or what is asked for."""
    stat = file.stat()
    identity = (str(file.resolve()), stat.st_size, stat.st_mtime_ns, base_url, api_key, options)
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:32]


@contextlib.contextmanager
def exclusive_state(folder: Path | None, name: str) -> Iterator[UploadStateFile]:
    """The state file; without one if another process uploads the same file right now."""
    if folder is None:
        yield UploadStateFile(None)
        return
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        state = UploadStateFile(folder / f"{name}.json" if _locked(lock) else None)
        state.load()
        yield state
    finally:
        os.close(lock)  # releases it


def _locked(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
