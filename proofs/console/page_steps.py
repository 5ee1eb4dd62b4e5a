"""Steps of the console proof that visit pages: webhooks, the export, and every page on a phone with hostile names."""

import json
import zipfile

from cutroom.products.declaration import VideoTab
from cutroom.retention.exports.rules import MANIFEST
from proofs.console.browser import LAPTOP, PHONE
from proofs.console.stage import JOB_SECONDS, MARKUP, ConsoleStage

HOOK = "/takes/console"
PATHS = (
    "/library",
    "/trash",
    "/voices",
    "/cast",
    "/characters",
    "/brand-voices",
    "/credits",
    "/storage",
    "/keys",
    "/webhooks",
    "/notifications",
    "/apps",
    "/workspace",
    "/workspace/new",
    "/audit-log",
    "/account",
    "/account/sessions",
    "/account/second-factor",
    "/account/passkeys",
)


async def receive_webhook(console: ConsoleStage) -> None:
    """Register an endpoint, send it a test event, and see the delivery in the log."""
    page, browser = console.browser.page, console.browser
    await browser.go("/webhooks")
    await page.fill("#main [name=url]", f"https://{console.receiver.host}{HOOK}")
    await page.click("#main button.main")
    console.receiver.secrets[HOOK] = await page.inner_text("#new-secret")
    await browser.capture("webhooks")
    await page.click("td a")
    await page.click("text=Send test event")
    await browser.wait_for("#log .state.ready", seconds=JOB_SECONDS, has_text="Delivered")
    assert [delivery.verified for delivery in console.receiver.at(HOOK)] == [True]
    await browser.capture("webhook")
    console.ids["webhook"] = page.url.removeprefix(browser.url).partition("?")[0]


async def export_library(console: ConsoleStage) -> None:
    """Export the workspace, see the list become ready without interaction, and download the archive."""
    page, browser = console.browser.page, console.browser
    await browser.go("/storage")
    await page.click("#export button:has-text('Export everything')")
    await browser.wait_for("[role=status]", has_text="Export started")
    await browser.wait_for("#exports :is(.state.ready, .state.failed)", seconds=JOB_SECONDS)
    assert await page.locator("#exports .state.ready").count(), await page.inner_text("#exports .state")
    async with page.expect_download() as downloading:
        await page.click("#exports a:has-text('Download')")
    download = await downloading.value
    assert download.suggested_filename.endswith(".zip"), download.suggested_filename
    with zipfile.ZipFile(await download.path()) as archive:
        assert archive.testzip() is None
        listed = {file["path"] for file in json.loads(archive.read(MANIFEST))["files"]}
        assert listed == set(archive.namelist()) - {MANIFEST}
        assert f"videos/{console.ids['video']}/video.json" in listed, listed
    await browser.capture("storage")


async def visit_remaining_pages(console: ConsoleStage) -> None:
    browser = console.browser
    await browser.go("/credits")
    await browser.capture("credits")
    await browser.page.click(".who summary")
    await browser.check_layout("menu")


async def visit_on_a_phone(console: ConsoleStage) -> None:
    """Every page fits 390 pixels, is valid HTML, and shows markup in names, transcripts and speakers as text."""
    browser, video_id = console.browser, console.ids["video"]
    await console.stage.accounts.connection.execute(
        """UPDATE transcripts SET segments = jsonb_set(segments, '{0,text}', to_jsonb($2::text)),
               speakers = jsonb_set(speakers, '{0,label}', to_jsonb($2::text)) WHERE video_id = $1""",
        video_id,
        f"{MARKUP}<script>alert(2)</script>",
    )
    await browser.page.set_viewport_size(PHONE)
    tabs = [f"/videos/{video_id}?tab={tab}" for tab in VideoTab]
    forms = (f"/videos/{video_id}/title", f"{console.ids['webhook']}/edit", console.ids["downloads"])
    cast = (console.ids["member"], f"/videos/{video_id}/speakers", f"/videos/{video_id}/script")
    trashed = console.ids["trashed"]
    deletions = (f"/videos/{video_id}/delete", f"/trash/{trashed}/delete")
    notices = [f"/library?notice={notice}&video={trashed}" for notice in ("trashed", "in-trash")]
    filtered = (f"/library?q={MARKUP}", "/library?label=none")
    for path in (*PATHS, console.ids["webhook"], *filtered, *forms, *cast, *deletions, *notices, *tabs):
        await browser.check_html(await browser.go(path))
        await browser.check_layout(f"{path} (phone)")
        assert not await browser.page.locator("img[src=x]").count(), path
    await browser.page.set_viewport_size(LAPTOP)
