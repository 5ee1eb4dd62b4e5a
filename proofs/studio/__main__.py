"""The studio in a real browser: by keyboard, by mouse, by two people at once, and with a transcript of three hours."""

import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from rich.markup import escape

from dev.environment import PROJECT
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from proofs.studio import review, steps
from proofs.studio.stage import Editor, StudioStage, open_studio_stage
from proofs.studio.two_people import edit_at_once
from proofs.studio.typing import measure_keystrokes, p95
from tests.support.studio.videos import StudioVideo

SEGMENTS = 64  # of the video that is edited: more than the page has without scripts
SHARED_SEGMENTS = 14  # of the video that two people edit
LONG_SEGMENTS, SHORT_SEGMENTS = 3_000, 200  # three hours, and 12 minutes
LONG_KEYS, SHORT_KEYS = 400, 60
MAX_KEYSTROKE_MS = 50.0

EditorStep = Callable[[StudioStage, Editor, StudioVideo], Awaitable[None]]
EDITOR_STEPS: tuple[tuple[str, EditorStep], ...] = (
    ("edit a line and move to others by keyboard", steps.edit_by_keyboard),
    ("split, merge, undo and redo", steps.split_and_merge),
    ("write a line of the dub, and find what to review", steps.translate_by_keyboard),
    ("play a line and its dub", steps.play_lines),
    ("edit, delete, restore and rename by mouse", steps.edit_by_mouse),
    ("lose the connection while saving", steps.lose_the_connection),
    ("regenerate at the price on the button", steps.regenerate),
    ("write captions", steps.caption_by_keyboard),
    ("share a link, and see what a guest corrects and comments", review.review_by_link),
    ("see the page on a laptop and a phone", steps.visit_on_a_phone),
)


class StudioSteps:
    """Runs steps; a step that fails is reported, and the others follow."""

    def __init__(self, report: Report, stage: StudioStage) -> None:
        self._report, self._stage = report, stage
        self.outcomes: list[bool] = []

    async def take(self, name: str, step: Awaitable[None], editor: Editor | None = None) -> None:
        started = time.monotonic()
        try:
            await step
            outcome = "done"
        except Exception as error:  # noqa: BLE001 (reported as a failed step)
            outcome = f"FAILED ({error!r:.600})"
            if editor is not None:
                await editor.page.screenshot(path=self._stage.screenshots / "studio-failed.png")
        self.outcomes.append(outcome == "done")
        self._report.note(escape(f"{outcome} in {time.monotonic() - started:.1f} s: {name}"))


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    screenshots = PROJECT / ".data" / "console-screenshots"
    screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with open_studio_stage(Path(folder), screenshots=screenshots, short=short) as stage:
            await _prove(report, stage, short=short)


async def _prove(report: Report, stage: StudioStage, *, short: bool) -> None:
    video = await stage.video(segments=SEGMENTS)
    taken = StudioSteps(report, stage)
    await taken.take("read without scripts", steps.read_without_scripts(stage, video))
    await taken.take("weigh the page", steps.weigh_the_page(stage, video))
    editor = await stage.editor()
    await editor.open(video, "pt")
    for name, step in EDITOR_STEPS:
        await taken.take(name, step(stage, editor, video), editor)
    with report.timed("two people"):
        lost = await edit_at_once(stage, await stage.video(segments=SHARED_SEGMENTS))
    with report.timed("typing in a long transcript"):
        keystrokes = await _type(stage, short=short)
    _report(report, stage, taken, lost=lost, keystroke_ms=p95(keystrokes))


async def _type(stage: StudioStage, *, short: bool) -> list[float]:
    """In the middle of a long transcript with a dub beside it."""
    segments, keys = (SHORT_SEGMENTS, SHORT_KEYS) if short else (LONG_SEGMENTS, LONG_KEYS)
    video, editor = await stage.video(segments=segments), await stage.editor()
    await editor.open(video, "pt")
    return await measure_keystrokes(editor, line=segments // 2, keys=keys)


# What the browser logs about requests that were aborted, and about conflicts: the page handles both.
_EXPECTED = ("net::ERR_FAILED", "409 (Conflict)")


def _report(report: Report, stage: StudioStage, taken: StudioSteps, *, lost: int, keystroke_ms: float) -> None:
    found, ok = stage.findings, sum(taken.outcomes)
    errors = [each for each in found.console_errors if not any(known in each for known in _EXPECTED)]
    report.claim("steps", expected=str(len(taken.outcomes)), measured=ok, holds=ok == len(taken.outcomes))
    for claim, violations in {
        "serious accessibility violations (axe)": found.axe_serious,
        "errors in the browser's console": errors,
        "pages with invalid HTML": found.bad_html,
        "pages that scroll sideways": found.sideways,
    }.items():
        report.claim(claim, expected="0", measured=len(violations), holds=not violations)
        for each in violations:
            report.note(escape(each))
    report.claim("texts of two people that were neither saved nor offered", expected="0", measured=lost, holds=not lost)
    report.claim_time(
        "from a key to the frame that shows it (p95)",
        expected=f"at most {MAX_KEYSTROKE_MS:.0f} ms",
        measured=f"{keystroke_ms:.0f} ms",
        holds=keystroke_ms <= MAX_KEYSTROKE_MS,
    )
    report.figures(
        steps=len(taken.outcomes),
        steps_ok=ok,
        axe_serious=len(found.axe_serious),
        console_errors=len(errors),
        bad_html=len(found.bad_html),
        horizontal_scroll=len(found.sideways),
        lost_edits=lost,
        keystroke_p95_ms=round(keystroke_ms, 1),
        page_bytes=stage.page_bytes,
    )


if __name__ == "__main__":
    sys.exit(prove("Studio", proof, needs=Needs(programs=("ffmpeg", "chromium"))))
