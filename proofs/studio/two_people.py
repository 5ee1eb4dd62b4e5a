"""Two people edit one transcript at once: what each of them wrote is saved, or shown to choose from."""

import asyncio

from proofs.studio.stage import Editor, StudioStage
from tests.support.studio.videos import StudioVideo

OWN_LINES = 4  # that each of them changes without the other
SHARED_LINES = (9, 10)  # that both change
SETTLED = "window.studio && [...studio.drafts].every((draft) => draft.problem) && !studio.isTyping()"


async def edit_at_once(stage: StudioStage, video: StudioVideo) -> int:
    """The number of texts that were neither saved nor offered."""
    first, second = await stage.editor(), await stage.editor()
    await asyncio.gather(first.open(video), second.open(video))
    lost = await _edit_different_lines(stage, video, first, second)
    for number, line in enumerate(SHARED_LINES):
        lost += await _edit_the_same_line(stage, video, (first, second), line=line, choice=("mine", "theirs")[number])
    return lost + await _merge_what_the_other_edits(stage, video, first, second)


async def _edit_different_lines(stage: StudioStage, video: StudioVideo, first: Editor, second: Editor) -> int:
    """Without waiting for each other, from the same revision on."""

    async def write(editor: Editor, name: str, offset: int) -> list[str]:
        written = []
        for number in range(OWN_LINES):
            text = f"{name} wrote {number}."
            await editor.type_into(1 + 2 * number + offset, text)
            await editor.page.keyboard.press("Enter")
            written.append(text)
        await editor.saved()
        return written

    written = await asyncio.gather(write(first, "Ada", 0), write(second, "Grace", 1))
    saved = await stage.texts(video)
    return sum(text not in saved for texts in written for text in texts)


async def _edit_the_same_line(
    stage: StudioStage, video: StudioVideo, editors: tuple[Editor, Editor], *, line: int, choice: str
) -> int:
    texts = [f"Version {number} of line {line}." for number in (1, 2)]
    for editor, text in zip(editors, texts, strict=True):
        await editor.type_into(line, text)
    await asyncio.gather(*(editor.page.keyboard.press("Enter") for editor in editors))
    await asyncio.gather(*(editor.session.until(SETTLED) for editor in editors))
    asked = [editor for editor in editors if await editor.page.locator(".conflict").count()]
    if len(asked) != 1:
        return 1
    (late,) = asked
    shown = {await late.page.inner_text(f".conflict .{each}") for each in ("mine", "theirs")}
    if shown != set(texts):
        return 1
    kept = await late.page.inner_text(f".conflict .{choice}")
    await late.page.click(f"[data-resolve={choice}]")
    await late.saved()
    return int(kept not in await stage.texts(video))


async def _merge_what_the_other_edits(stage: StudioStage, video: StudioVideo, first: Editor, second: Editor) -> int:
    """The second types into a line that the first merges into the one before: the text stays on the page."""
    await second.page.reload()
    await second.saved()
    await second.type_into(12, "Typed into a line that goes.")
    await first.page.focus(first.cell(12))
    await first.page.keyboard.press("Enter")
    await first.page.keyboard.press("Home")
    await first.page.keyboard.press("Control+Backspace")
    await first.session.until("studio.model.rows.length === 13")
    await second.session.wait_for(".lost .mine")
    kept = await second.page.inner_text(".lost .mine")
    return int(kept != "Typed into a line that goes." or len(await stage.texts(video)) != 13)
