"""Tests for the signed media route."""

from datetime import timedelta

import httpx
import pytest

from cutroom.library.playback import LIFETIME, STEP_SECONDS, PlaybackLinks
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.playback.service import playback_path
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock

SEGMENT = bytes(range(256)) * 16


@pytest.fixture
async def base(runtime: Runtime, accounts: Accounts, person: Person, clock: MovableClock) -> str:
    """The signed base path of a video with a playlist and a segment."""
    library_id, video_id = person.library_id, new_id()
    video = {"library_id": library_id, "id": video_id, "status": "ready", "created_at": clock()}
    await insert(accounts.connection, "videos", video)
    await runtime.storage.put(playback_path(library_id, video_id, "master.m3u8"), b"#EXTM3U\n")
    await runtime.storage.put(playback_path(library_id, video_id, "v/240p-abc/00001.m4s"), SEGMENT)
    url = PlaybackLinks(runtime.secret_box, "").url(library_id, video_id, "", now=clock())
    return url.rstrip("/")


async def test_signed_path_serves_playlists_and_segments(viewer: httpx.AsyncClient, base: str) -> None:
    response = await viewer.get(f"{base}/master.m3u8")
    assert (response.status_code, response.text) == (200, "#EXTM3U\n")
    assert response.headers["content-type"] == "application/vnd.apple.mpegurl"
    assert response.headers["access-control-allow-origin"] == "*"
    segment = await viewer.get(f"{base}/v/240p-abc/00001.m4s")
    assert (segment.status_code, segment.content) == (200, SEGMENT)
    assert segment.headers["cache-control"] == "private, max-age=60"
    assert response.headers["cache-control"] == "private, max-age=10"
    assert segment.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("range_header", "status", "expected"),
    [
        ("bytes=0-9", 206, SEGMENT[:10]),
        ("bytes=4000-", 206, SEGMENT[4000:]),
        ("bytes=4090-9999", 206, SEGMENT[4090:]),
        ("bytes=-10", 206, SEGMENT[-10:]),
        ("bytes=9999-", 416, b""),
        ("bytes=5-1", 416, b""),
        ("frames=1-2", 200, SEGMENT),
    ],
)
async def test_range_requests(
    viewer: httpx.AsyncClient, base: str, range_header: str, status: int, expected: bytes
) -> None:
    response = await viewer.get(f"{base}/v/240p-abc/00001.m4s", headers={"Range": range_header})
    assert (response.status_code, response.content) == (status, expected)


async def test_head_and_preflight_requests(viewer: httpx.AsyncClient, base: str) -> None:
    head = await viewer.head(f"{base}/v/240p-abc/00001.m4s")
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(SEGMENT)))
    assert (await viewer.options(f"{base}/master.m3u8")).status_code == 204
    rejected = await viewer.post(f"{base}/master.m3u8")
    assert (rejected.status_code, rejected.json()["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("name", ["master.m3u8", "v/240p-abc/00001.m4s"])
async def test_expired_and_tampered_signatures_are_rejected(
    viewer: httpx.AsyncClient, base: str, name: str, clock: MovableClock
) -> None:
    _, _, token, library_id, video_id = base.split("/")
    tampered = [
        f"/media/{token[:-1]}{'0' if token[-1] != '0' else '1'}/{library_id}/{video_id}",
        f"/media/{token}/{library_id}/{new_id()}",
        f"/media/{token}/{new_id()}/{video_id}",
        f"/media/pb_ffffffff{token[11:]}/{library_id}/{video_id}",
    ]
    for changed in tampered:
        response = await viewer.get(f"{changed}/{name}")
        assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED"), changed
    clock.shift = LIFETIME + timedelta(seconds=STEP_SECONDS)
    assert (await viewer.get(f"{base}/{name}")).status_code == 403


@pytest.mark.parametrize(
    "name", ["nothing.m3u8", "../source", "v/../../source", "%2e%2e/source", "chunks/x/240p-00000.mp4", "v//a.m4s", ""]
)
async def test_other_files_of_a_video_are_not_served(viewer: httpx.AsyncClient, base: str, name: str) -> None:
    assert (await viewer.get(f"{base}/{name}")).status_code in {403, 404}


@pytest.mark.parametrize("name", ["master.m3u8", "v/240p-abc/00001.m4s"])
async def test_videos_in_the_trash_are_not_served(
    viewer: httpx.AsyncClient, base: str, accounts: Accounts, name: str
) -> None:
    video_id = base.rpartition("/")[2]
    await accounts.connection.execute("UPDATE videos SET deleted_at = now() WHERE id = $1", video_id)
    response = await viewer.get(f"{base}/{name}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_files_without_a_video_are_not_served(
    viewer: httpx.AsyncClient, runtime: Runtime, person: Person, clock: MovableClock
) -> None:
    video_id = new_id()
    await runtime.storage.put(playback_path(person.library_id, video_id, "master.m3u8"), b"#EXTM3U\n")
    url = PlaybackLinks(runtime.secret_box, "").url(person.library_id, video_id, "master.m3u8", now=clock())
    assert (await viewer.get(url)).status_code == 404
