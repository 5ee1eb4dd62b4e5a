"""Reads the files of an export: their checksums, and copies of small ones."""

import hashlib
import logging
import zlib
from dataclasses import dataclass, replace

from cutroom.platform.storage.objects import Storage
from cutroom.retention.exports.archive_state import ArchivedFile
from cutroom.retention.exports.rules import COPIED_BYTES, ExportRef

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileReader:
    """Computes what an archive needs to know of each file."""

    storage: Storage

    async def read(self, ref: ExportRef, file: ArchivedFile) -> ArchivedFile:
        """Returns the file with its size and checksums, or marked as missing."""
        found = await self.storage.find(file.storage_path)
        if found is None:
            _log.warning("exported file missing", extra={"export_id": ref.export_id, "file": file.number})
            return replace(file, is_missing=True)
        if found.size_bytes <= COPIED_BYTES:
            return await self._copy(ref, file)
        crc32, sha256, size = 0, hashlib.sha256(), 0
        async for chunk in self.storage.read(file.storage_path, etag=found.etag):
            crc32, size = zlib.crc32(chunk, crc32), size + len(chunk)
            sha256.update(chunk)
        return replace(file, size_bytes=size, etag=found.etag, crc32=crc32, sha256=sha256.hexdigest())

    async def _copy(self, ref: ExportRef, file: ArchivedFile) -> ArchivedFile:
        content = b"".join([chunk async for chunk in self.storage.read(file.storage_path)])
        return await self.store(replace(file, storage_path=ref.work_path(f"files/{file.number}")), content)

    async def store(self, file: ArchivedFile, content: bytes) -> ArchivedFile:
        """Stores content at the file's path; returns the file with its size and checksums."""
        await self.storage.put(file.storage_path, content)
        stored = await self.storage.find(file.storage_path)
        assert stored is not None
        return replace(
            file,
            size_bytes=len(content),
            etag=stored.etag,
            crc32=zlib.crc32(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
