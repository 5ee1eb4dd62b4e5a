"""Chunks, part sizes and checksums as tables of cases."""

import pytest

from cutroom.products.uploads.rules import (
    CHUNK_BYTES,
    MAX_PARTS,
    MAX_UPLOAD_BYTES,
    PART_BYTES,
    Chunk,
    UploadError,
    capacity,
    check_progress,
    crc_text,
    part_bytes_for,
    read_chunk,
    read_hashes,
    read_total,
)


@pytest.mark.parametrize(
    ("content_range", "content_length", "chunk"),
    [
        (None, "5", Chunk(0, 5, total=5, is_whole=True)),
        (None, None, Chunk(0, None, total=None, is_whole=True)),
        ("bytes */*", "0", Chunk(0, 0, total=None, is_query=True)),
        ("bytes */7", None, Chunk(0, 0, total=7, is_query=True)),
        ("bytes 0-262143/*", "262144", Chunk(0, CHUNK_BYTES, total=None)),
        ("bytes 5-6/7", None, Chunk(5, 2, total=7)),
        (" bytes 5-6/7 ", "2", Chunk(5, 2, total=7)),
    ],
)
def test_a_put_is_understood_from_its_headers(
    content_range: str | None, content_length: str | None, chunk: Chunk
) -> None:
    assert read_chunk(content_range, content_length) == chunk


@pytest.mark.parametrize(
    ("chunk", "received", "total", "status"),
    [
        (Chunk(0, 10, total=10), 0, None, None),
        (Chunk(0, 10, total=10), 5, 10, None),
        (Chunk(0, 10, total=10), 5, 11, 400),
        (Chunk(6, 4, total=10), 5, None, 503),
        (Chunk(5, 6, total=None), 5, 10, 400),
        (Chunk(0, 0, total=4, is_query=True), 5, None, 400),
        (Chunk(0, None, total=None, is_whole=True), 5, 10, None),
    ],
)
def test_a_chunk_must_fit_its_session(chunk: Chunk, received: int, total: int | None, status: int | None) -> None:
    if status is None:
        check_progress(chunk, received=received, total=total)
        return
    with pytest.raises(UploadError) as caught:
        check_progress(chunk, received=received, total=total)
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("total", "part_bytes"),
    [
        (None, PART_BYTES),
        (1, PART_BYTES),
        (PART_BYTES * MAX_PARTS, PART_BYTES),
        (PART_BYTES * MAX_PARTS + 1, PART_BYTES + 1024 * 1024),
        (MAX_UPLOAD_BYTES, 48 * 1024 * 1024),
    ],
)
def test_parts_grow_only_when_there_would_be_too_many(total: int | None, part_bytes: int) -> None:
    assert part_bytes_for(total) == part_bytes
    assert capacity(part_bytes) >= (total or 0)


def test_capacity_never_passes_the_bound() -> None:
    assert capacity(PART_BYTES) == PART_BYTES * MAX_PARTS
    assert capacity(PART_BYTES * 100) == MAX_UPLOAD_BYTES


@pytest.mark.parametrize(
    ("headers", "hashes"),
    [
        ([], {}),
        (["crc32c=AAAAAA=="], {"crc32c": "AAAAAA=="}),
        (["crc32c=AAAAAA==,md5=YQ=="], {"crc32c": "AAAAAA==", "md5": "YQ=="}),
        (["crc32c=AAAAAA==", "md5=YQ=="], {"crc32c": "AAAAAA==", "md5": "YQ=="}),
        (["sha1=AAAA"], {}),
    ],
)
def test_checksums_are_read_from_one_header_or_several(headers: list[str], hashes: dict[str, str]) -> None:
    assert read_hashes(headers) == hashes


def test_a_checksum_is_written_as_google_writes_it() -> None:
    assert crc_text(0xE3069283) == "4waSgw=="  # of "123456789"


def test_the_size_told_at_the_start_is_optional_and_bounded() -> None:
    assert (read_total(None), read_total("x"), read_total("7")) == (None, None, 7)
    for wrong in ("0", str(MAX_UPLOAD_BYTES + 1)):
        with pytest.raises(UploadError):
            read_total(wrong)
