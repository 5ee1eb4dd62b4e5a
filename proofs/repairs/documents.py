"""The documentation agrees with the code, and the demo shows that it is alive on a busy machine."""

import asyncio
from io import StringIO

import httpx
from rich.console import Console

from dev.demo_progress import LINE_SECONDS, DemoProgress
from dev.demo_walkthrough import Step, Walkthrough
from dev.docs.blocks import stale
from dev.docs.references import find_problems
from proofs.repairs.stage import RepairsStage, Rows
from proofs.stage.busy_processes import busy_processes

BUSY_PROCESSES = 8
MAX_SILENCE_SECONDS = 6 * LINE_SECONDS  # a line is due every LINE_SECONDS; a request may take long when all is busy


async def check(stage: RepairsStage, rows: Rows) -> None:
    problems = await asyncio.to_thread(find_problems)
    for problem in problems:
        rows.report.note(problem)
    measured = f"{len(problems)} wrong references"
    rows.check(18, "settings, commands and operations in the docs", expected="0", measured=measured, holds=not problems)
    pages = [path.name for path, _ in stale()]
    rows.check(18, "pages with stale tables or examples", expected="none", measured=pages or "none", holds=not pages)
    await _check_demo(stage, rows)


async def _check_demo(stage: RepairsStage, rows: Rows) -> None:
    """One job of the demo beside busy processes; the quick start proof runs the whole demo."""
    output = StringIO()
    progress = DemoProgress(Console(file=output, width=200, soft_wrap=True))
    with (
        busy_processes(BUSY_PROCESSES),
        httpx.Client(base_url=stage.client.base_url, headers=stage.client.headers) as client,
    ):
        client.timeout = httpx.Timeout(300)
        walkthrough = Walkthrough(client, progress, output_dir=stage.folder / "demo")
        body = {"languages": ["ca"]}
        job = (await stage.client.post(f"/v1/videos/{stage.talk}/captions", json=body)).json()["jobs"][0]
        await asyncio.to_thread(walkthrough.wait, [Step("captions", job["id"])])
    lines = output.getvalue().splitlines()
    times = [_seconds(line) for line in lines if _is_timed(line)]
    silence = max((after - before for before, after in zip([0, *times], times, strict=False)), default=0)
    rows.check(
        19,
        f"a job of the demo ends beside {BUSY_PROCESSES} busy processes; its longest silence",
        expected=f"every job ready, <= {MAX_SILENCE_SECONDS:.0f} s",
        measured=f"{sum(bool(step.job) for step in walkthrough.steps)} of {len(walkthrough.steps)}, {silence} s",
        holds=all(step.job for step in walkthrough.steps) and bool(times) and silence <= MAX_SILENCE_SECONDS,
    )


def _is_timed(line: str) -> bool:
    return line.lstrip().partition(" ")[0].replace(":", "").isdigit()


def _seconds(line: str) -> int:
    minutes, _, seconds = line.split(maxsplit=1)[0].partition(":")
    return 60 * int(minutes) + int(seconds)
