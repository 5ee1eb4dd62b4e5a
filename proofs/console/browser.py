"""Drives a browser and records console errors, slow responses, accessibility violations and invalid HTML."""

import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import html5lib
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    ViewportSize,
    async_playwright,
)

from proofs.console.page_requests import PageRequests, report_messages, watch_requests

CHROMIUM = "/usr/bin/chromium"
AXE = Path(__file__).parents[1] / "vendor" / "axe-core-4.14.0.min.js"
SLOW_MS = 1_000
SERIOUS = frozenset({"serious", "critical"})
LAPTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
VIEWS: dict[str, tuple[Literal["light", "dark"], ViewportSize]] = {
    "laptop": ("light", LAPTOP),
    "dark": ("dark", LAPTOP),
    "phone": ("light", PHONE),
}
# Not timed: streamed objects, upload bodies and speech synthesis.
_UNTIMED = re.compile(r"/uploads?/|/upload/|:\d+/(?:media|files)/|\.mp4|\.flac|/voices/speak$")


@dataclass
class Findings:
    """Problems recorded during a session."""

    console_errors: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    axe_serious: list[str] = field(default_factory=list)
    bad_html: list[str] = field(default_factory=list)
    sideways: list[str] = field(default_factory=list)  # pages that scroll horizontally, with the width
    actions_above_fold: bool = False
    dialogs: int = 0
    pages: set[str] = field(default_factory=set)
    longest_ms: float = 0.0
    polling: Counter[str] = field(default_factory=Counter)  # requests while a job ran that no change explains
    progress_messages: int = 0


@dataclass
class BrowserSession:
    """One browser window with its findings."""

    page: Page
    findings: Findings
    url: str
    folder: Path
    short: bool = False
    observed: list[PageRequests] = field(default_factory=list)

    @asynccontextmanager
    async def following(self) -> AsyncIterator[PageRequests]:
        """Records which requests the page makes on its own inside the block, without any input."""
        async with watch_requests(self.page, self.observed) as watching:
            yield watching
        self.findings.polling.update(watching.unexplained)
        self.findings.progress_messages += watching.messages["progress"]

    def watch(self) -> None:
        self.page.on("console", self._on_console_message)
        self.page.on("pageerror", lambda error: self.findings.console_errors.append(f"page error: {error}"))
        self.page.on("dialog", self._on_dialog)
        self.page.on("requestfinished", self._on_request_finished)

    def _on_console_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.findings.console_errors.append(f"{self.page.url}: {message.text}")

    async def _on_dialog(self, dialog: Any) -> None:  # noqa: ANN401 (playwright's own)
        if dialog.type == "alert":  # only injected script opens one
            self.findings.dialogs += 1
        await dialog.accept()

    def _on_request_finished(self, request: Request) -> None:
        duration_ms = request.timing["responseStart"] - request.timing["requestStart"]
        if not request.url.startswith(self.url) or _UNTIMED.search(request.url):
            return
        self.findings.longest_ms = max(self.findings.longest_ms, duration_ms)
        if duration_ms > SLOW_MS:
            self.findings.slow.append(f"{request.method} {request.url}: {duration_ms:.0f} ms")

    async def go(self, path: str) -> Response:
        response = await self.page.goto(self.url + path, wait_until="load")
        assert response is not None
        return response

    async def capture(self, name: str, *, views: Sequence[str] = ("laptop",)) -> None:
        """Checks the page in these views; the long form checks all of them and takes screenshots."""
        self.findings.pages.add(name)
        for view in views if self.short else VIEWS:
            scheme, size = VIEWS[view]
            await self.page.emulate_media(color_scheme=scheme)
            await self.page.set_viewport_size(size)
            await self.check_layout(f"{name} ({view})")
            if not self.short:
                await self.page.screenshot(path=self.folder / f"{name}-{view}.png", full_page=True)
        await self.page.emulate_media(color_scheme="light")
        await self.page.set_viewport_size(LAPTOP)

    async def check_layout(self, name: str) -> None:
        """Records accessibility violations, and whether the page scrolls sideways, at the current width."""
        await self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if not await self.page.evaluate("'axe' in window"):
            await self.page.evaluate(AXE.read_text())
        result = await self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        for violation in result["violations"]:
            if violation["impact"] in SERIOUS:
                targets = "; ".join(str(node["target"]) for node in violation["nodes"][:3])
                self.findings.axe_serious.append(f"{name}: {violation['id']}: {targets}")
        if await self.page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
            self.findings.sideways.append(f"{name}: wider than the window")

    async def check_html(self, response: Response) -> None:
        """Parses the served HTML with a strict parser."""
        parser = html5lib.HTMLParser()
        parser.parse(await response.text())
        for place, code, _ in parser.errors:
            self.findings.bad_html.append(f"{response.url}: {code} at {place}")

    async def until(self, expression: str, *, seconds: float = 30.0) -> None:
        """Poll from outside: the page's content security policy forbids wait_for_function."""
        deadline = time.monotonic() + seconds
        while not await self.page.evaluate(f"() => Boolean({expression})"):
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            await self.page.wait_for_timeout(100)

    async def wait_for(self, selector: str, *, seconds: float = 30.0, has_text: str | None = None) -> None:
        found = self.page.locator(selector, has_text=has_text) if has_text else self.page.locator(selector)
        await found.first.wait_for(state="visible", timeout=seconds * 1000)


@asynccontextmanager
async def open_browser(
    url: str, folder: Path, *, short: bool, microphone: Path | None = None
) -> AsyncIterator[BrowserSession]:
    """Open a browser; `microphone` is an audio file that it records from."""
    arguments = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--use-fake-device-for-media-stream"]
    if microphone is not None:
        arguments.append(f"--use-file-for-fake-audio-capture={microphone}")
    async with async_playwright() as playwright:
        browser: Browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        context: BrowserContext = await browser.new_context(viewport=LAPTOP, permissions=["microphone"])
        context.set_default_timeout(30_000)
        session = BrowserSession(await context.new_page(), Findings(), url, folder, short)
        session.watch()
        await report_messages(session.page, session.observed)
        try:
            yield session
        finally:
            await browser.close()


@dataclass
class Steps:
    """The steps taken, whether each succeeded, and its duration."""

    done: list[tuple[str, bool, float]] = field(default_factory=list)

    @asynccontextmanager
    async def step(self, name: str, browser: BrowserSession) -> AsyncIterator[None]:
        started = time.monotonic()
        try:
            yield
        except Exception as error:  # noqa: BLE001 (recorded; the proof continues)
            await browser.page.screenshot(path=browser.folder / "failed.png")
            print(f"step failed: {name}: {error} at {browser.page.url}")
            self.done.append((name, False, time.monotonic() - started))
        else:
            self.done.append((name, True, time.monotonic() - started))
