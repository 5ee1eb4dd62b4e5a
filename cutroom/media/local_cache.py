"""Size-bounded local cache of stored objects, shared by the activities of one worker process."""

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
from weakref import WeakValueDictionary

from cutroom.platform.storage.objects import Storage

OnBytes = Callable[[int], None]
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class LocalCopy:
    """A local file with the contents of a stored object."""

    path: Path
    size_bytes: int
    sha256: bytes


def _claim_worker_dir(root: Path) -> tuple[Path, int]:
    """Creates and locks a directory for this worker, and removes those of workers that died."""
    for stale in root.glob("worker-*"):
        lock = os.open(stale / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kernel releases the lock when its owner dies
            shutil.rmtree(stale, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
    own = Path(tempfile.mkdtemp(prefix="worker-", dir=root))
    lock = os.open(own / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return own, lock


class LocalMediaCache:
    """LRU cache of stored objects on local disk, bounded in bytes; entries in use are never evicted."""

    def __init__(self, storage: Storage, folder: Path, *, max_bytes: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._storage = storage
        self._folder, self._lock = _claim_worker_dir(folder)
        self._max_bytes = max_bytes
        self._copies: OrderedDict[str, LocalCopy] = OrderedDict()
        self._in_use: Counter[str] = Counter()
        self._locks: dict[str, asyncio.Lock] = {}
        self._exclusive: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextmanager
    def temp_dir(self) -> Iterator[Path]:
        """A temporary directory, deleted on exit."""
        path = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @asynccontextmanager
    async def fetch(self, path: str, on_bytes: OnBytes = lambda _bytes: None) -> AsyncIterator[LocalCopy]:
        """A local copy, downloaded once for concurrent callers; `on_bytes` receives the running total."""
        self._in_use[path] += 1
        try:
            async with self._locks.setdefault(path, asyncio.Lock()):
                copy = self._copies.get(path)
                if copy is None:
                    copy = self._copies[path] = await self._download(path, on_bytes)
                self._copies.move_to_end(path)
            self._evict()
            yield copy
        finally:
            self._in_use[path] -= 1

    @asynccontextmanager
    async def exclusive(self, name: str) -> AsyncIterator[None]:
        """Runs one body per name at a time in this process."""
        lock = self._exclusive.get(name)
        if lock is None:
            lock = self._exclusive[name] = asyncio.Lock()
        async with lock:
            yield

    def paths(self) -> list[str]:
        """Paths of the stored objects that have a local copy."""
        return list(self._copies)

    def drop(self, path: str) -> bool:
        """Delete a local copy; False while it is in use."""
        if self._in_use[path]:
            return False
        copy = self._copies.pop(path, None)
        self._locks.pop(path, None)
        if copy is not None:
            copy.path.unlink(missing_ok=True)
        return True

    async def _download(self, path: str, on_bytes: OnBytes) -> LocalCopy:
        target = self._folder / hashlib.sha256(path.encode()).hexdigest()
        partial, digest, size = target.with_suffix(".partial"), hashlib.sha256(), 0
        with partial.open("wb") as file:
            async for chunk in self._storage.read(path):
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
                on_bytes(size)
        partial.replace(target)
        return LocalCopy(path=target, size_bytes=size, sha256=digest.digest())

    def _evict(self) -> None:
        total = sum(copy.size_bytes for copy in self._copies.values())
        for path in [path for path in self._copies if not self._in_use[path]]:
            if total <= self._max_bytes:
                return
            evicted = self._copies.pop(path)
            self._locks.pop(path, None)
            evicted.path.unlink(missing_ok=True)
            total -= evicted.size_bytes
