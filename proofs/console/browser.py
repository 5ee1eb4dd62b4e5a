"""A browser that a proof drives, and what it notices by the way: errors, slow answers, faults of access, bad HTML."""

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import html5lib
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request, async_playwright

CHROMIUM = "/usr/bin/chromium"
AXE = Path(__file__).parents[1] / "vendor" / "axe-core-4.14.0.min.js"
SLOW_MS = 1_000
SERIOUS = frozenset({"serious", "critical"})
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
# The store's answers, the bytes of uploads and a sentence that is being spoken take as long as they take.
_UNTIMED = re.compile(r"/uploads?/|/upload/|:\d+/media/|\.mp4|\.flac|/voices/speak$")


@dataclass
class Notes:
    """What was noticed."""

    console_errors: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    axe_serious: list[str] = field(default_factory=list)
    bad_html: list[str] = field(default_factory=list)
    dialogs: int = 0
    pages: set[str] = field(default_factory=set)
    longest_ms: float = 0.0


@dataclass
class Eyes:
    """One window, and what is noticed in it."""

    page: Page
    notes: Notes
    url: str
    folder: Path
    short: bool = False

    def watch(self) -> None:
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.notes.console_errors.append(f"page error: {error}"))
        self.page.on("dialog", self._asked)
        self.page.on("requestfinished", self._timed)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.notes.console_errors.append(f"{self.page.url}: {message.text}")

    async def _asked(self, dialog: Any) -> None:  # noqa: ANN401 (playwright's own)
        if dialog.type == "alert":  # only foreign script would do that
            self.notes.dialogs += 1
        await dialog.accept()

    def _timed(self, request: Request) -> None:
        taken = request.timing["responseStart"] - request.timing["requestStart"]
        if not request.url.startswith(self.url) or _UNTIMED.search(request.url):
            return
        self.notes.longest_ms = max(self.notes.longest_ms, taken)
        if taken > SLOW_MS:
            self.notes.slow.append(f"{request.method} {request.url}: {taken:.0f} ms")

    async def go(self, path: str) -> None:
        await self.page.goto(self.url + path, wait_until="load")

    async def look(self, name: str) -> None:
        """Pictures in light, dark and on a phone, and access checked in each; the short form looks once."""
        self.notes.pages.add(name)
        looks = (("light", "light", WIDE), ("dark", "dark", WIDE), ("phone", "light", PHONE))
        for look, scheme, size in looks[:1] if self.short else looks:
            await self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of its words
            await self.page.set_viewport_size(size)  # type: ignore[arg-type]  # a plain dict will do
            await self.page.wait_for_timeout(250)
            await self.page.screenshot(path=self.folder / f"{name}-{look}.png", full_page=True)
            await self._check_access(f"{name} ({look})")
            wide = await self.page.evaluate("document.documentElement.scrollWidth > innerWidth + 1")
            if wide:
                self.notes.bad_html.append(f"{name} ({look}): wider than the window")
        await self.page.emulate_media(color_scheme="light")
        await self.page.set_viewport_size(WIDE)  # type: ignore[arg-type]  # as above

    async def _check_access(self, name: str) -> None:
        await self.page.evaluate(AXE.read_text())
        found = await self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        for fault in found["violations"]:
            if fault["impact"] in SERIOUS:
                targets = "; ".join(str(node["target"]) for node in fault["nodes"][:3])
                self.notes.axe_serious.append(f"{name}: {fault['id']}: {targets}")

    async def check_html(self, path: str) -> None:
        """As the server sent it, read by a strict parser."""
        answer = await self.page.request.get(self.url + path)
        parser = html5lib.HTMLParser()
        parser.parse(await answer.text())
        for place, code, _ in parser.errors:
            self.notes.bad_html.append(f"{path}: {code} at {place}")

    async def until(self, expression: str, *, seconds: float = 30.0) -> None:
        """Asked from outside: the page's own policy forbids to evaluate text inside."""
        deadline = time.monotonic() + seconds
        while not await self.page.evaluate(f"() => Boolean({expression})"):
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            await self.page.wait_for_timeout(100)

    async def wait_for(self, selector: str, *, seconds: float = 30.0, has_text: str | None = None) -> None:
        found = self.page.locator(selector, has_text=has_text) if has_text else self.page.locator(selector)
        await found.first.wait_for(state="visible", timeout=seconds * 1000)


@asynccontextmanager
async def open_eyes(url: str, folder: Path, *, short: bool, heard: Path | None = None) -> AsyncIterator[Eyes]:
    """A browser; what is `heard` comes out of its microphone."""
    arguments = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--use-fake-device-for-media-stream"]
    if heard is not None:
        arguments.append(f"--use-file-for-fake-audio-capture={heard}")
    async with async_playwright() as playwright:
        browser: Browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        context: BrowserContext = await browser.new_context(viewport=WIDE, permissions=["microphone"])  # type: ignore[arg-type]  # a plain dict
        context.set_default_timeout(30_000)
        eyes = Eyes(await context.new_page(), Notes(), url, folder, short)
        eyes.watch()
        try:
            yield eyes
        finally:
            await browser.close()


@dataclass
class Steps:
    """What was done, and whether it went as a person would expect."""

    done: list[tuple[str, bool, float]] = field(default_factory=list)

    @asynccontextmanager
    async def step(self, name: str, eyes: Eyes) -> AsyncIterator[None]:
        started = time.monotonic()
        try:
            yield
        except Exception as error:  # noqa: BLE001 (the proof goes on, and tells)
            await eyes.page.screenshot(path=eyes.folder / "failed.png")
            print(f"step failed: {name}: {error} at {eyes.page.url}")
            self.done.append((name, False, time.monotonic() - started))
        else:
            self.done.append((name, True, time.monotonic() - started))
