"""The archive holds what was made for a video, texts and images included."""

import hashlib
import io
import json
import zipfile
from dataclasses import replace

import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.downloads.archive import MANIFEST, ZipArchive
from cutroom.products.downloads.contents import VideoAssets, chapters, derived_entries, load_assets
from cutroom.products.thumbnails.service import NewThumbnailImage, store_images
from cutroom.web.runtime import Runtime
from tests.products.conftest import TranscribedVideo
from tests.support.talk_topics import TOPICS

DESCRIPTION = "How a lens sees.\n\nChapters\n0:00 Light\n0:20 Glass\n0:40 The eye"


async def load(runtime: Runtime, video: TranscribedVideo) -> VideoAssets:
    async with runtime.database.transaction(video.library_id) as connection:
        return await load_assets(connection, video.library_id, video.video_id)


@pytest.fixture
async def packaged(runtime: Runtime, transcribed: TranscribedVideo) -> TranscribedVideo:
    """A video with a title, a description with chapters, and two thumbnails."""
    await transcribed.accounts.connection.execute(
        "UPDATE videos SET title = $2, description = $3 WHERE id = $1",
        transcribed.video_id,
        "Été: how a lens sees",
        DESCRIPTION,
    )
    images = []
    for number, language in ((0, None), (3, "pt")):
        path = f"tests/{new_id()}.jpg"
        await runtime.storage.put(path, f"picture {number}".encode())
        images.append(
            NewThumbnailImage(
                id=new_id(),
                request_id=new_id(),
                video_id=transcribed.video_id,
                number=number,
                language=language,
                headline=None,
                layout="left",
                score=0.5,
                engine="compositor",
                path=path,
            )
        )
    async with runtime.database.transaction(transcribed.library_id) as connection:
        for image in images:
            await store_images(connection, transcribed.library_id, [image], now=system_clock())
    return transcribed


async def test_archive_has_title_description_chapters_and_thumbnails(
    runtime: Runtime, packaged: TranscribedVideo
) -> None:
    entries = derived_entries(await load(runtime, packaged))
    content = b"".join([chunk async for chunk in ZipArchive(runtime.storage, entries).chunks()])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = {each["name"]: each for each in json.loads(files.pop(MANIFEST))["files"]}
    assert files["title.txt"].decode() == "Été: how a lens sees\n"
    assert files["description.txt"].decode() == f"{DESCRIPTION}\n"
    assert files["chapters.txt"].decode() == "0:00 Light\n0:20 Glass\n0:40 The eye\n"
    assert files["thumbnails/001.jpg"] == b"picture 0"
    assert files["thumbnails/002-pt.jpg"] == b"picture 3"
    assert {name: (each["sha256"], each["bytes"]) for name, each in manifest.items()} == {
        name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()
    }
    kinds = {each["kind"] for each in manifest.values()}
    assert kinds == {"title", "description", "chapters", "thumbnail", "transcript", "words", "subtitles"}


async def test_video_without_texts_has_no_empty_files(runtime: Runtime, transcribed: TranscribedVideo) -> None:
    names = {entry.name for entry in derived_entries(await load(runtime, transcribed))}
    assert not names & {"title.txt", "description.txt", "chapters.txt"}


async def test_chapters_come_from_the_transcript_if_no_description_has_any(
    runtime: Runtime, transcribed: TranscribedVideo
) -> None:
    assets = await load(runtime, transcribed)
    assert assets.transcript is not None
    segments, start = [], 0.0
    for topic in TOPICS:
        for text in topic.sentences:
            segments.append({"start": start, "end": start + 5, "speaker": "speaker_1", "text": text, "deleted": False})
            start += 5.3
        start += 1.0  # a pause before the next topic
    lines = chapters(replace(assets, transcript=replace(assets.transcript, segments=segments)))
    assert len(lines) >= len(TOPICS) // 2
    assert lines[0].startswith("0:00 ")
