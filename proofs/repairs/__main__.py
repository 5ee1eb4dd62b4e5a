"""Promises that a careful caller checks: money, validation, states, progress, downloads, and what a person sees."""

import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from proofs.repairs import (
    console_pages,
    documents,
    downloads,
    interactive_speech,
    money,
    progress,
    requests,
    telemetry,
    validation,
)
from proofs.repairs.stage import RepairsStage, Rows, open_repairs_stage
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs

NEEDS = Needs(model_set="ci", programs=("ffmpeg", "apertium", "espeak-ng", "chromium"))
PROMISES = range(1, 24)
TOPICS: tuple[Callable[[RepairsStage, Rows], Awaitable[None]], ...] = (
    progress.check,
    money.check,
    downloads.check,
    requests.check,
    validation.check,
    telemetry.check,
    documents.check,
    console_pages.check,
)
SPEECH_DURING_DUB = 20  # the short form leaves this promise to the proof `speech-under-load`


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    rows = Rows(report)
    with TemporaryDirectory() as name:
        async with open_repairs_stage(Path(name), short=short) as stage:
            # Speech during a dub goes last: its dub is still running at the end.
            for check in TOPICS if short else (*TOPICS, interactive_speech.check):
                started = time.monotonic()
                await check(stage, rows)
                report.note(f"{check.__module__}: {time.monotonic() - started:.0f} s")
    expected = [number for number in PROMISES if not short or number != SPEECH_DURING_DUB]
    unchecked = [number for number in expected if not rows.counts[number]]
    report.claim("promises without a check", expected="none", measured=unchecked or "none", holds=not unchecked)
    report.figures(rows=rows.total, failed=rows.failed)


if __name__ == "__main__":
    sys.exit(prove("Repairs", proof, needs=NEEDS))
