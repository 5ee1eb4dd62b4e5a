"""The steps of the console's proof that are about people: voices, characters, brands; and arranging the library."""

from playwright.async_api import FilePayload

from dev.fixtures.photographs import ensure_pictures, pictures_folder
from proofs.console.scene import JOB_SECONDS, MARKUP, Scene

RECORD_SECONDS = 6


async def clone_a_voice(scene: Scene) -> None:
    """Recorded in the browser with the microphone, said to be agreed to, and listened to by a worker."""
    page, eyes = scene.eyes.page, scene.eyes
    await eyes.go("/voices")
    await eyes.look("voices-empty")
    await page.fill("#clone [name=name]", f"Reader {MARKUP}")
    await page.click("#record")
    await eyes.wait_for("#record-state", has_text="Recording")
    await eyes.until(f"document.getElementById('recorded').textContent >= '0:0{RECORD_SECONDS}'", seconds=60)
    await page.click("#record")
    await eyes.until("document.getElementById('sample').files.length === 1")
    assert await page.locator("#heard").is_visible()
    await page.check("#clone [name=consent]")
    await page.click("#clone button.main")
    await eyes.wait_for("#voices li", has_text="Reader")
    await eyes.wait_for("#voices .state.ready", seconds=JOB_SECONDS)
    await eyes.look("voices")


async def try_a_sentence(scene: Scene) -> None:
    """In a voice of the service, for the price on the button; then the clone is deleted."""
    page, eyes = scene.eyes.page, scene.eyes
    premade = await page.locator("#speak optgroup:last-of-type option").last.get_attribute("value")
    await page.select_option("#speak [name=voice]", premade)
    await page.fill("#speak textarea", "The lens bends the light.")
    await page.click("#speak button.main")
    await eyes.until("document.getElementById('spoken').duration > 0.5", seconds=JOB_SECONDS)
    await page.click("#voices button.danger")
    await eyes.wait_for("[role=status]", has_text="The voice is gone")


async def make_a_character(scene: Scene) -> None:
    """From a photograph; a worker looks at it, and what is no picture is refused."""
    page, eyes = scene.eyes.page, scene.eyes
    photograph = ensure_pictures(pictures_folder()) / "astronaut.png"
    await eyes.go("/characters")
    await eyes.look("characters-empty")
    await page.fill("#main [name=name]", f"Eileen {MARKUP}")
    file = FilePayload(name=f"{MARKUP}.png", mimeType="image/png", buffer=photograph.read_bytes())
    await page.set_input_files("#main input[type=file]", files=[file])
    await page.click("#main button.main")
    await eyes.wait_for(".face img", seconds=JOB_SECONDS)
    await eyes.until("document.querySelector('.face img').naturalWidth > 100")
    await eyes.look("characters")


async def make_a_brand_voice(scene: Scene) -> None:
    page, eyes = scene.eyes.page, scene.eyes
    await eyes.go("/brand-voices")
    await page.fill("#main [name=name]", f"Lens {MARKUP}")
    await page.fill("#main [name=guidelines]", f"Calm and exact. Short sentences. {MARKUP}")
    await page.fill("#main [name=colors]", "#e8a33d #1e1f22")
    await page.click("#main button.main")
    await eyes.wait_for("article h2", has_text="Lens")
    await page.click("article .edit summary")
    await page.fill("article [name=colors]", "#e8a33d #1e1f22 #3f6b8c")
    await page.click("article .edit button.main")
    await eyes.until("document.querySelectorAll('.colours li').length === 3")
    await eyes.look("brand-voices")


async def arrange(scene: Scene) -> None:
    """A folder is made and renamed, and the film chosen in the grid moves into it."""
    page, eyes = scene.eyes.page, scene.eyes
    await eyes.go("/library")
    await page.click("text=New folder")
    await page.fill(".sheet.left [name=name]", "Drafts")
    await page.click("text=Make it")
    await eyes.wait_for(".empty", has_text="This folder is empty")
    await page.click("text=Change this folder")
    await page.fill("form[action$='/rename'] [name=name]", f"Folder {MARKUP}")
    await page.click("text=Rename it")
    await eyes.wait_for("h1", has_text="Folder")
    await eyes.go("/library")
    await page.check(".tile input[name=video]", force=True)  # it shows when the tile is pointed at
    await page.select_option("#move [name=to]", index=1)
    await page.click("#move button.main")
    await eyes.wait_for(".tile")
    assert "folder=" in page.url
    await eyes.look("folder")


async def choose_a_thumbnail(scene: Scene) -> None:
    """The second one stands for the video; the library shows it."""
    page, eyes = scene.eyes.page, scene.eyes
    await page.click(".thumb button >> nth=0")
    await eyes.wait_for("[role=status]", has_text="stands for the video")
    await eyes.wait_for(".thumb.chosen .state.ready")
    sql = "SELECT poster_path FROM videos WHERE id = $1"
    poster = await scene.stage.accounts.connection.fetchval(sql, scene.found["video"])
    assert "/thumbnails/" in poster, poster
