"""Steps of the console proof about the event stream: connections that are lost, hidden pages, and ended sessions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Page, expect

from cutroom.platform.clock import system_clock
from cutroom.platform.db import enter_library, insert, single_connection
from cutroom.platform.ids import new_id
from proofs.console.stage import EMAIL, MARKUP, PASSWORD, ConsoleStage

LOST, SIGNED_OUT = "Connection lost. Reconnecting.", "You are signed out."
HEALED_SECONDS = 60.0
TABS = 8  # more than the six connections that a browser opens to a host
_HIDE = """(isHidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


async def _rename(console: ConsoleStage, title: str) -> None:
    """Change the video as another process does, in its library."""
    connection = console.stage.accounts.connection
    async with connection.transaction():
        await enter_library(connection, console.ids["workspace"])
        await connection.execute("UPDATE videos SET title = $2 WHERE id = $1", console.ids["video"], title)


async def _add_video(console: ConsoleStage, title: str) -> str:
    connection, video_id = console.stage.accounts.connection, new_id()
    async with connection.transaction():
        await enter_library(connection, console.ids["workspace"])
        row = {"library_id": console.ids["workspace"], "id": video_id, "title": title, "status": "ready"}
        await insert(connection, "videos", {**row, "created_at": system_clock()})
    return video_id


async def _remove_video(console: ConsoleStage, video_id: str) -> None:
    connection = console.stage.accounts.connection
    async with connection.transaction():
        await enter_library(connection, console.ids["workspace"])
        await connection.execute("UPDATE videos SET deleted_at = now(), purged_at = now() WHERE id = $1", video_id)


@asynccontextmanager
async def _expected_failures(console: ConsoleStage) -> AsyncIterator[None]:
    """The browser notes each failed connection, which is what happens here."""
    findings, before = console.browser.findings, len(console.browser.findings.console_errors)
    yield
    noted = findings.console_errors[before:]
    findings.console_errors[before:] = [each for each in noted if "net::ERR_" not in each]


async def _mark(page: Page) -> None:
    await page.evaluate("window.wasNotReloaded = true")


async def _assert_not_reloaded(page: Page) -> None:
    assert await page.evaluate("window.wasNotReloaded"), "the page was reloaded"


async def heal_connection(console: ConsoleStage) -> None:
    """Kill the API under an open page: it says so, and then shows everything that changed meanwhile."""
    page, browser, video_id = console.browser.page, console.browser, console.ids["video"]
    title = await console.stage.accounts.connection.fetchval("SELECT title FROM videos WHERE id = $1", video_id)
    await browser.go("/library")
    await browser.wait_for(".tile")
    await _mark(page)
    async with _expected_failures(console):
        console.stage.api.kill()
        await browser.wait_for("#connection", has_text=LOST)
        await browser.check_layout("connection lost")
        await _rename(console, f"Renamed meanwhile {MARKUP}")
        added = await _add_video(console, f"Added meanwhile {MARKUP}")
        console.stage.api.start()
        await browser.wait_for(".tile .name", has_text="Renamed meanwhile", seconds=HEALED_SECONDS)
        await browser.wait_for(".tile .name", has_text="Added meanwhile")
        await expect(page.locator("#connection")).to_be_hidden()
    await _rename(console, title)
    await browser.wait_for(f"#name-{video_id}", has_text=title)
    await _remove_video(console, added)
    await expect(page.locator(f"#name-{added}")).to_have_count(0)
    await _assert_not_reloaded(page)


async def lose_database_connection(console: ConsoleStage) -> None:
    """Cut the connections on which the API listens: what changes then is shown all the same."""
    page, browser, video_id = console.browser.page, console.browser, console.ids["video"]
    connection = console.stage.accounts.connection
    title = await connection.fetchval("SELECT title FROM videos WHERE id = $1", video_id)
    await browser.go(f"/videos/{video_id}")
    await _mark(page)
    async with single_connection(console.stage.settings.api_database) as api:  # a role may end its own connections
        await api.execute(
            """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"""
        )
    await _rename(console, f"Renamed without a connection {MARKUP}")
    await browser.wait_for("#heading h1", has_text="Renamed without a connection", seconds=HEALED_SECONDS)
    await _rename(console, title)
    await browser.wait_for("#heading h1", has_text=title)
    await _assert_not_reloaded(page)


async def hide_pages(console: ConsoleStage) -> None:
    """More tabs than connections: hidden ones hold none, and show what changed when they are shown again."""
    browser, context = console.browser, console.browser.page.context
    title = "SELECT title FROM videos WHERE id = $1"
    before = await console.stage.accounts.connection.fetchval(title, console.ids["video"])
    await browser.go("/library")
    await browser.page.evaluate(_HIDE, True)  # noqa: FBT003 (passed to the page)
    pages = []
    for _ in range(TABS):
        opened = await context.new_page()
        await opened.goto(f"{browser.url}/library", wait_until="load")
        await opened.evaluate(_HIDE, True)  # noqa: FBT003
        pages.append(opened)
    await _rename(console, f"Renamed unseen {MARKUP}")
    name = pages[0].locator(f"#name-{console.ids['video']}")
    await pages[0].evaluate(_HIDE, False)  # noqa: FBT003
    await expect(name).to_contain_text("Renamed unseen", timeout=HEALED_SECONDS * 1000)
    await _rename(console, before)
    await expect(name).to_contain_text(before)
    for each in pages:
        await each.close()


async def sign_out_elsewhere(console: ConsoleStage) -> None:
    """Sign out in one tab: the other one says so, without losing what it shows."""
    page, browser = console.browser.page, console.browser
    await browser.go("/library")
    await _mark(page)
    other = await page.context.new_page()
    await other.goto(f"{browser.url}/account", wait_until="load")
    await other.click(".who summary")
    await other.click("text=Sign out")
    await other.wait_for_url("**/sign-in*")
    await browser.wait_for("#connection", has_text=SIGNED_OUT)
    await _assert_not_reloaded(page)
    await other.close()
    await page.click("#connection a")
    await page.fill("[name=email]", EMAIL)
    await page.fill("[name=password]", PASSWORD)
    await page.click("button.main")
    await browser.wait_for("h1", has_text="Library")
    await page.click(".who summary")  # a new session begins in the personal library
    await page.click(f".who button[value='{console.ids['workspace']}']")
    await browser.wait_for(".tile")
