"""Tests for streamed ZIP archives and their manifests."""

import hashlib
import io
import json
import zipfile

import pytest

from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.downloads import activities
from cutroom.products.downloads.archive import MANIFEST, ArchiveEntry, ZipArchive
from cutroom.web.runtime import Runtime

BIG = b"0123456789abcdef" * 200_000  # several storage chunks


@pytest.fixture
async def archive(runtime: Runtime) -> ZipArchive:
    path = f"tests/{new_id()}"
    await runtime.storage.put(path, BIG)
    entries = [
        ArchiveEntry("source/video.mp4", "source", path, language="en"),
        ArchiveEntry("subtitles/pt.srt", "subtitles", content="olá".encode(), language="pt", engines=["firefox"]),
        ArchiveEntry("empty.txt", "note"),
    ]
    return ZipArchive(runtime.storage, entries, {"tier": "full"})


async def read_all(archive: ZipArchive) -> bytes:
    return b"".join([chunk async for chunk in archive.chunks()])


async def test_archive_opens_and_manifest_verifies(archive: ZipArchive) -> None:
    with zipfile.ZipFile(io.BytesIO(await read_all(archive))) as opened:
        assert opened.testzip() is None
        manifest = json.loads(opened.read(MANIFEST))
        assert opened.namelist() == [*(each["name"] for each in manifest["files"]), MANIFEST]
        for each in manifest["files"]:
            content = opened.read(each["name"])
            assert (each["bytes"], each["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert manifest["tier"] == "full"
    assert manifest["files"][1]["engines"] == ["firefox"]
    assert [each.get("language") for each in manifest["files"]] == ["en", "pt", None]


async def test_archive_is_reproducible(archive: ZipArchive) -> None:
    assert await read_all(archive) == await read_all(archive)


async def test_chunks_are_bounded(archive: ZipArchive) -> None:
    largest = max([len(chunk) async for chunk in archive.chunks()])
    assert largest <= len(BIG) // 2


async def test_archive_is_stored_as_a_stream(archive: ZipArchive, runtime: Runtime) -> None:
    storage: Storage = runtime.storage
    path = f"tests/{new_id()}/bundle.zip"
    await storage.put(path, archive.chunks(), expected_bytes=len(BIG))
    assert await storage.size(path) == len(await read_all(archive))
    await storage.delete(path)


async def test_packing_progress_is_reported(archive: ZipArchive) -> None:
    plain = b"".join([chunk async for chunk in archive.chunks()])
    reported: list[float] = []
    chunks = activities.with_progress(archive.chunks(), reported.append, expected_bytes=len(plain))
    assert b"".join([chunk async for chunk in chunks]) == plain
    assert reported == sorted(reported)
    assert reported[-1] == 1
