"""The built client in Chromium, from a page of the API's own origin: the API has no CORS headers for other origins."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, async_playwright

from tests.support.stage import Stage

CHROMIUM = "/usr/bin/chromium"
PAGE = "/client-test/index.html"
SCRIPT = """
async ([apiKey, chunkBytes]) => {
  const { Cutroom, NotFoundError } = await import("/client-test/index.js");
  const client = new Cutroom({ apiKey });
  const bytes = await (await fetch("/client-test/video.mp4")).arrayBuffer();
  const file = new File([bytes], "from-browser.mp4", { type: "video/mp4" });
  const progress = [];
  const video = await client.videos.upload(file, { chunkBytes, onProgress: ({ bytes }) => progress.push(bytes) });
  await video.wait();
  const fetched = await video.download({ artifact: "source" });
  const hash = async (data) => [...new Uint8Array(await crypto.subtle.digest("SHA-256", data))].join();
  return {
    title: video.data.title,
    status: video.data.status,
    chunks: progress.length,
    size: bytes.byteLength,
    isSame: (await hash(bytes)) === (await hash(await fetched.arrayBuffer())),
    isTyped: await client.videos.get("none").catch((error) => error instanceof NotFoundError),
  };
}
"""
OTHER_ORIGIN = """
async ([apiKey, baseUrl]) => {
  const { Cutroom } = await import("/client-test/index.js");
  const client = new Cutroom({ apiKey, baseUrl, retries: { retries: 0 } });
  return client.operations.listFolders().then(() => "readable", (error) => error.name);
}
"""
CHUNK = 256 * 1024


@pytest.fixture
async def page(built: Path, video: Path) -> AsyncIterator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page()

        async def serve(route: Route) -> None:
            name = route.request.url.partition("/client-test/")[2]
            if name == "index.html":
                await route.fulfill(body="<!doctype html><title>Client</title>", content_type="text/html")
            elif name == "video.mp4":
                await route.fulfill(path=video)
            else:
                await route.fulfill(path=built / name, content_type="text/javascript")

        await page.context.route("**/client-test/**", serve)
        yield page
        await browser.close()


async def test_a_page_uploads_waits_and_downloads(page: Page, stage: Stage) -> None:
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    await page.goto(stage.api.url + PAGE)
    seen = await page.evaluate(SCRIPT, [stage.key.secret, CHUNK])
    assert seen["status"] == "ready"
    assert seen["title"] == "from-browser.mp4"
    assert seen["chunks"] == -(-seen["size"] // CHUNK)
    assert seen["isSame"]
    assert seen["isTyped"]
    assert problems == []


async def test_a_page_of_another_origin_cannot_read_the_api(page: Page, stage: Stage) -> None:
    await page.goto(stage.api.url.replace("127.0.0.1", "localhost") + PAGE)
    assert await page.evaluate(OTHER_ORIGIN, [stage.key.secret, stage.api.url]) == "ConnectionFailedError"
