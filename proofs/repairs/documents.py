"""The documentation agrees with the code, and the demo shows that it is alive on a busy machine."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO

import httpx
from rich.console import Console

from dev.child_process import start_child
from dev.demo_progress import LINE_SECONDS, DemoProgress
from dev.demo_walkthrough import Step, Walkthrough
from dev.docs.blocks import stale
from dev.docs.references import find_problems
from dev.environment import PROJECT
from proofs.repairs.stage import RepairsStage, Rows

BUSY_PROCESSES = 8
EXAMPLE = PROJECT / "examples" / "launch.mp4"
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
    """The whole demo in the long form, one of its jobs in the short form, beside busy processes."""
    output = StringIO()
    progress = DemoProgress(Console(file=output, width=200, soft_wrap=True))
    with _busy_processes(), httpx.Client(base_url=stage.client.base_url, headers=stage.client.headers) as client:
        client.timeout = httpx.Timeout(300)
        walkthrough = Walkthrough(client, progress, output_dir=stage.folder / "demo")
        if stage.short:
            body = {"languages": ["ca"]}
            job = (await stage.client.post(f"/v1/videos/{stage.talk}/captions", json=body)).json()["jobs"][0]
            await asyncio.to_thread(walkthrough.wait, [Step("captions", job["id"])])
        else:
            await asyncio.to_thread(walkthrough.run, EXAMPLE)
    lines = output.getvalue().splitlines()
    times = [_seconds(line) for line in lines if _is_timed(line)]
    silence = max((after - before for before, after in zip([0, *times], times, strict=False)), default=0)
    rows.check(
        19,
        f"the demo ends beside {BUSY_PROCESSES} busy processes; its longest silence",
        expected=f"every job ready, <= {MAX_SILENCE_SECONDS:.0f} s",
        measured=f"{sum(bool(step.job) for step in walkthrough.steps)} of {len(walkthrough.steps)}, {silence} s",
        holds=all(step.job for step in walkthrough.steps) and bool(times) and silence <= MAX_SILENCE_SECONDS,
    )


@contextmanager
def _busy_processes() -> Iterator[Sequence["subprocess.Popen[bytes]"]]:
    command = [sys.executable, "-c", "while True: pass"]
    processes = [start_child(command, environment={}, output=subprocess.DEVNULL) for _ in range(BUSY_PROCESSES)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _is_timed(line: str) -> bool:
    return line.lstrip().partition(" ")[0].replace(":", "").isdigit()


def _seconds(line: str) -> int:
    minutes, _, seconds = line.split(maxsplit=1)[0].partition(":")
    return 60 * int(minutes) + int(seconds)
