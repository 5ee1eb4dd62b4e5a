"""Steps of the studio proof with a reviewer, who has a link and no account."""

from proofs.studio.stage import Editor, StudioStage
from tests.support.studio.videos import StudioVideo

NAME = "Ana <b>Reviewer</b>"


async def review_by_link(stage: StudioStage, editor: Editor, video: StudioVideo) -> None:
    """Share a link; a guest corrects a line and comments on it; the member sees both, and the time of the comment."""
    await editor.session.go(f"/videos/{video.id}/review-links")
    await editor.page.select_option("#review-links [name=role]", "edit")
    await editor.page.click("#review-links button.main")
    link = (await editor.page.inner_text("#review-url")).partition("/review/")[2]
    await editor.open(video, "pt")

    guest = await stage.editor(is_signed_in=False)
    await guest.session.go(f"/review/{link}")
    await guest.page.fill("[name=name]", NAME)
    await guest.page.click("button.main")
    await guest.page.wait_for_url("**/studio")
    await guest.saved()
    await guest.type_into(7, "Corrected by a guest.")
    await guest.page.keyboard.press("Enter")
    await guest.saved()
    assert (await stage.texts(video))[6] == "Corrected by a guest."
    assert not await guest.page.locator("#studio-regenerate:visible").count()
    await guest.page.click("#row-s2 .time")
    await guest.session.until("document.querySelector('[data-comment-form]')?.elements.time.value.startsWith('0:04')")
    await guest.page.fill("[data-comment-form] textarea", "Is this the right bridge?")
    await guest.page.click("[data-comment-form] button.main")
    await guest.session.wait_for("#comment-list", has_text="Is this the right bridge?")
    if not stage.short:
        await guest.session.check_layout("studio of a guest")

    await editor.session.wait_for("#row-s7", has_text="Corrected by a guest.")
    await editor.page.reload()
    await editor.saved()
    await editor.session.wait_for("#comment-list", has_text=NAME)
    await editor.session.wait_for("#presence", has_text=NAME)
    await editor.page.click("#comment-list [data-seek]")
    start = video.segments[1].start_seconds
    await editor.session.until(f"Math.abs(document.getElementById('player').currentTime - {start}) < 0.5")
    await guest.page.context.close()
