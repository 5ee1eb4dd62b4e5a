"""A ZIP archive that is written while it is sent: neither a whole file nor the archive is ever held."""

import hashlib
import json
import zipfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from cutroom.platform.storage.objects import Storage

MANIFEST = "manifest.json"
VERSION = 1
# The same content gives the same bytes, whenever it is packed; ZIP knows nothing earlier.
_DATE = (1980, 1, 1, 0, 0, 0)
_FILE_MODE = 0o644 << 16


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the archive: in the store, or short enough to be given whole."""

    name: str
    kind: str
    path: str | None = None
    content: bytes = b""
    language: str | None = None
    engines: Sequence[str] = ()


@dataclass(slots=True)
class Archive:
    """What is packed, and what is to be told of it."""

    storage: Storage
    entries: Sequence[Entry]
    about: dict[str, Any] = field(default_factory=dict)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The archive's bytes in order. Nothing is compressed: films and sound already are."""
        pipe = _Pipe()
        told = []
        with zipfile.ZipFile(pipe, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for entry in self.entries:
                digest, size = hashlib.sha256(), 0
                # Sizes are not known beforehand, so each file is announced as one that may be large.
                with archive.open(_head(entry.name), "w", force_zip64=True) as file:
                    async for chunk in self._content(entry):
                        file.write(chunk)
                        digest.update(chunk)
                        size += len(chunk)
                        if piece := pipe.take():
                            yield piece
                told.append(_told(entry, digest.hexdigest(), size))
            manifest = {"version": VERSION, **self.about, "files": told}
            archive.writestr(_head(MANIFEST), json.dumps(manifest, indent=1, ensure_ascii=False))
        yield pipe.take()

    async def _content(self, entry: Entry) -> AsyncIterator[bytes]:
        if entry.path is None:
            yield entry.content
            return
        async for chunk in self.storage.read(entry.path):
            yield chunk


class _Pipe:
    """A file that can only be written to; what was written is taken away. It has no tell: zipfile then never seeks."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nor is anything open."""

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def _head(name: str) -> zipfile.ZipInfo:
    head = zipfile.ZipInfo(name, date_time=_DATE)
    head.external_attr = _FILE_MODE
    return head


def _told(entry: Entry, sha256: str, size: int) -> dict[str, Any]:
    told: dict[str, Any] = {"name": entry.name, "kind": entry.kind, "bytes": size, "sha256": sha256}
    if entry.language is not None:
        told["language"] = entry.language
    if entry.engines:
        told["engines"] = list(entry.engines)
    return told
