"""Steps of the console proof: the account, the key, the upload, playback and search."""

import asyncio
import base64

import httpx
from playwright.async_api import Route

from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from proofs.console.account_steps import mailed_link, sign_out
from proofs.console.stage import CHUNK_DELAY_MS, EMAIL, JOB_SECONDS, MARKUP, PASSWORD, SPOKEN, VIDEO_NAME, ConsoleStage
from tests.support.dub_stage import MILLICREDITS


async def sign_up(console: ConsoleStage) -> None:
    """Create an account, confirm its address with the mailed link, and sign out."""
    page = console.browser.page
    await console.browser.go("/sign-up")
    await console.browser.capture("sign-up", views=("laptop", "phone"))
    await page.fill("[name=name]", f"Ada {MARKUP}")
    await page.fill("[name=email]", EMAIL)
    await page.fill("[name=password]", PASSWORD)
    await page.click("button.main")
    await console.browser.wait_for("h1", has_text="Check your mail")
    await console.browser.check_html(await console.browser.go(await mailed_link(console, "Confirm")))
    await console.browser.capture("verify-email", views=("laptop", "phone"))
    await page.fill("[name=password]", PASSWORD)
    await page.click("button.main")
    await console.browser.wait_for("h1", has_text="Library")
    await sign_out(console)


async def sign_in(console: ConsoleStage) -> None:
    """Sign in from a page that needs it, and return there."""
    page = console.browser.page
    await console.browser.go("/keys")
    await console.browser.capture("sign-in", views=("laptop", "phone"))
    await page.fill("[name=email]", EMAIL)
    await page.fill("[name=password]", PASSWORD)
    await page.click("button.main")
    await page.wait_for_url("**/keys")


async def create_workspace(console: ConsoleStage) -> None:
    page = console.browser.page
    await console.browser.go("/workspace")
    await console.browser.capture("new-workspace")
    await page.fill("#main [name=name]", f"Lens people {MARKUP}")
    await page.click("#main button.main")
    await console.browser.wait_for("[role=status]", has_text="Workspace created")
    sql = "SELECT id FROM libraries WHERE kind = 'workspace' ORDER BY id DESC LIMIT 1"
    console.ids["workspace"] = await console.stage.accounts.connection.fetchval(sql)
    await ledger.grant(
        console.stage.accounts.connection,
        console.ids["workspace"],
        millicredits=MILLICREDITS,
        reference=f"gift {MARKUP}",
        now=system_clock(),
    )
    await console.browser.capture("workspace")


async def create_key(console: ConsoleStage) -> None:
    page = console.browser.page
    await console.browser.go("/keys")
    await console.browser.capture("keys-empty")
    await page.fill("#main [name=name]", f"Laptop {MARKUP}")
    await page.click("text=Create key")
    secret = await page.inner_text("#new-key")
    await console.browser.capture("keys")
    async with httpx.AsyncClient(base_url=console.stage.api.url, headers={"X-Api-Key": secret}) as client:
        assert (await client.get("/v1/videos")).status_code == 200


async def upload(console: ConsoleStage) -> None:
    """Drop a file and reload during the upload, which resumes and completes by itself."""
    page, browser = console.browser.page, console.browser
    await browser.go("/library")
    await browser.capture("library-empty")
    chunks = 0

    async def delay(route: Route) -> None:
        nonlocal chunks
        chunks += 1
        await asyncio.sleep(CHUNK_DELAY_MS / 1000)
        await route.continue_()

    await page.route(lambda url: "upload" in url and "/library" not in url, delay)
    data = console.video_file.read_bytes()
    handle = await page.evaluate_handle(
        """([base64, name]) => {
            const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
            const transfer = new DataTransfer();
            transfer.items.add(new File([bytes], name, {type: "video/mp4"}));
            return transfer;
        }""",
        [base64.b64encode(data).decode(), VIDEO_NAME],
    )
    await page.dispatch_event("#drop", "drop", {"dataTransfer": handle})
    await browser.wait_for("#price", has_text="free")
    await page.click("#send")
    await console.browser.until(
        "[...document.querySelectorAll('#uploads progress')].some((bar) => bar.value > bar.max / 4)"
    )
    before = chunks
    await page.reload()
    await browser.wait_for("#uploads .state", has_text="% uploaded")
    await browser.capture("library-uploading")
    await browser.wait_for("#uploads .state", seconds=120, has_text="Uploaded. Processing.")
    await page.unroute_all(behavior="wait")  # a delayed handler may still be running
    assert chunks > before > 2
    video_id = await console.stage.accounts.connection.fetchval("SELECT id FROM videos ORDER BY id DESC LIMIT 1")
    console.ids["video"] = video_id


async def follow_progress(console: ConsoleStage) -> None:
    """The tile becomes ready without interaction, including its transcript, and without polling."""
    async with console.browser.following():
        await console.browser.wait_for(".tile .state.ready", seconds=JOB_SECONDS)
        await console.browser.until("!document.querySelector('.tile .state:not(.ready)')", seconds=JOB_SECONDS)
    await console.browser.capture("library")


async def play(console: ConsoleStage) -> None:
    """Play, and open the transcript without stopping: its lines seek, and captions are shown."""
    page, browser = console.browser.page, console.browser
    await page.click(".tile > a")
    await browser.wait_for("#player")
    # The page attaches the stream while it opens, which rejects this call: playback must begin all the same.
    await page.evaluate("document.getElementById('player').play().catch(() => {})")
    await browser.until("document.getElementById('player').currentTime > 0.5")
    await page.click("#tab-transcript")
    await browser.wait_for("#transcript li button")
    assert not await page.evaluate("document.getElementById('player').paused")
    await browser.capture("video-transcript")
    await page.click("#transcript li:last-child button")
    start = float(await page.get_attribute("#transcript li:last-child button", "data-start") or 0)
    await browser.until(f"document.getElementById('player').currentTime >= {start}")
    await page.evaluate("document.getElementById('player').pause()")
    shown = await page.evaluate(
        """async () => { const track = document.querySelector('#player track').track; track.mode = 'showing';
        for (let n = 0; n < 50 && !track.cues?.length; n++) await new Promise((done) => setTimeout(done, 100));
        return track.cues ? track.cues.length : 0; }"""
    )
    assert shown, "no captions"


async def search(console: ConsoleStage) -> None:
    """Search by a spoken word."""
    page = console.browser.page
    await console.browser.go("/library")
    await page.keyboard.press("/")
    await page.keyboard.type(SPOKEN)
    await page.keyboard.press("Enter")
    await console.browser.wait_for(".tile .match", has_text=SPOKEN)
    await console.browser.capture("search")
