"""Model files on disk: bounded copies and reads, verification against the manifest, and atomic installation."""

import gzip
import hashlib
import io
import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.manifest import GZIP_SUFFIX, ModelFile

CHUNK_BYTES = 1024 * 1024
MAGIC_BYTES = 512  # covers the tar header, the longest signature below
PART_SUFFIX = ".part"

_NOT_GZIP = (gzip.BadGzipFile, zlib.error, EOFError)


class ReadableBytes(Protocol):
    """A binary stream that can be read."""

    def read(self, size: int, /) -> bytes: ...


class ModelSourceError(EngineUnavailableError):
    """A source could not provide the pinned files; another source may."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Stat fields that reveal any edit: mtime can be set back, but ctime cannot."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Result of verifying a file: its stamp, or what is wrong."""

    stamp: FileStamp | None = None
    fault: str | None = None


def file_stamp(path: Path) -> FileStamp | None:
    """The stamp of a regular file, or None if there is none."""
    try:
        return _stamp_of(path.stat())
    except (FileNotFoundError, NotADirectoryError):
        return None


def _stamp_of(status: os.stat_result) -> FileStamp | None:
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileStamp(status.st_size, status.st_mtime_ns, ctime_ns=status.st_ctime_ns, inode=status.st_ino)


def check_file(path: Path, file: ModelFile) -> FileCheck:
    """Reads the whole file and compares it with the manifest."""
    if file_stamp(path) is None:
        return FileCheck(fault="is missing")
    with path.open("rb") as handle:
        before = _stamp_of(os.fstat(handle.fileno()))
        if before is None or before.size_bytes != file.size_bytes:
            size_bytes = before.size_bytes if before else 0
            return FileCheck(fault=f"has {size_bytes} bytes instead of {file.size_bytes}")
        kind = unsafe_format(handle.read(MAGIC_BYTES))
        handle.seek(0)
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
        if digest != file.sha256:
            return FileCheck(fault=f"has the sha256 {digest} instead of {file.sha256}")
        if kind is not None:
            return FileCheck(fault=f"is a {kind}, which could run code when loaded")
        if _stamp_of(os.fstat(handle.fileno())) != before:
            return FileCheck(fault="changed while it was read")
    return FileCheck(stamp=before)


def unsafe_format(head: bytes) -> str | None:
    """The format's name, if the content is of a kind that can contain Python pickles."""
    if head[:1] == b"\x80" and head[1:2] in {b"\x02", b"\x03", b"\x04", b"\x05"}:
        return "pickle"
    if head[:2] == b"PK":
        return "zip archive"
    if head[257:262] == b"ustar":
        return "tar archive"
    return None


def part_path(folder: Path, file: ModelFile) -> Path:
    """Path of a partial file: next to the target, with a name that no model file can have."""
    return folder / f".{file.name}{PART_SUFFIX}"


def copy_bounded(source: ReadableBytes, target: IO[bytes], *, limit_bytes: int) -> int:
    """Copies everything; raises if the source exceeds the limit, after reading one byte beyond it."""
    copied = 0
    while chunk := source.read(min(CHUNK_BYTES, limit_bytes - copied + 1)):
        copied += len(chunk)
        if copied > limit_bytes:
            raise ModelSourceError(f"The source exceeds the expected {limit_bytes} bytes.")
        target.write(chunk)
    return copied


def unpack_gzip(packed: Path, file: ModelFile, *, into: Path) -> None:
    """Unpacks a gzip file that matches its pin, up to the size of the file, and removes it in any case."""
    try:
        if (fault := check_file(packed, file.served).fault) is not None:
            raise ModelSourceError(f"{file.served.name} does not match the manifest: it {fault}.")
        with gzip.open(packed) as source, into.open("wb") as target:
            copy_bounded(source, target, limit_bytes=file.size_bytes)
    except _NOT_GZIP as error:
        raise ModelSourceError(f"{file.served.name} cannot be unpacked: {error}.") from error
    finally:
        packed.unlink(missing_ok=True)


def read_unpacked(path: Path, *, limit_bytes: int) -> bytes:
    """The content of a file, unpacked if its name says that it is gzipped; raises if it exceeds the limit."""
    content = io.BytesIO()
    try:
        with gzip.open(path) if path.name.endswith(GZIP_SUFFIX) else path.open("rb") as source:
            copy_bounded(source, content, limit_bytes=limit_bytes)
    except _NOT_GZIP as error:
        raise ModelSourceError(f"{path.name} cannot be unpacked: {error}.") from error
    return content.getvalue()


def install_file(partial: Path, target: Path) -> None:
    """Renames a complete file into place, durably and atomically."""
    with partial.open("rb") as handle:
        os.fsync(handle.fileno())
    partial.replace(target)
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
