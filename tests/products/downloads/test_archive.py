"""Archives: written as a stream, read by others, and verified by their manifest."""

import hashlib
import io
import json
import zipfile

import pytest

from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.downloads import activities
from cutroom.products.downloads.archive import MANIFEST, Archive, Entry
from cutroom.web.runtime import Runtime

BIG = b"0123456789abcdef" * 200_000  # a few chunks of the store


@pytest.fixture
async def archive(runtime: Runtime) -> Archive:
    path = f"tests/{new_id()}"
    await runtime.storage.put(path, BIG)
    entries = [
        Entry("source/film.mp4", "source", path, language="en"),
        Entry("subtitles/pt.srt", "subtitles", content="olá".encode(), language="pt", engines=["firefox"]),
        Entry("empty.txt", "note"),
    ]
    return Archive(runtime.storage, entries, {"tier": "full"})


async def packed(archive: Archive) -> bytes:
    return b"".join([chunk async for chunk in archive.chunks()])


async def test_an_archive_opens_and_its_manifest_verifies(archive: Archive) -> None:
    with zipfile.ZipFile(io.BytesIO(await packed(archive))) as opened:
        assert opened.testzip() is None
        manifest = json.loads(opened.read(MANIFEST))
        assert opened.namelist() == [*(each["name"] for each in manifest["files"]), MANIFEST]
        for each in manifest["files"]:
            content = opened.read(each["name"])
            assert (each["bytes"], each["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert manifest["tier"] == "full"
    assert manifest["files"][1]["engines"] == ["firefox"]
    assert [each.get("language") for each in manifest["files"]] == ["en", "pt", None]


async def test_the_same_content_gives_the_same_bytes(archive: Archive) -> None:
    assert await packed(archive) == await packed(archive)


async def test_no_chunk_holds_more_than_what_was_just_read(archive: Archive) -> None:
    longest = max([len(chunk) async for chunk in archive.chunks()])
    assert longest <= len(BIG) // 2


async def test_a_stream_is_stored_under_its_path(archive: Archive, runtime: Runtime) -> None:
    storage: Storage = runtime.storage
    path = f"tests/{new_id()}/bundle.zip"
    await storage.put(path, archive.chunks(), expected_bytes=len(BIG))
    assert await storage.size(path) == len(await packed(archive))
    await storage.delete(path)


async def test_how_much_of_an_archive_is_packed_is_told_on_the_way(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activities, "TELL_SECONDS", 0.0)
    plain = b"".join([chunk async for chunk in archive.chunks()])
    told: list[int] = []

    async def tell(progress: int) -> None:
        told.append(progress)

    counted = activities.counted(archive.chunks(), tell, expected_bytes=len(plain))
    assert b"".join([chunk async for chunk in counted]) == plain
    assert told == sorted(told)
    assert told[-1] == activities.PREPARED_PERCENT
