"""Local copies of stored objects, shared by the activities of one worker and bounded in size."""

import asyncio
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cutroom.platform.storage.objects import Storage

Told = Callable[[int], None]
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class LocalCopy:
    """A file on this machine with the bytes of a stored object."""

    path: Path
    size_bytes: int
    sha256: bytes


def _own_folder(shared: Path) -> tuple[Path, int]:
    """A folder for this worker alone, held by a lock; what workers that died left behind is cleared away."""
    for left in shared.glob("worker-*"):
        lock = os.open(left / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kernel let go of it when its worker died
            shutil.rmtree(left, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
    own = Path(tempfile.mkdtemp(prefix="worker-", dir=shared))
    lock = os.open(own / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return own, lock


class LocalMediaCache:
    """Keeps the copies used last, up to a number of bytes; a copy in use is never taken away."""

    def __init__(self, storage: Storage, folder: Path, *, max_bytes: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._storage = storage
        self._folder, self._lock = _own_folder(folder)
        self._max_bytes = max_bytes
        self._copies: OrderedDict[str, LocalCopy] = OrderedDict()
        self._in_use: Counter[str] = Counter()
        self._locks: dict[str, asyncio.Lock] = {}

    @contextmanager
    def drawer(self) -> Iterator[Path]:
        """An empty folder that is gone afterwards."""
        path = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @asynccontextmanager
    async def fetch(self, path: str, tell: Told = lambda _bytes: None) -> AsyncIterator[LocalCopy]:
        """A local copy, fetched once however many ask for it at the same time; told of every piece that came."""
        self._in_use[path] += 1
        try:
            async with self._locks.setdefault(path, asyncio.Lock()):
                copy = self._copies.get(path)
                if copy is None:
                    copy = self._copies[path] = await self._fetch(path, tell)
                self._copies.move_to_end(path)
            self._make_room()
            yield copy
        finally:
            self._in_use[path] -= 1

    async def _fetch(self, path: str, tell: Told) -> LocalCopy:
        target = self._folder / hashlib.sha256(path.encode()).hexdigest()
        partial, digest, size = target.with_suffix(".partial"), hashlib.sha256(), 0
        with partial.open("wb") as file:
            async for chunk in self._storage.read(path):
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
                tell(size)
        partial.replace(target)
        return LocalCopy(path=target, size_bytes=size, sha256=digest.digest())

    def _make_room(self) -> None:
        held = sum(copy.size_bytes for copy in self._copies.values())
        for path in [path for path in self._copies if not self._in_use[path]]:
            if held <= self._max_bytes:
                return
            gone = self._copies.pop(path)
            self._locks.pop(path, None)
            gone.path.unlink(missing_ok=True)
            held -= gone.size_bytes
