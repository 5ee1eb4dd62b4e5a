"""Chunk ranges, part sizes and checksums."""

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
    parse_chunk,
    parse_hashes,
    parse_total,
    part_bytes_for,
)


@pytest.mark.parametrize(
    ("content_range", "content_length", "chunk"),
    [
        (None, "5", Chunk(0, 5, total=5, ends_file=True)),
        (None, None, Chunk(0, None, total=None, ends_file=True)),
        ("bytes */*", "0", Chunk(0, 0, total=None, is_query=True)),
        ("bytes */7", None, Chunk(0, 0, total=7, is_query=True)),
        ("bytes 0-262143/*", "262144", Chunk(0, CHUNK_BYTES, total=None)),
        ("bytes 5-6/7", None, Chunk(5, 2, total=7)),
        (" bytes 5-6/7 ", "2", Chunk(5, 2, total=7)),
    ],
)
def test_chunk_is_parsed_from_headers(content_range: str | None, content_length: str | None, chunk: Chunk) -> None:
    assert parse_chunk(content_range, content_length) == chunk


@pytest.mark.parametrize(
    ("chunk", "received", "total", "status"),
    [
        (Chunk(0, 10, total=10), 0, None, None),
        (Chunk(0, 10, total=10), 5, 10, None),
        (Chunk(0, 10, total=10), 5, 11, 400),
        (Chunk(6, 4, total=10), 5, None, 503),
        (Chunk(5, 6, total=None), 5, 10, 400),
        (Chunk(0, 0, total=4, is_query=True), 5, None, 400),
        (Chunk(0, None, total=None, ends_file=True), 5, 10, None),
    ],
)
def test_chunk_must_match_the_session(chunk: Chunk, received: int, total: int | None, status: int | None) -> None:
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
def test_part_size_grows_with_file_size(total: int | None, part_bytes: int) -> None:
    assert part_bytes_for(total) == part_bytes
    assert capacity(part_bytes) >= (total or 0)


def test_capacity_is_limited() -> None:
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
def test_checksums_are_parsed_from_headers(headers: list[str], hashes: dict[str, str]) -> None:
    assert parse_hashes(headers) == hashes


def test_checksum_is_encoded_like_google() -> None:
    assert crc_text(0xE3069283) == "4waSgw=="  # of "123456789"


def test_declared_size_is_optional_and_limited() -> None:
    assert (parse_total(None), parse_total("x"), parse_total("7")) == (None, None, 7)
    for wrong in ("0", str(MAX_UPLOAD_BYTES + 1)):
        with pytest.raises(UploadError):
            parse_total(wrong)
