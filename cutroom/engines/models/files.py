"""Files of models on disk: written within bounds, checked against the manifest, and put in place at once."""

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.models.manifest import ModelFile

CHUNK_BYTES = 1024 * 1024
MAGIC_BYTES = 512  # the first block of a tar file, which is the longest of the marks below
PART_SUFFIX = ".part"


class ModelSourceError(EngineUnavailableError):
    """A source did not give what the manifest says it has; another source may."""


@dataclass(frozen=True, slots=True)
class VerifiedFiles:
    """What an edit cannot leave as it was: a process can set a file's mtime back, but not its ctime."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in a file: how it looked at that time, or what is wrong with it."""

    seen: VerifiedFiles | None = None
    fault: str | None = None


def look_at(path: Path) -> VerifiedFiles | None:
    """How a file looks from outside; None where there is no regular file."""
    try:
        return _seen(path.stat())
    except (FileNotFoundError, NotADirectoryError):
        return None


def _seen(status: os.stat_result) -> VerifiedFiles | None:
    if not stat.S_ISREG(status.st_mode):
        return None
    return VerifiedFiles(status.st_size, status.st_mtime_ns, ctime_ns=status.st_ctime_ns, inode=status.st_ino)


def check_file(path: Path, file: ModelFile) -> Checked:
    """Read all of a file and compare it with the manifest."""
    if look_at(path) is None:
        return Checked(fault="is missing")
    with path.open("rb") as handle:
        before = _seen(os.fstat(handle.fileno()))
        if before is None or before.size_bytes != file.size_bytes:
            size_bytes = before.size_bytes if before else 0
            return Checked(fault=f"has {size_bytes} bytes instead of {file.size_bytes}")
        kind = risky_format(handle.read(MAGIC_BYTES))
        handle.seek(0)
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
        if digest != file.sha256:
            return Checked(fault=f"has the sha256 {digest} instead of {file.sha256}")
        if kind is not None:
            return Checked(fault=f"is a {kind}, which could run code when it is loaded")
        if _seen(os.fstat(handle.fileno())) != before:
            return Checked(fault="was changed while it was read")
    return Checked(seen=before)


def risky_format(head: bytes) -> str | None:
    """What a file is, if it is of the kinds in which Python's pickles come, whatever its name says."""
    if head[:1] == b"\x80" and head[1:2] in {b"\x02", b"\x03", b"\x04", b"\x05"}:
        return "pickle"
    if head[:2] == b"PK":
        return "zip archive"
    if head[257:262] == b"ustar":
        return "tar archive"
    return None


def part_path(folder: Path, file: ModelFile) -> Path:
    """Where a file grows until it is whole: beside its place, under a name that no model's file can have."""
    return folder / f".{file.name}{PART_SUFFIX}"


def copy_within(source: IO[bytes], target: IO[bytes], *, limit_bytes: int) -> int:
    """Copy everything, and read no more than one byte beyond the limit to know that there is more."""
    copied = 0
    while chunk := source.read(min(CHUNK_BYTES, limit_bytes - copied + 1)):
        copied += len(chunk)
        if copied > limit_bytes:
            raise ModelSourceError(f"There is more than the {limit_bytes} bytes that were expected.")
        target.write(chunk)
    return copied


def put_in_place(part: Path, target: Path) -> None:
    """Give a whole file its name; after a crash there is all of it or nothing."""
    with part.open("rb") as handle:
        os.fsync(handle.fileno())
    part.replace(target)
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
