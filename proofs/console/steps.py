"""Steps of the console proof, from sign-in to the last page."""

import asyncio
import base64

import httpx
from playwright.async_api import Route

from cutroom.accounts.sessions import change_password
from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from proofs.console.stage import CHUNK_DELAY_MS, JOB_SECONDS, MARKUP, PASSWORD, SPOKEN, VIDEO_NAME, ConsoleStage
from tests.support.dub_stage import MILLICREDITS

PATHS = (
    "/library",
    "/voices",
    "/characters",
    "/brand-voices",
    "/credits",
    "/keys",
    "/webhooks",
    "/apps",
    "/workspace",
)


async def sign_in(console: ConsoleStage) -> None:
    """Sign in with a password set by the operator."""
    person, connection = console.stage.person, console.stage.accounts.connection
    await change_password(connection, person.user_id, PASSWORD, now=system_clock())
    page = console.browser.page
    await console.browser.go("/keys")
    await console.browser.capture("sign-in")
    await page.fill("[name=email]", person.email)
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
    await browser.wait_for("#uploads .state", seconds=120, has_text="Uploaded")
    await page.unroute_all(behavior="wait")  # a delayed handler may still be running
    assert chunks > before > 2
    video_id = await console.stage.accounts.connection.fetchval("SELECT id FROM videos ORDER BY id DESC LIMIT 1")
    console.ids["video"] = video_id


async def follow_progress(console: ConsoleStage) -> None:
    """The tile becomes ready without interaction, including its transcript."""
    await console.browser.wait_for(".tile .state.ready", seconds=JOB_SECONDS)
    await console.browser.until(
        "!document.querySelector('#grid').getAttribute('hx-trigger').includes('every')", seconds=JOB_SECONDS
    )
    await console.browser.capture("library")


async def play(console: ConsoleStage) -> None:
    page = console.browser.page
    await page.click(".tile a")
    await console.browser.wait_for("#transcript li button")
    await page.evaluate("document.getElementById('player').play()")
    await console.browser.until("document.getElementById('player').currentTime > 1")
    await page.keyboard.press("Escape")
    await page.click("#transcript li:last-child button")
    start = float(await page.get_attribute("#transcript li:last-child button", "data-start") or 0)
    await console.browser.until(f"document.getElementById('player').currentTime >= {start}")
    await page.evaluate("document.getElementById('player').pause()")
    shown = await page.evaluate(
        """async () => { const track = document.querySelector('#player track').track; track.mode = 'showing';
        for (let n = 0; n < 50 && !track.cues?.length; n++) await new Promise((done) => setTimeout(done, 100));
        return track.cues ? track.cues.length : 0; }"""
    )
    assert shown, "no captions"


async def request_dub(console: ConsoleStage) -> None:
    """The button shows the exact price, and the page updates itself."""
    page = console.browser.page
    await page.select_option("#make-dub [name=dub]", "es")
    await console.browser.wait_for("#make-dub button.main", has_text="Dub into Spanish ·")
    console.ids["price"] = await page.inner_text("#make-dub button.main")
    await console.browser.capture("video")
    await page.click("#make-dub button.main")
    await console.browser.wait_for(".job-list li", has_text="Dub Spanish")
    await console.browser.wait_for(".job-list li.ready", seconds=JOB_SECONDS, has_text="Dub Spanish")


async def switch_language(console: ConsoleStage) -> None:
    """The dub becomes an audio track of the stream: the page picks it up, and the player fetches it."""
    page, browser = console.browser.page, console.browser
    await browser.until(
        "document.getElementById('live').dataset.streamed.split(',').includes('es')", seconds=JOB_SECONDS
    )
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    await page.click("#audio-tracks button[data-language=es]")
    await browser.until("document.querySelector('.stage').dataset.audioSource === 'stream es'")
    await page.evaluate(
        "() => { const player = document.getElementById('player'); player.currentTime = 0; return player.play(); }"
    )
    await browser.until("document.getElementById('player').currentTime > 0.8")
    assert not await page.evaluate("document.getElementById('player').muted")
    assert any("/media/" in url and "/a/es-" in url for url in fetched), fetched
    await page.click("#audio-tracks button[data-language=en]")
    await browser.until("document.querySelector('.stage').dataset.audioSource === 'stream en'")
    await page.evaluate("document.getElementById('player').pause()")


async def open_report(console: ConsoleStage) -> None:
    page = console.browser.page
    await page.click("details[data-report=es] summary")
    spans = await page.locator(".spans.dub rect").count()
    assert spans >= 2, spans
    await console.browser.capture("video-dubbed")


async def review_thumbnail(console: ConsoleStage) -> None:
    """Detected images are shown for review, and used after approval."""
    page = console.browser.page
    await page.check("#make-thumbnail [name=review]")
    await console.browser.wait_for("#make-thumbnail button.main", has_text="Generate thumbnail · 7 credits")
    await page.click("#make-thumbnail button.main")
    await console.browser.wait_for("#review .shot img", seconds=JOB_SECONDS)
    await console.browser.capture("video-review")
    await page.click("#review button[value=approve]")
    await console.browser.wait_for(".thumb img", seconds=JOB_SECONDS)
    await console.browser.capture("video-thumbnails")


async def search(console: ConsoleStage) -> None:
    """Search by a spoken word."""
    page = console.browser.page
    await console.browser.go("/library")
    await page.keyboard.press("/")
    await page.keyboard.type(SPOKEN)
    await page.keyboard.press("Enter")
    await console.browser.wait_for(".tile .match", has_text=SPOKEN)
    await console.browser.capture("search")


async def visit_remaining_pages(console: ConsoleStage) -> None:
    browser = console.browser
    for name in ("credits", "webhooks", "account"):
        await browser.go(f"/{name}")
        await browser.capture(name)
    await browser.page.click(".who summary")
    await browser.page.screenshot(path=browser.folder / "menu.png")
    for path in (*PATHS, "/sign-in", "/account"):
        await browser.check_html(path)
    await browser.check_html(f"/videos/{console.ids['video']}")


async def show_markup_as_text(console: ConsoleStage) -> None:
    """Markup in titles, transcripts and speaker names is escaped on every page."""
    connection, video_id = console.stage.accounts.connection, console.ids["video"]
    await connection.execute(
        """UPDATE transcripts SET segments = jsonb_set(segments, '{0,text}', to_jsonb($2::text)),
               speakers = jsonb_set(speakers, '{0,label}', to_jsonb($2::text)) WHERE video_id = $1""",
        video_id,
        f"{MARKUP}<script>alert(2)</script>",
    )
    for path in (*PATHS, f"/library?q={MARKUP}", f"/videos/{video_id}"):
        await console.browser.go(path)
        await console.browser.page.wait_for_timeout(300)
        assert not await console.browser.page.locator("img[src=x]").count(), path
