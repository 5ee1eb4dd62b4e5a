"""Local copies of stored objects, shared by the activities of one worker and bounded in size."""

import asyncio
import hashlib
import shutil
import tempfile
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cutroom.platform.storage import Storage

Told = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class LocalCopy:
    """A file on this machine with the bytes of a stored object."""

    path: Path
    size_bytes: int
    sha256: bytes


class Workbench:
    """Keeps the copies used last, up to a number of bytes; a copy in use is never taken away."""

    def __init__(self, storage: Storage, folder: Path, *, max_bytes: int) -> None:
        self._storage = storage
        self._folder = folder
        self._max_bytes = max_bytes
        self._copies: OrderedDict[str, LocalCopy] = OrderedDict()
        self._in_use: Counter[str] = Counter()
        self._locks: dict[str, asyncio.Lock] = {}
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def drawer(self) -> Iterator[Path]:
        """An empty folder that is gone afterwards."""
        path = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @asynccontextmanager
    async def copy_of(self, path: str, tell: Told = lambda _bytes: None) -> AsyncIterator[LocalCopy]:
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
