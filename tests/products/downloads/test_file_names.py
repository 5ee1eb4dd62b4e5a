"""Every finished file is saved under a human name derived from the video's title."""

from typing import Any

import httpx
import pytest

from cutroom.library.rules import video_path
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.shorts.rules import ShortsKind
from cutroom.products.shorts.service import NewShortsOutput, save_output
from cutroom.products.thumbnails.service import NewThumbnailImage, store_images
from cutroom.web.runtime import Runtime
from tests.products.conftest import TranscribedVideo
from tests.support.disposition import plain_name, saved_name


@pytest.fixture
async def launch(transcribed: TranscribedVideo) -> TranscribedVideo:
    await set_title(transcribed, "launch.mp4")
    return transcribed


async def set_title(video: TranscribedVideo, title: str | None) -> None:
    await video.accounts.connection.execute("UPDATE videos SET title = $2 WHERE id = $1", video.video_id, title)


async def disposition(viewer: httpx.AsyncClient, url: str) -> str:
    """The header that a browser without credentials receives."""
    response = await viewer.get(url)
    response.raise_for_status()
    return response.headers["content-disposition"]


async def insert_job(video: TranscribedVideo, job_id: str, **columns: Any) -> None:  # noqa: ANN401 (columns)
    now = system_clock()
    job = {"id": job_id, "library_id": video.library_id, "video_id": video.video_id, "status": "ready", "attempt": 1}
    job |= {"plan": {}, "depends_on": [], "progress": 100, "created_at": now, "updated_at": now, "finished_at": now}
    await insert(video.accounts.connection, "jobs", job | columns)


@pytest.mark.parametrize(("query", "name"), [("", "launch-en.srt"), ("?format=vtt", "launch-en.vtt")])
async def test_subtitles(
    api: httpx.AsyncClient, viewer: httpx.AsyncClient, launch: TranscribedVideo, query: str, name: str
) -> None:
    subtitles = (await api.get(f"/videos/{launch.video_id}/subtitles/en{query}")).json()
    assert saved_name(await disposition(viewer, subtitles["downloadUrl"])) == name


async def test_word_alignment(api: httpx.AsyncClient, viewer: httpx.AsyncClient, launch: TranscribedVideo) -> None:
    transcript = (await api.get(f"/videos/{launch.video_id}/transcript")).json()
    assert saved_name(await disposition(viewer, transcript["wordAlignmentUrl"])) == "launch-words.json"


@pytest.mark.parametrize(
    ("product", "status", "name"),
    [
        ("plus", "ready", "launch-pt.m4a"),
        ("premium", "ready", "launch-pt-premium.m4a"),
        ("plus", "processing", "launch-pt-preview.m4a"),
    ],
)
async def test_dub_audio(
    api: httpx.AsyncClient,
    viewer: httpx.AsyncClient,
    launch: TranscribedVideo,
    runtime: Runtime,
    product: str,
    status: str,
    name: str,
) -> None:
    key = {"library_id": launch.library_id, "video_id": launch.video_id, "language": "pt", "product": product}
    ended = {} if status == "ready" else {"finished_at": None}
    await insert_job(launch, f"dub_{launch.video_id}_pt_{product}", **key, type="dub", status=status, **ended)
    path = video_path(launch.library_id, launch.video_id, "dubs/track.m4a")
    await runtime.storage.put(path, b"sound")
    dub = {**key, "completion": "complete", "segments": [], "speakers": [], "edits": {}, "sync": {}}
    paths = {"audio_path": path, "preview_path": path, "updated_at": system_clock()}
    await insert(launch.accounts.connection, "dubs", {**dub, **paths})
    found = (await api.get(f"/videos/{launch.video_id}/dubs/pt?product={product}")).json()
    assert saved_name(await disposition(viewer, found["audioUrl"])) == name


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (ShortsKind.SHORTS, "launch-short-1"),
        (ShortsKind.PROMO, "launch-promo-1"),
        (ShortsKind.CLIPS, "launch-clip-1"),
    ],
)
async def test_shorts(
    api: httpx.AsyncClient,
    viewer: httpx.AsyncClient,
    launch: TranscribedVideo,
    runtime: Runtime,
    kind: ShortsKind,
    name: str,
) -> None:
    request_id, path = new_id(), video_path(launch.library_id, launch.video_id, "shorts/output")
    await runtime.storage.put(path, b"pictures")
    await insert_job(launch, f"shorts_{request_id}", type="shorts", plan={"kind": kind.value})
    output = NewShortsOutput(
        id=new_id(),
        request_id=request_id,
        video_id=launch.video_id,
        number=0,
        kind=kind,
        title="A moment",
        description="",
        reason="",
        duration_seconds=20.0,
        moments=[],
        video_path=path,
        thumbnail_path=path,
        plan_path=path,
    )
    async with runtime.database.transaction(launch.library_id) as connection:
        await save_output(connection, launch.library_id, output, now=system_clock())
    (found,) = (await api.get(f"/shorts/{request_id}")).json()["outputs"]
    assert saved_name(await disposition(viewer, found["videoUrl"])) == f"{name}.mp4"
    assert saved_name(await disposition(viewer, found["thumbnailUrl"])) == f"{name}.jpg"


async def test_thumbnails(
    api: httpx.AsyncClient, viewer: httpx.AsyncClient, launch: TranscribedVideo, runtime: Runtime
) -> None:
    path = video_path(launch.library_id, launch.video_id, "thumbnails/thumbnail-0.jpg")
    await runtime.storage.put(path, b"picture")
    request_id = new_id()
    await insert_job(launch, f"thumbnail_{request_id}", type="thumbnail")
    request: dict[str, Any] = {"library_id": launch.library_id, "id": request_id, "video_id": launch.video_id}
    request |= {"job_id": f"thumbnail_{request_id}", "created_at": system_clock()}
    await insert(launch.accounts.connection, "thumbnail_requests", request)
    images = [
        NewThumbnailImage(
            id=new_id(),
            request_id=request_id,
            video_id=launch.video_id,
            number=number,
            language=language,
            headline=None,
            layout="left",
            score=0.5,
            engine="none",
            path=path,
        )
        for number, language in ((0, None), (3, "pt"))
    ]
    async with runtime.database.transaction(launch.library_id) as connection:
        await store_images(connection, launch.library_id, images, now=system_clock())
    found = (await api.get(f"/thumbnails/{request_id}")).json()
    names = [saved_name(await disposition(viewer, url)) for url in found["outputImageUrls"]]
    assert names == ["launch-thumbnail-1.jpg", "launch-thumbnail-4-pt.jpg"]


@pytest.mark.parametrize(
    ("title", "saved", "plain"),
    [
        ("Été à Paris: 1.mp4", "Été-à-Paris-1-en.srt", "Ete-a-Paris-1-en.srt"),
        ("日本の朝", "日本の朝-en.srt", "en.srt"),
        ('x"\r\nSet-Cookie: a=b', "x-Set-Cookie-a-b-en.srt", "x-Set-Cookie-a-b-en.srt"),
        ("../../etc/passwd", "etc-passwd-en.srt", "etc-passwd-en.srt"),
        ("invoice\u202efdp.exe", "invoicefdp-en.srt", "invoicefdp-en.srt"),
        ("NUL", "video-NUL-en.srt", "video-NUL-en.srt"),
        (None, "video-en.srt", "video-en.srt"),
    ],
)
async def test_hostile_and_foreign_titles(
    api: httpx.AsyncClient,
    viewer: httpx.AsyncClient,
    transcribed: TranscribedVideo,
    title: str | None,
    saved: str,
    plain: str,
) -> None:
    await set_title(transcribed, title)
    header = await disposition(
        viewer, (await api.get(f"/videos/{transcribed.video_id}/subtitles/en")).json()["downloadUrl"]
    )
    assert (saved_name(header), plain_name(header)) == (saved, plain)
