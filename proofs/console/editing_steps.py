"""Steps of the console proof that change a video: title, candidates, labels, and several videos at once."""

from cutroom.jobs.ids import AutomationType
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from proofs.console.stage import MARKUP, ConsoleStage

LABEL = f"Season 2 {MARKUP}"


async def rename_video(console: ConsoleStage) -> None:
    """Rename in place with the keyboard: the form opens with the focus, and gives it back."""
    page, browser = console.browser.page, console.browser
    await browser.go(f"/videos/{console.ids['video']}")
    await page.focus("#rename")
    await page.keyboard.press("Enter")
    await browser.until("document.activeElement.name === 'title'")
    await browser.capture("video-rename", views=("laptop", "phone"))
    await page.keyboard.press("Escape")
    await browser.until("document.activeElement.id === 'rename'")
    await page.keyboard.press("Enter")
    await browser.until("document.activeElement.name === 'title'")
    await page.fill("#edit-title [name=title]", f"Leisure {MARKUP}")
    await page.keyboard.press("Enter")
    await browser.wait_for("h1", has_text="Leisure")
    await browser.until("document.activeElement.id === 'rename'")


async def choose_candidate(console: ConsoleStage) -> None:
    """Choose another title, and write a description; the heading follows.

    The job whose candidates are shown is a fake, to keep the walk short: the packaging proof makes real ones.
    """
    page, browser, now = console.browser.page, console.browser, system_clock()
    times = {"created_at": now, "updated_at": now, "finished_at": now}
    fake_job = {
        "library_id": console.ids["workspace"],
        "id": f"packaging_{console.ids['video']}_{AutomationType.TITLE}",
        "video_id": console.ids["video"],
        "type": "packaging",
        "automation_type": AutomationType.TITLE.value,
        "status": "ready",
        "progress": 100,
        "attempt": 1,
        "plan": {},
        "depends_on": [],
        "result": {"candidates": [f"Leisure {MARKUP}", f"Two sentences {MARKUP}"], "engine": "none"},
    }
    await insert(console.stage.accounts.connection, "jobs", {**fake_job, **times})
    await page.click("#tab-publish")
    await page.click(".candidates button")
    await browser.wait_for("h1", has_text="Two sentences")
    await browser.wait_for(".candidates li:nth-child(2) .state.ready", has_text="Current")
    await page.click("#open-description")
    await page.fill("#edit-description-text textarea", f"About leisure.\n{MARKUP}")
    await page.click("#edit-description-text button.main")
    await browser.wait_for("#description", has_text="About leisure.")
    await browser.capture("video-texts")


async def label_video(console: ConsoleStage) -> None:
    """Add a label, and filter the library by it."""
    page, browser = console.browser.page, console.browser
    await page.click("#add-label")
    await page.fill("#edit-labels [name=label]", LABEL)
    await page.keyboard.press("Enter")
    await page.click(".label a:has-text('Season 2')")
    await page.wait_for_url("**label=*")
    await browser.wait_for(".tile")
    await page.click("nav[aria-label=Labels] a[aria-current]")
    await page.wait_for_url("**/library")


async def change_selection(console: ConsoleStage) -> None:
    """Rename from the menu of a tile; then label the selected video, download it, and remove the label."""
    page, browser = console.browser.page, console.browser
    await page.click(".tile-menu summary")
    await page.click(".tile-menu a:has-text('Rename')")
    await page.fill(".tile .editor [name=title]", f"Lens {MARKUP}")
    await page.keyboard.press("Enter")
    await browser.wait_for(".tile .name", has_text="Lens")
    for change in ("Add label", "Remove label"):
        await page.check(".tile .select input", force=True)  # visible on hover only
        await page.fill("#bulk [name=label]", "draft")
        if change == "Add label":
            await browser.capture("library-selection", views=("phone",))
        await page.click(f"#bulk button:has-text('{change}')")
        await browser.wait_for("[role=status]", has_text="Labels changed")
        await browser.until(f"document.querySelectorAll('.tile .label').length === {2 if change == 'Add label' else 1}")
    await page.check(".tile .select input", force=True)
    await page.click("#bulk button:has-text('Download')")
    await page.wait_for_url("**/library/downloads?*")
    await browser.wait_for("#downloads a.button")
    await browser.capture("downloads")
    console.ids["downloads"] = page.url.removeprefix(browser.url)
