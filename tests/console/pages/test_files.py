"""Every finished product on the video page has a download with a human file name."""

import html
import re
from typing import Any, get_args

import httpx
import pytest

from cutroom.library.rules import video_path
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.shorts.rules import ShortsKind
from cutroom.products.shorts.service import NewShortsOutput, save_output
from cutroom.products.thumbnails.service import NewThumbnailImage, store_images
from cutroom.products.transcripts.service import SubtitleFormat, subtitle_path
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.conftest import Browser
from tests.console.pages.test_library import put_video
from tests.console.pages.test_video import put_job
from tests.support.disposition import saved_name

DONE: dict[str, Any] = {"status": "ready", "progress": 100}


@pytest.fixture
async def video_id(accounts: Accounts, person: Person) -> str:
    return await put_video(accounts, person.library_id, title="launch.mp4", spoken="We walk along the harbor.")


@pytest.fixture
async def path(runtime: Runtime, person: Person, video_id: str) -> str:
    stored = video_path(person.library_id, video_id, "output")
    await runtime.storage.put(stored, b"media")
    return stored


async def download_links(browser: Browser, video_id: str, tab: str) -> dict[str, str]:
    """URLs of the download links of a tab by the file name that they show."""
    page = (await browser.get(f"/videos/{video_id}?tab={tab}")).text
    links = re.findall(r'<a class="button slim" href="([^"]+)"[^>]*>Download <span class="quiet break">([^<]+)', page)
    return {html.unescape(name): html.unescape(url) for url, name in links}


async def assert_saved(browser: Browser, viewer: httpx.AsyncClient, links: dict[str, str]) -> None:
    """Every link downloads the file under the name that it shows; signed URLs need no cookies."""
    for name, url in links.items():
        response = await (browser.client if url.startswith("/") else viewer).get(url)
        assert response.status_code == 200, url
        assert saved_name(response.headers["content-disposition"]) == name


async def test_subtitles(
    browser: Browser, viewer: httpx.AsyncClient, runtime: Runtime, person: Person, video_id: str
) -> None:
    for each in get_args(SubtitleFormat):
        stored = subtitle_path(person.library_id, video_id, language="en", format_=each)
        await runtime.storage.put(stored, b"WEBVTT\n")
    links = await download_links(browser, video_id, "transcript")
    assert sorted(links) == ["launch-en.srt", "launch-en.ttml", "launch-en.txt", "launch-en.vtt"]
    await assert_saved(browser, viewer, links)


async def test_dub_audio_and_video(
    browser: Browser, viewer: httpx.AsyncClient, accounts: Accounts, person: Person, video_id: str, path: str
) -> None:
    now = system_clock()
    dub = {"library_id": person.library_id, "video_id": video_id, "language": "pt", "product": "plus"}
    ready = {**DONE, "finished_at": now}
    await put_job(
        accounts, person, video_id, id=f"dub_{video_id}_pt_plus", type="dub", language="pt", product="plus", **ready
    )
    columns: dict[str, Any] = {"completion": "complete", "segments": [], "speakers": [], "edits": {}, "sync": {}}
    await insert(accounts.connection, "dubs", {**dub, **columns, "audio_path": path, "updated_at": now})
    assert list(await download_links(browser, video_id, "dubs")) == ["launch-pt.m4a"]
    assert "Prepare video · Free" in (await browser.get(f"/videos/{video_id}?tab=dubs")).text
    plan = {"artifact": "language_video", "language": "pt", "tier": "full"}
    result = {**plan, "storagePath": path, "fileName": "launch-pt.mp4"}
    await put_job(
        accounts,
        person,
        video_id,
        id=f"download_{new_id()}",
        type="download",
        **(ready | {"plan": plan}),
        result=result,
    )
    links = await download_links(browser, video_id, "dubs")
    assert list(links) == ["launch-pt.m4a", "launch-pt.mp4"]
    await assert_saved(browser, viewer, links)
    assert list(await download_links(browser, video_id, "publish")) == ["launch-title.txt", "launch-pt.mp4"]


async def test_shorts(
    browser: Browser,
    viewer: httpx.AsyncClient,
    accounts: Accounts,
    runtime: Runtime,
    person: Person,
    video_id: str,
    path: str,
) -> None:
    request_id, now = new_id(), system_clock()
    plan = {"kind": "shorts"}
    await put_job(
        accounts, person, video_id, id=f"shorts_{request_id}", type="shorts", finished_at=now, **(DONE | {"plan": plan})
    )
    async with runtime.database.transaction(person.library_id) as connection:
        for number in range(2):
            output = NewShortsOutput(
                id=new_id(),
                request_id=request_id,
                video_id=video_id,
                number=number,
                kind=ShortsKind.SHORTS,
                title="A moment",
                description="",
                reason="",
                duration_seconds=20.0,
                moments=[],
                video_path=path,
                thumbnail_path=path,
                plan_path=path,
            )
            await save_output(connection, person.library_id, output, now=now)
    links = await download_links(browser, video_id, "shorts")
    assert list(links) == ["launch-short-1.mp4", "launch-short-2.mp4"]
    await assert_saved(browser, viewer, links)


async def test_thumbnails(
    browser: Browser, viewer: httpx.AsyncClient, runtime: Runtime, person: Person, video_id: str, path: str
) -> None:
    request_id, now = new_id(), system_clock()
    image = NewThumbnailImage(
        id=new_id(),
        request_id=request_id,
        video_id=video_id,
        number=0,
        language=None,
        headline=None,
        layout="left",
        score=0.5,
        engine="none",
        path=path,
    )
    request = {
        "library_id": person.library_id,
        "id": request_id,
        "video_id": video_id,
        "job_id": f"thumbnail_{request_id}",
    }
    async with runtime.database.transaction(person.library_id) as connection:
        await insert(connection, "thumbnail_requests", {**request, "created_at": now})
        await store_images(connection, person.library_id, [image], now=now)
    links = await download_links(browser, video_id, "thumbnails")
    assert list(links) == ["launch-thumbnail-1.jpg"]
    await assert_saved(browser, viewer, links)


async def test_title_and_description(
    browser: Browser, viewer: httpx.AsyncClient, accounts: Accounts, person: Person, video_id: str
) -> None:
    await accounts.connection.execute(
        "UPDATE videos SET title = 'Été: the launch', description = 'What we saw.' WHERE id = $1", video_id
    )
    job_id = f"packaging_{video_id}_generateTitle"
    plan = {"titleType": "funny", "overwriteMode": "always"}
    ready = DONE | {"finished_at": system_clock(), "plan": plan, "result": {"title": "Été: the launch"}}
    await put_job(accounts, person, video_id, id=job_id, type="packaging", automation_type="generateTitle", **ready)
    links = await download_links(browser, video_id, "publish")
    assert list(links) == ["Été-the-launch-title.txt", "Été-the-launch-description.txt"]
    await assert_saved(browser, viewer, links)
    assert (await browser.get(f"/videos/{video_id}/description.txt")).text == "What we saw.\n"


@pytest.mark.parametrize("name", ["description.txt", "other.txt", "subtitles/en.mp4", "subtitles/xx.srt"])
async def test_missing_files_are_not_found(browser: Browser, video_id: str, name: str) -> None:
    assert (await browser.get(f"/videos/{video_id}/{name}")).status_code == 404
