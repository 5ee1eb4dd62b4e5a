"""Computes the bytes of a ZIP archive of stored files, so that any range of it can be produced again.

Sizes and CRC-32 of all files are known, so the position of every file is too. Files are stored without compression,
because media is compressed already. ZIP64 fields are used where a value needs more than 32 bits.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

_MAX_16, _MAX_32 = 0xFFFF, 0xFFFFFFFF
_VERSION = 45  # ZIP64
_UTF8 = 0x0800
_STORED = 0
_TIME, _DATE = 0, (1 << 5) | 1  # midnight of 1980-01-01, so that the archive is reproducible
_UNIX = 3
_FILE_MODE = 0o100644 << 16
_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
_DIRECTORY_HEADER = struct.Struct("<4sHHHHHHIIIHHHHHII")
_END_64 = struct.Struct("<4sQHHIIQQQQ")
_END_64_LOCATOR = struct.Struct("<4sIQI")
_END = struct.Struct("<4sHHHHIIH")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the archive."""

    name: str
    size_bytes: int
    crc32: int


@dataclass(frozen=True, slots=True)
class FileRange:
    """Bytes of a file's content."""

    index: int
    start: int
    end: int


class ZipLayout:
    """An archive of these files, in their order."""

    def __init__(self, files: Sequence[StoredFile]) -> None:
        self.files = files
        ends = list(accumulate(_local_size(each) + each.size_bytes for each in files))
        self._starts = [0, *ends][: len(files)]
        self._directory_start = ends[-1] if ends else 0

    @cached_property
    def _directory(self) -> bytes:
        entries = b"".join(map(_directory_entry, self.files, self._starts))
        return entries + _end(len(self.files), len(entries), self._directory_start)

    @property
    def size_bytes(self) -> int:
        return self._directory_start + len(self._directory)

    def read(self, start: int, end: int) -> Iterator[bytes | FileRange]:
        """The range `start` to `end` of the archive, as headers and ranges of files."""
        index = max(bisect_right(self._starts, start) - 1, 0)
        for number in range(index, len(self.files)):
            at = self._starts[number]
            if at >= end:
                return
            yield from self._read_file(number, start - at, end - at)
        at = self._directory_start
        if end > at:
            yield self._directory[max(start - at, 0) : end - at]

    def _read_file(self, number: int, start: int, end: int) -> Iterator[bytes | FileRange]:
        """A range relative to the file's local header, which may begin before it and end after it."""
        file = self.files[number]
        header = _local_header(file)
        if start < len(header):
            yield header[max(start, 0) : end]
        first, last = max(start - len(header), 0), min(end - len(header), file.size_bytes)
        if first < last:
            yield FileRange(number, first, last)


def _local_size(file: StoredFile) -> int:
    return _LOCAL_HEADER.size + len(file.name.encode()) + (20 if file.size_bytes >= _MAX_32 else 0)


def _local_header(file: StoredFile) -> bytes:
    name, size = file.name.encode(), file.size_bytes
    extra = struct.pack("<HHQQ", 1, 16, size, size) if size >= _MAX_32 else b""
    short = min(size, _MAX_32)
    fields = (_VERSION, _UTF8, _STORED, _TIME, _DATE, file.crc32, short, short, len(name), len(extra))
    return _LOCAL_HEADER.pack(b"PK\x03\x04", *fields) + name + extra


def _directory_entry(file: StoredFile, start: int) -> bytes:
    name, size = file.name.encode(), file.size_bytes
    wide = ([size, size] if size >= _MAX_32 else []) + ([start] if start >= _MAX_32 else [])
    extra = struct.pack(f"<HH{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
    short, at = min(size, _MAX_32), min(start, _MAX_32)
    made_by = _UNIX << 8 | _VERSION
    fields = (made_by, _VERSION, _UTF8, _STORED, _TIME, _DATE, file.crc32, short, short)
    rest = (len(name), len(extra), 0, 0, 0, _FILE_MODE, at)
    return _DIRECTORY_HEADER.pack(b"PK\x01\x02", *fields, *rest) + name + extra


def _end(count: int, size: int, start: int) -> bytes:
    """The end of the central directory, preceded by its ZIP64 form where a value does not fit."""
    end = _END.pack(
        b"PK\x05\x06", 0, 0, min(count, _MAX_16), min(count, _MAX_16), min(size, _MAX_32), min(start, _MAX_32), 0
    )
    if count < _MAX_16 and size < _MAX_32 and start < _MAX_32:
        return end
    made_by = _UNIX << 8 | _VERSION
    wide = _END_64.pack(b"PK\x06\x06", _END_64.size - 12, made_by, _VERSION, 0, 0, count, count, size, start)
    return wide + _END_64_LOCATOR.pack(b"PK\x06\x07", 0, start + size, 1) + end
