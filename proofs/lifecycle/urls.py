"""How long the URLs of a video work after it was deleted."""

import asyncio
import time

import httpx

from proofs.lifecycle.library import Library

LIMIT_SECONDS = 60.0
READY_SECONDS = 300.0
SEGMENT_SUFFIXES = (".m3u8",)


async def collect_urls(library: Library, video_id: str) -> list[str]:
    """The poster, the manifest, and a segment playlist of a video, once it is playable."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        library.stage.worker.keep_running()
        video = library.request("read", "GET", f"/videos/{video_id}").json()
        if "url" in video and "posterUrl" in video:
            break
        if time.monotonic() > deadline:
            raise RuntimeError(f"the video is not playable: {video}")
        await asyncio.sleep(0.5)
    manifest = library.client.get(video["url"], headers={"Authorization": ""}).raise_for_status().text
    names = [line for line in manifest.splitlines() if line.endswith(SEGMENT_SUFFIXES) and not line.startswith("#")]
    return [video["posterUrl"], video["url"], str(httpx.URL(video["url"]).join(names[0]))]


async def measure_revocation(library: Library, video_id: str) -> tuple[float, list[str]]:
    """Seconds from the deletion until the last URL is refused, and those that are refused before or work no more."""
    urls, faults = await collect_urls(library, video_id), []
    faults += [url for url in urls if _status(library, url) != 200]
    library.delete(video_id, permanently=False)
    started, working = time.monotonic(), list(urls)
    while working and time.monotonic() - started < 2 * LIMIT_SECONDS:
        working = [url for url in working if _status(library, url) == 200]
        await asyncio.sleep(0.2)
    seconds = time.monotonic() - started
    library.request("restore", "POST", f"/videos/{video_id}/restore").raise_for_status()
    library.videos[video_id].place = "library"
    deadline = time.monotonic() + LIMIT_SECONDS
    while (refused := [url for url in urls if _status(library, url) != 200]) and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
    return seconds, [*faults, *refused]


def _status(library: Library, url: str) -> int:
    return library.client.get(url, headers={"Authorization": ""}).status_code
