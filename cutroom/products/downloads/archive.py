"""Streams a ZIP archive without holding a whole file or the archive in memory."""

import hashlib
import json
import zipfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from cutroom.platform.storage.objects import Storage

MANIFEST = "manifest.json"
VERSION = 1
# Constant timestamps make archives reproducible; ZIP dates start in 1980.
_DATE = (1980, 1, 1, 0, 0, 0)
_FILE_MODE = 0o644 << 16


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A file in the archive: from object storage, or with inline content."""

    name: str
    kind: str
    path: str | None = None
    content: bytes = b""
    language: str | None = None
    engines: Sequence[str] = ()


@dataclass(slots=True)
class ZipArchive:
    """The entries and manifest metadata of an archive."""

    storage: Storage
    entries: Sequence[ArchiveEntry]
    metadata: dict[str, Any] = field(default_factory=dict)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes of the archive. Entries are stored uncompressed: media is compressed already."""
        buffer = _WriteBuffer()
        files = []
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for entry in self.entries:
                digest, size = hashlib.sha256(), 0
                # Sizes are unknown in advance, so every entry uses ZIP64.
                with archive.open(_zip_info(entry.name), "w", force_zip64=True) as file:
                    async for chunk in self._content(entry):
                        file.write(chunk)
                        digest.update(chunk)
                        size += len(chunk)
                        if data := buffer.drain():
                            yield data
                files.append(_manifest_entry(entry, digest.hexdigest(), size))
            manifest = {"version": VERSION, **self.metadata, "files": files}
            archive.writestr(_zip_info(MANIFEST), json.dumps(manifest, indent=1, ensure_ascii=False))
        yield buffer.drain()

    async def _content(self, entry: ArchiveEntry) -> AsyncIterator[bytes]:
        if entry.path is None:
            yield entry.content
            return
        async for chunk in self.storage.read(entry.path):
            yield chunk


class _WriteBuffer:
    """A write-only, non-seekable file whose contents can be drained. Without `tell`, zipfile never seeks."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._chunks.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing to flush."""

    def close(self) -> None:
        """Nothing to close."""

    def drain(self) -> bytes:
        drained, self._chunks = b"".join(self._chunks), []
        return drained


def _zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=_DATE)
    info.external_attr = _FILE_MODE
    return info


def _manifest_entry(entry: ArchiveEntry, sha256: str, size: int) -> dict[str, Any]:
    files: dict[str, Any] = {"name": entry.name, "kind": entry.kind, "bytes": size, "sha256": sha256}
    if entry.language is not None:
        files["language"] = entry.language
    if entry.engines:
        files["engines"] = list(entry.engines)
    return files
