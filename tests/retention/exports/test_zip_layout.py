"""Every range of an archive can be produced again, and Python's zipfile reads the whole."""

import io
import random
import zipfile
import zlib

import pytest

from cutroom.retention.exports.zip_layout import FileRange, StoredFile, ZipLayout

CONTENTS = {
    "manifest.json": b"{}",
    "empty.txt": b"",
    "videos/01/source/Été-日本.mp4": random.Random(1).randbytes(70_000),
    "rows/videos.jsonl": b'{"id":1}\n' * 100,
}


def layout_of(contents: dict[str, bytes]) -> ZipLayout:
    return ZipLayout([StoredFile(name, len(data), zlib.crc32(data)) for name, data in contents.items()])


def read(layout: ZipLayout, contents: list[bytes], start: int, end: int) -> bytes:
    return b"".join(
        contents[each.index][each.start : each.end] if isinstance(each, FileRange) else each
        for each in layout.read(start, end)
    )


def test_zipfile_reads_the_archive() -> None:
    layout = layout_of(CONTENTS)
    data = read(layout, list(CONTENTS.values()), 0, layout.size_bytes)
    assert len(data) == layout.size_bytes
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {info.filename: archive.read(info) for info in archive.infolist()} == CONTENTS
        assert {info.external_attr >> 16 for info in archive.infolist()} == {0o100644}


@pytest.mark.parametrize("part_bytes", [1, 7, 512, 69_999, 10_000_000])
def test_parts_of_any_size_join_to_the_same_archive(part_bytes: int) -> None:
    contents = CONTENTS if part_bytes > 100 else {name: data[:300] for name, data in CONTENTS.items()}
    layout = layout_of(contents)
    whole = read(layout, list(contents.values()), 0, layout.size_bytes)
    parts = [
        read(layout, list(contents.values()), start, min(start + part_bytes, layout.size_bytes))
        for start in range(0, layout.size_bytes, part_bytes)
    ]
    assert b"".join(parts) == whole
    assert all(len(part) == part_bytes for part in parts[:-1])


def test_archive_without_files_is_valid() -> None:
    layout = ZipLayout([])
    with zipfile.ZipFile(io.BytesIO(read(layout, [], 0, layout.size_bytes))) as archive:
        assert archive.namelist() == []


class SparseArchive(io.RawIOBase):
    """An archive whose files are all zeros, made on demand: gigabytes cost nothing."""

    def __init__(self, layout: ZipLayout) -> None:
        self.layout, self.position = layout, 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.layout.size_bytes}[whence]
        self.position = base + offset
        return self.position

    def read(self, size: int = -1) -> bytes:
        end = self.layout.size_bytes if size < 0 else min(self.position + size, self.layout.size_bytes)
        parts = self.layout.read(self.position, end)
        data = b"".join(bytes(each.end - each.start) if isinstance(each, FileRange) else each for each in parts)
        self.position = end
        return data


def test_files_and_offsets_above_four_gigabytes_use_zip64() -> None:
    sizes = {"huge.mp4": 5 * 2**30, "exact.mp4": 0xFFFFFFFF, "small.txt": 3}
    layout = ZipLayout([StoredFile(name, size, 0) for name, size in sizes.items()])
    assert layout.size_bytes > 9 * 2**30
    with zipfile.ZipFile(SparseArchive(layout)) as archive:
        assert {info.filename: info.file_size for info in archive.infolist()} == sizes
        last = archive.infolist()[-1]
        assert last.header_offset > 9 * 2**30
        with archive.open("huge.mp4") as file:  # checks the local header
            assert file.read(4) == bytes(4)


def test_more_files_than_sixteen_bits_count_use_zip64() -> None:
    layout = ZipLayout([StoredFile(f"{number}", 0, 0) for number in range(70_000)])
    with zipfile.ZipFile(SparseArchive(layout)) as archive:
        assert len(archive.infolist()) == 70_000
