"""Chromium with Shaka Player and hls.js, on a page served from another origin."""

import asyncio
import functools
import hashlib
import os
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from dev.environment import PROJECT
from dev.probe import CHROMIUM

FETCH_SECONDS = 300
# Package: (file in it, its sha256).
PLAYERS = {
    "shaka-player@5.2.12": (
        "shaka-player.compiled.js",
        "b22dfdba631104c48a654cb623b08b0f79e2d52c83c0e9b4b7cff54730b55894",
    ),
    "hls.js@1.7.4": ("hls.min.js", "cfc70cc9e9fc63d071919e087670abc760c8fd1bc889b88588026e4d22193bbe"),
}
PAGE = """<!doctype html><meta charset="utf-8"><title>Player</title>
<style>body{margin:0;background:#222}#box{position:relative;width:640px;height:360px}video{width:640px;height:360px}
.shaka-text-container{position:absolute;inset:0 0 24px;color:#fff;font:22px sans-serif;text-shadow:0 0 4px #000}</style>
<div id="box"><video id="video" muted loop playsinline></video></div>
<script src="shaka-player.compiled.js"></script><script src="hls.min.js"></script>"""
OPEN_SHAKA = """async url => {
  shaka.polyfill.installAll();
  window.player = new shaka.Player();
  player.setVideoContainer(document.getElementById('box'));
  // A small buffer, so that a short video is not buffered completely, like a long one.
  player.configure({streaming: {bufferingGoal: 3, rebufferingGoal: 1, bufferBehind: 3}});
  await player.attach(document.getElementById('video'));
  await player.load(url);
  await document.getElementById('video').play();
}"""
OPEN_HLS = """url => new Promise((done, fail) => {
  const video = document.getElementById('video');
  window.hls = new Hls();
  hls.on(Hls.Events.ERROR, (_, error) => { if (error.fatal) fail(new Error(error.type + ' ' + error.details)); });
  hls.on(Hls.Events.MANIFEST_PARSED, () => video.play().then(done, fail));
  hls.loadSource(url);
  hls.attachMedia(video);
})"""
# Playback position, frame count and the current frame as 16 x 9 green values.
SNAPSHOT = """() => {
  const video = document.getElementById('video'), canvas = document.createElement('canvas');
  canvas.width = 16; canvas.height = 9;
  const context = canvas.getContext('2d');
  context.drawImage(video, 0, 0, 16, 9);
  const quality = video.getVideoPlaybackQuality();
  return {time: video.currentTime, frames: quality.totalVideoFrames,
          pixels: [...context.getImageData(0, 0, 16, 9).data].filter((_, at) => at % 4 === 1)};
}"""


def players_folder() -> Path:
    return Path(os.environ.get("CUTROOM_PLAYERS_FOLDER") or PROJECT / ".data" / "players")


def ensure_players(folder: Path) -> Path:
    """Extract the players from their npm packages and verify them; package scripts are not run."""
    folder.mkdir(parents=True, exist_ok=True)
    for package, (name, sha256) in PLAYERS.items():
        path = folder / name
        if path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            command = ["npm", "pack", package, "--pack-destination", scratch, "--ignore-scripts", "--loglevel", "error"]
            subprocess.run(command, check=True, timeout=FETCH_SECONDS, cwd=scratch, stdout=subprocess.DEVNULL)
            (archive,) = Path(scratch).glob("*.tgz")
            with tarfile.open(archive) as opened:
                member = opened.extractfile(f"package/dist/{name}")
                assert member is not None
                content = member.read()
        found = hashlib.sha256(content).hexdigest()
        if found != sha256:
            raise RuntimeError(f"{name} of {package} has an unexpected sha256: {found}")
        path.write_bytes(content)
    return folder


@contextmanager
def page_server(folder: Path) -> Iterator[str]:
    """Serve the player page from an origin other than the media's."""
    (folder / "index.html").write_text(PAGE)

    class QuietHandler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (named by the base class)
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Viewer:
    """A browser page with a player, and the responses it fetched."""

    page: Page
    fetched: list[str] = field(default_factory=list)

    async def open(self, script: str, url: str) -> None:
        await asyncio.wait_for(self.page.evaluate(script, url), timeout=60)

    async def snapshot(self) -> dict[str, Any]:
        found: dict[str, Any] = await self.page.evaluate(SNAPSHOT)
        return found

    async def watch(self, seconds: float, *, timeout_seconds: float = 60.0) -> tuple[float, int, float]:
        """Wait until so many seconds were played; returns seconds, frames and mean pixel change."""
        first = last = await self.snapshot()
        played = waited = 0.0
        while played < seconds and waited < timeout_seconds:
            await asyncio.sleep(0.25)
            waited += 0.25
            now = await self.snapshot()
            played += max(0.0, now["time"] - last["time"])  # the video loops
            last = now
        changed = sum(abs(one - two) for one, two in zip(first["pixels"], last["pixels"], strict=True))
        return played, last["frames"] - first["frames"], changed / len(first["pixels"])

    async def until(self, expression: str, *, seconds: float = 30.0) -> str:
        """Poll an expression until it is truthy; an empty string on timeout."""
        for _ in range(int(seconds / 0.25)):
            if found := await self.page.evaluate(expression):
                return str(found)
            await asyncio.sleep(0.25)
        return ""


@asynccontextmanager
async def open_browser(page_url: str) -> AsyncIterator[Viewer]:
    async with async_playwright() as playwright:
        # Chromium's sandbox needs user namespaces, which many containers do not allow, and never runs as root.
        arguments = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--mute-audio"]
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=arguments)
        page = await browser.new_page(viewport={"width": 640, "height": 360})
        viewer = Viewer(page)
        page.on("response", lambda response: viewer.fetched.append(f"{response.status} {response.url}"))
        await page.goto(page_url)
        yield viewer
        await browser.close()
