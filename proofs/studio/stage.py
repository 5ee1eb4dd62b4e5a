"""The stage of the studio proof: an API without a worker, videos with editable products, and browsers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, Page, async_playwright

from cutroom.accounts.sessions import AuthenticatedUser, SessionService
from cutroom.credits import ledger
from cutroom.library.rules import source_path
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime, open_runtime
from dev.scratch import Accounts, Keyring, Person, environment_of, scratch
from dev.server import Server, free_port
from proofs.console.browser import CHROMIUM, LAPTOP, BrowserSession, Findings
from tests.support.stage import make_video
from tests.support.studio.videos import StudioVideo, insert_studio_video

MEDIA_SECONDS = 20
WAIT_SECONDS = 120.0  # for a loaded machine
_SAVED = "window.studio?.model.isLoaded && !studio.drafts.size && !studio.isTyping()"


@dataclass
class Editor:
    """A person's browser with the studio open."""

    session: BrowserSession

    @property
    def page(self) -> Page:
        return self.session.page

    async def open(self, video: StudioVideo, lang: str = "") -> None:
        response = await self.session.go(f"{video.path}?lang={lang}")
        await self.session.check_html(response)
        await self.saved()

    async def saved(self) -> None:
        """Wait until every row is loaded and every change is saved."""
        await self.session.until(_SAVED, seconds=WAIT_SECONDS)

    def cell(self, number: int, side: str = "source") -> str:
        """The selector of the text of a segment, which are counted from 1."""
        return f"#row-s{number} .side.{side} .cell"

    async def text(self, number: int, side: str = "source") -> str:
        return await self.page.inner_text(self.cell(number, side))

    async def type_into(self, number: int, text: str, side: str = "source") -> None:
        """Replace a text by the keyboard; it stays open."""
        await self.page.focus(self.cell(number, side))
        await self.page.keyboard.press("Enter")
        await self.page.keyboard.press("Control+A")
        await self.page.keyboard.type(text)


@dataclass
class StudioStage:
    """What the steps share."""

    runtime: Runtime
    accounts: Accounts
    api: Server
    person: Person
    key: Keyring
    browser: Browser
    folder: Path
    screenshots: Path
    short: bool
    page_bytes: int = 0
    findings: Findings = field(default_factory=Findings)

    async def video(self, *, segments: int) -> StudioVideo:
        """A video whose media is a test pattern; the length of its transcript follows from the segments."""
        made = await insert_studio_video(self.accounts.connection, self.person.library_id, segments=segments)
        media = self.folder / "media.mp4"
        if not media.exists():
            await asyncio.to_thread(make_video, media, MEDIA_SECONDS, size="320x180", rate=10)
        for path in (source_path(self.person.library_id, made.id), made.dub_audio_path):
            await self.runtime.storage.put(path, media.read_bytes())
        return made

    async def editor(self, *, scripts: bool = True, is_signed_in: bool = True) -> Editor:
        """A browser of its own, signed in if it is a member's."""
        context = await self.browser.new_context(viewport=LAPTOP, java_script_enabled=scripts)
        context.set_default_timeout(30_000)
        if is_signed_in:
            await context.add_cookies([{"name": "cutroom-session", "value": await self._token(), "url": self.api.url}])
        session = BrowserSession(await context.new_page(), self.findings, self.api.url, self.screenshots, self.short)
        session.watch()
        return Editor(session)

    async def _token(self) -> str:
        service = SessionService(secret_box=self.runtime.secret_box, plans=self.runtime.authenticator.plans)
        async with self.runtime.database.connection() as connection:
            user = AuthenticatedUser(self.person.user_id, self.person.library_id)
            return await service.create(connection, user, now=system_clock())

    async def transcript(self, video: StudioVideo) -> dict[str, Any]:
        """The current revision with its segments, by the API."""
        async with httpx.AsyncClient(base_url=self.api.url, headers=self.key.headers) as client:
            revisions = f"/v1/videos/{video.id}/transcript/revisions"
            number = (await client.get(revisions, params={"limit": 1})).raise_for_status().json()["revision"]
            found: dict[str, Any] = (await client.get(f"{revisions}/{number}")).raise_for_status().json()
            return found

    async def texts(self, video: StudioVideo) -> list[str]:
        return [each["text"] for each in (await self.transcript(video))["segments"]]


@asynccontextmanager
async def open_studio_stage(folder: Path, *, screenshots: Path, short: bool) -> AsyncIterator[StudioStage]:
    port = free_port()
    settings = (await scratch("proof_studio")).model_copy(update={"public_url": f"http://localhost:{port}"})
    accounts = await Accounts.open(settings)
    person = await accounts.person()
    await ledger.grant(
        accounts.connection, person.library_id, millicredits=100_000, reference="proof", now=system_clock()
    )
    api = Server(environment_of(settings), port=port)
    api.start()
    try:
        async with (
            open_runtime(settings.model_copy(update={"api_database_url": None}), system_clock) as runtime,
            async_playwright() as playwright,
        ):
            arguments = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
            key = await accounts.key(person)
            try:
                yield StudioStage(runtime, accounts, api, person, key, browser, folder, screenshots, short)
            finally:
                await browser.close()
    finally:
        api.stop()
        await accounts.close()
