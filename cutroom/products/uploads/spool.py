"""Buffers received bytes on disk until the object store has taken them, so that an upload needs little memory."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import SpooledTemporaryFile

MEMORY_BYTES = 256 * 1024  # of one upload; more is written to disk


class Spool:
    """A temporary file without a name, which ends with the process; the event loop never waits for the disk."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = SpooledTemporaryFile(max_size=MEMORY_BYTES, dir=str(folder) if folder else None)  # noqa: SIM115 - closed by `close`
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self.size_bytes = 0

    async def write(self, data: bytes) -> None:
        self._pending.append(data)
        self._pending_bytes += len(data)
        self.size_bytes += len(data)
        if self._pending_bytes >= MEMORY_BYTES:
            await self._flush()

    async def read(self, first: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Yields a range of the bytes, in order; writing is over by then."""
        await self._flush()
        at, end = first, self.size_bytes if end is None else end
        while at < end:
            chunk = await asyncio.to_thread(self._read, at, min(MEMORY_BYTES, end - at))
            at += len(chunk)
            yield chunk

    def close(self) -> None:
        self._pending.clear()
        self._file.close()

    async def _flush(self) -> None:
        if self._pending:
            pending, self._pending, self._pending_bytes = self._pending, [], 0
            await asyncio.to_thread(self._file.writelines, pending)

    def _read(self, at: int, size_bytes: int) -> bytes:
        self._file.seek(at)
        chunk = self._file.read(size_bytes)
        if not chunk:
            raise OSError("the spooled file is shorter than what was written")
        return chunk
