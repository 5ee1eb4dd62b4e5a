"""The steps of the console's proof, each as a person would take it."""

import asyncio
import base64

import httpx
from playwright.async_api import Route

from cutroom.accounts.sessions import change_password
from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from proofs.console.scene import FILM_NAME, JOB_SECONDS, MARKUP, PASSWORD, SLOW_PIECE_MS, SPOKEN, Scene
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


async def sign_in(scene: Scene) -> None:
    """With the password that the operator set."""
    person, connection = scene.stage.person, scene.stage.accounts.connection
    await change_password(connection, person.user_id, PASSWORD, now=system_clock())
    page = scene.eyes.page
    await scene.eyes.go("/keys")
    await scene.eyes.look("sign-in")
    await page.fill("[name=email]", person.email)
    await page.fill("[name=password]", PASSWORD)
    await page.click("button.main")
    await page.wait_for_url("**/keys")


async def make_workspace(scene: Scene) -> None:
    page = scene.eyes.page
    await scene.eyes.go("/workspace")
    await scene.eyes.look("new-workspace")
    await page.fill("#main [name=name]", f"Lens people {MARKUP}")
    await page.click("#main button.main")
    await scene.eyes.wait_for("[role=status]", has_text="The workspace is made")
    sql = "SELECT id FROM libraries WHERE kind = 'workspace' ORDER BY id DESC LIMIT 1"
    scene.found["workspace"] = await scene.stage.accounts.connection.fetchval(sql)
    await ledger.grant(
        scene.stage.accounts.connection,
        scene.found["workspace"],
        millicredits=MILLICREDITS,
        reference=f"gift {MARKUP}",
        now=system_clock(),
    )
    await scene.eyes.look("workspace")


async def make_key(scene: Scene) -> None:
    page = scene.eyes.page
    await scene.eyes.go("/keys")
    await scene.eyes.look("keys-empty")
    await page.fill("#main [name=name]", f"Laptop {MARKUP}")
    await page.click("text=Make the key")
    secret = await page.inner_text("#new-key")
    await scene.eyes.look("keys")
    async with httpx.AsyncClient(base_url=scene.stage.api.url, headers={"X-Api-Key": secret}) as client:
        assert (await client.get("/v1/videos")).status_code == 200


async def upload(scene: Scene) -> None:
    """Dropped, reloaded in the middle, and whole at the end without being touched again."""
    page, eyes = scene.eyes.page, scene.eyes
    await eyes.go("/library")
    await eyes.look("library-empty")
    puts = 0

    async def hold_back(route: Route) -> None:
        nonlocal puts
        puts += 1
        await asyncio.sleep(SLOW_PIECE_MS / 1000)
        await route.continue_()

    await page.route(lambda url: "upload" in url and "/library" not in url, hold_back)
    data = scene.film.read_bytes()
    handle = await page.evaluate_handle(
        """([hex, name]) => {
            const bytes = Uint8Array.from(atob(hex), (sign) => sign.charCodeAt(0));
            const carried = new DataTransfer();
            carried.items.add(new File([bytes], name, {type: "video/mp4"}));
            return carried;
        }""",
        [base64.b64encode(data).decode(), FILM_NAME],
    )
    await page.dispatch_event("#drop", "drop", {"dataTransfer": handle})
    await eyes.wait_for("#price", has_text="free")
    await page.click("#send")
    await scene.eyes.until("[...document.querySelectorAll('#uploads progress')].some((bar) => bar.value > bar.max / 4)")
    before = puts
    await page.reload()
    await eyes.wait_for("#uploads .state", has_text="% sent")
    await eyes.look("library-uploading")
    await eyes.wait_for("#uploads .state", seconds=120, has_text="Received")
    await page.unroute_all()
    assert puts > before > 2
    video_id = await scene.stage.accounts.connection.fetchval("SELECT id FROM videos ORDER BY id DESC LIMIT 1")
    scene.found["video"] = video_id


async def watch_progress(scene: Scene) -> None:
    """Nobody touches anything: the tile becomes ready by itself, transcript and all."""
    await scene.eyes.wait_for(".tile .state.ready", seconds=JOB_SECONDS)
    await scene.eyes.until(
        "!document.querySelector('#grid').getAttribute('hx-trigger').includes('every')", seconds=JOB_SECONDS
    )
    await scene.eyes.look("library")


async def play(scene: Scene) -> None:
    page = scene.eyes.page
    await page.click(".tile a")
    await scene.eyes.wait_for("#words li button")
    await page.evaluate("document.getElementById('player').play()")
    await scene.eyes.until("document.getElementById('player').currentTime > 1")
    await page.keyboard.press("Escape")
    await page.click("#words li:last-child button")
    start = float(await page.get_attribute("#words li:last-child button", "data-start") or 0)
    await scene.eyes.until(f"document.getElementById('player').currentTime >= {start}")
    await page.evaluate("document.getElementById('player').pause()")
    shown = await page.evaluate(
        """async () => { const track = document.querySelector('#player track').track; track.mode = 'showing';
        for (let n = 0; n < 50 && !track.cues?.length; n++) await new Promise((done) => setTimeout(done, 100));
        return track.cues ? track.cues.length : 0; }"""
    )
    assert shown, "no captions"


async def ask_for_a_dub(scene: Scene) -> None:
    """The exact price stands on the button; the page follows by itself."""
    page = scene.eyes.page
    await page.select_option("#make-dub [name=dub]", "es")
    await scene.eyes.wait_for("#make-dub button.main", has_text="Dub to Spanish,")
    scene.found["price"] = await page.inner_text("#make-dub button.main")
    await scene.eyes.look("video")
    await page.click("#make-dub button.main")
    await scene.eyes.wait_for(".timeline li", has_text="Dub Spanish")
    await scene.eyes.wait_for(".timeline li.ready", seconds=JOB_SECONDS, has_text="Dub Spanish")


async def switch_language(scene: Scene) -> None:
    """The dub is a track of the stream: the page learns of it by itself, and the player fetches its sound."""
    page, eyes = scene.eyes.page, scene.eyes
    await eyes.until("document.getElementById('live').dataset.streamed.split(',').includes('es')", seconds=JOB_SECONDS)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    await page.click("#sounds button[data-language=es]")
    await eyes.until("document.querySelector('.stage').dataset.heard === 'stream es'")
    await page.evaluate("() => { const it = document.getElementById('player'); it.currentTime = 0; return it.play(); }")
    await eyes.until("document.getElementById('player').currentTime > 0.8")
    assert not await page.evaluate("document.getElementById('player').muted")
    assert any("/media/" in url and "/s/es-" in url for url in fetched), fetched
    await page.click("#sounds button[data-language=en]")
    await eyes.until("document.querySelector('.stage').dataset.heard === 'stream en'")
    await page.evaluate("document.getElementById('player').pause()")


async def open_report(scene: Scene) -> None:
    page = scene.eyes.page
    await page.click("details[data-report=es] summary")
    bars = await page.locator(".bars.dub rect").count()
    assert bars >= 2, bars
    await scene.eyes.look("video-dubbed")


async def review_a_thumbnail(scene: Scene) -> None:
    """The pictures are shown first, and drawn with after they are approved; a title is written meanwhile."""
    page = scene.eyes.page
    await page.check("#make-thumbnail [name=review]")
    await scene.eyes.wait_for("#make-thumbnail button.main", has_text="Draw a thumbnail, 7 credits")
    await page.click("#make-thumbnail button.main")
    await scene.eyes.wait_for("#review .shot img", seconds=JOB_SECONDS)
    await scene.eyes.look("video-review")
    await page.click("#review button[value=approve]")
    await scene.eyes.wait_for(".thumb img", seconds=JOB_SECONDS)
    await scene.eyes.look("video-thumbnails")


async def search(scene: Scene) -> None:
    """By what is said, and by title."""
    page = scene.eyes.page
    await scene.eyes.go("/library")
    await page.keyboard.press("/")
    await page.keyboard.type(SPOKEN)
    await page.keyboard.press("Enter")
    await scene.eyes.wait_for(".tile .said", has_text=SPOKEN)
    await scene.eyes.look("search")


async def look_at_the_rest(scene: Scene) -> None:
    eyes = scene.eyes
    for name in ("credits", "webhooks", "account"):
        await eyes.go(f"/{name}")
        await eyes.look(name)
    await eyes.page.click(".who summary")
    await eyes.page.screenshot(path=eyes.folder / "menu.png")
    for path in (*PATHS, "/sign-in", "/account"):
        await eyes.check_html(path)
    await eyes.check_html(f"/videos/{scene.found['video']}")


async def show_markup_as_text(scene: Scene) -> None:
    """Markup in transcripts and speakers too: what others wrote is text on every page."""
    connection, video_id = scene.stage.accounts.connection, scene.found["video"]
    await connection.execute(
        """UPDATE transcripts SET segments = jsonb_set(segments, '{0,text}', to_jsonb($2::text)),
               speakers = jsonb_set(speakers, '{0,label}', to_jsonb($2::text)) WHERE video_id = $1""",
        video_id,
        f"{MARKUP}<script>alert(2)</script>",
    )
    for path in (*PATHS, f"/library?q={MARKUP}", f"/videos/{video_id}"):
        await scene.eyes.go(path)
        await scene.eyes.page.wait_for_timeout(300)
        assert not await scene.eyes.page.locator("img[src=x]").count(), path
