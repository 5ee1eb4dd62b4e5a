"""Steps of the console proof that delete videos, restore them from the trash, and delete one permanently."""

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from proofs.console.stage import MARKUP, ConsoleStage

TAKES = ("Take 1", "Take 2")


async def restore_video(console: ConsoleStage) -> None:
    """Delete with the keyboard, after leaving the confirmation once, and undo it; then restore it from the trash."""
    page, browser, video_id = console.browser.page, console.browser, console.ids["video"]
    await browser.go("/trash")
    await browser.wait_for(".empty", has_text="The trash is empty")
    await browser.capture("trash-empty")
    await _open_confirmation(console)
    await browser.check_layout("video-delete")
    await page.keyboard.press("Escape")
    await browser.until("document.activeElement.id === 'delete-video'")
    await _delete(console)
    await page.click("[role=status] button:has-text('Undo')")
    await browser.wait_for("[role=status]", has_text="Video restored")
    await _delete(console)
    await page.click("nav[aria-label=Main] a:has-text('Trash')")
    await browser.wait_for(f"#trashed-{video_id} .break", has_text=MARKUP)
    await browser.capture("trash", views=("laptop", "dark"))
    await page.click(f"#trashed-{video_id} button:has-text('Restore')")
    await page.click("[role=status] a:has-text('Open it')")
    await browser.wait_for("#player")


async def _open_confirmation(console: ConsoleStage) -> None:
    """Open the confirmation with the keyboard; the button has the focus."""
    page, browser = console.browser.page, console.browser
    await browser.go(f"/videos/{console.ids['video']}")
    await page.focus("#delete-video")
    await page.keyboard.press("Enter")
    await browser.until("document.activeElement.textContent === 'Move to trash'")
    await browser.wait_for("#confirm-deletion", has_text="trash for 30 days")


async def _delete(console: ConsoleStage) -> None:
    await _open_confirmation(console)
    await console.browser.page.keyboard.press("Enter")
    await console.browser.wait_for("[role=status]", has_text="Moved to the trash")


async def delete_permanently(console: ConsoleStage) -> None:
    """Delete two selected videos together, and one of them permanently from the trash.

    They are rows without media, to keep the walk short: the tests of the purge remove real objects.
    """
    page, browser = console.browser.page, console.browser
    connection, ids = console.stage.accounts.connection, [new_id() for _ in TAKES]
    for video_id, title in zip(ids, TAKES, strict=True):
        video = {"library_id": console.ids["workspace"], "id": video_id, "title": f"{title} {MARKUP}"}
        await insert(connection, "videos", {**video, "status": "ready", "created_at": system_clock()})
    await browser.go("/library")
    for video_id in ids:
        await page.check(f".select input[value='{video_id}']", force=True)  # visible on hover only
    await page.click("#bulk button:has-text('Delete')")
    await browser.wait_for("h1", has_text="Delete 2 videos?")
    await browser.capture("library-delete", views=("laptop", "phone"))
    await page.click("#main button.danger")
    await browser.wait_for("[role=status]", has_text="2 videos were moved to the trash")
    await page.click("[role=status] a:has-text('Open the trash')")
    await page.click(f"#trashed-{ids[0]} a:has-text('Delete permanently')")
    await browser.wait_for("#main", has_text="You cannot undo this.")
    await browser.capture("trash-delete")
    await page.click("#main button.danger")
    await browser.wait_for("[role=status]", has_text="Video deleted permanently")
    assert not await page.locator(f"#trashed-{ids[0]}").count()
    assert await connection.fetchval("SELECT purged_at FROM videos WHERE id = $1", ids[0])
    console.ids["trashed"] = ids[1]
