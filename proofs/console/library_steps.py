"""Steps of the console proof for folders, voices, characters and brand voices."""

from playwright.async_api import FilePayload

from dev.fixtures.photographs import ensure_photographs, photographs_folder
from proofs.console.stage import JOB_SECONDS, MARKUP, ConsoleStage

RECORD_SECONDS = 6


async def clone_voice(console: ConsoleStage) -> None:
    """Record with the browser's microphone, confirm consent, and wait for the clone."""
    page, browser = console.browser.page, console.browser
    await browser.go("/voices")
    await browser.capture("voices-empty")
    await page.fill("#clone [name=name]", f"Reader {MARKUP}")
    await page.click("#record")
    await browser.wait_for("#record-state", has_text="Recording")
    await browser.until(f"document.getElementById('recorded').textContent >= '0:0{RECORD_SECONDS}'", seconds=60)
    await page.click("#record")
    await browser.until("document.getElementById('sample').files.length === 1")
    assert await page.locator("#sample-player").is_visible()
    await page.uncheck("#clone [name=clean]")
    await page.check("#clone [name=consent]")
    await page.click("#clone button.main")
    await browser.wait_for("#voices li", has_text="Reader")
    await browser.wait_for("#voices .state.ready", seconds=JOB_SECONDS)
    await browser.capture("voices")


async def synthesize_sentence(console: ConsoleStage) -> None:
    """Synthesize with a stock voice at the price on the button, then delete the clone."""
    page, browser = console.browser.page, console.browser
    premade = await page.locator("#speak optgroup:last-of-type option").last.get_attribute("value")
    await page.select_option("#speak [name=voice]", premade)
    await page.fill("#speak textarea", "The lens bends the light.")
    await page.click("#speak button.main")
    await browser.until("document.getElementById('spoken').duration > 0.5", seconds=JOB_SECONDS)
    await page.click("#voices button.danger")
    await browser.wait_for("[role=status]", has_text="Voice deleted")


async def create_character(console: ConsoleStage) -> None:
    """Upload a photograph, which the worker decodes and re-encodes."""
    page, browser = console.browser.page, console.browser
    photograph = ensure_photographs(photographs_folder()) / "astronaut.png"
    await browser.go("/characters")
    await browser.capture("characters-empty")
    await page.fill("#main [name=name]", f"Eileen {MARKUP}")
    file = FilePayload(name=f"{MARKUP}.png", mimeType="image/png", buffer=photograph.read_bytes())
    await page.set_input_files("#main input[type=file]", files=[file])
    await page.click("#main button.main")
    await browser.wait_for(".face img", seconds=JOB_SECONDS)
    await browser.until("document.querySelector('.face img').naturalWidth > 100")
    await browser.capture("characters")


async def create_brand_voice(console: ConsoleStage) -> None:
    page, browser = console.browser.page, console.browser
    await browser.go("/brand-voices")
    await page.fill("#main [name=name]", f"Lens {MARKUP}")
    await page.fill("#main [name=guidelines]", f"Calm and exact. Short sentences. {MARKUP}")
    await page.fill("#main [name=colors]", "#e8a33d #1e1f22")
    await page.click("#main button.main")
    await browser.wait_for("article h2", has_text="Lens")
    await page.click("article a:has-text('Edit')")
    await browser.wait_for("article .editor :focus")  # the form takes the focus when it is complete
    await page.fill("article [name=colors]", "#e8a33d #1e1f22 #3f6b8c")
    await page.click("article .editor button.main")
    await browser.wait_for(".colors li:nth-child(3)")
    await browser.capture("brand-voices")


async def arrange_library(console: ConsoleStage) -> None:
    """Create and rename a folder, select the video in the grid and move it there."""
    page, browser = console.browser.page, console.browser
    await browser.go("/library")
    await page.click("text=New folder")
    await page.fill(".sheet.left [name=name]", "Drafts")
    await page.click("text=Create folder")
    await browser.wait_for(".empty", has_text="This folder is empty")
    await page.click("text=Edit folder")
    await page.fill("form[action$='/rename'] [name=name]", f"Folder {MARKUP}")
    await page.click("form[action$='/rename'] button")
    await browser.wait_for("h1", has_text="Folder")
    await browser.go("/library")
    await page.check(".tile .select input", force=True)  # visible on hover only
    await page.select_option("#bulk [name=to]", index=1)
    await page.click("#bulk button.main")
    await page.wait_for_url("**folder=*")
    await browser.wait_for(".tile")
    await browser.capture("folder")
