"""Long videos: the preview is available early, and memory does not grow with duration."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress

import psutil

from proofs.stage.report import Report
from tests.support.dialogue_video import DialogueVideo
from tests.support.dub_stage import FinishedDub, dub, upload_and_transcribe
from tests.support.stage import Stage

MAX_PREVIEW_SHARE = 0.4
MAX_MEMORY_RATIO = 1.3
WATCH_SECONDS = 0.3


async def prove_early_preview(report: Report, finished: FinishedDub) -> None:
    """For the short form: the preview of a dub of little more than a minute."""
    share = (finished.preview_seconds or finished.seconds) / finished.seconds
    claim = "the preview is available before the dub is ready"
    report.claim(claim, expected="before", measured=f"{share:.2f}", holds=finished.preview_seconds is not None)
    report.figures(preview_share=round(share, 3))


async def prove_long_videos(
    report: Report, stage: Stage, ten_minutes: Awaitable[DialogueVideo], hour: Awaitable[DialogueVideo]
) -> None:
    """Dub ten minutes, for the preview, and an hour, for the memory."""
    with report.timed("ten minutes"):
        video = await ten_minutes
        finished, ten_minutes_peak = await _dub(stage, await upload_and_transcribe(stage, video.path))
    share = (finished.preview_seconds or finished.seconds) / finished.seconds
    measured = f"{share:.2f} ({finished.preview_seconds or 0:.0f} of {finished.seconds:.0f} s)"
    claim = "the preview of a ten-minute video is available, as share of the job's time"
    report.claim(claim, expected="< 0.4", measured=measured, holds=share < MAX_PREVIEW_SHARE)
    report.figures(preview_share=round(share, 3))

    with report.timed("hour"):
        video = await hour
        _, hour_peak = await _dub(stage, await upload_and_transcribe(stage, video.path))
    ratio = round(hour_peak / ten_minutes_peak, 2)
    measured = f"{ratio} ({hour_peak / 1e6:.0f} / {ten_minutes_peak / 1e6:.0f} MB)"
    claim = "peak memory of the worker and its subprocesses, an hour relative to ten minutes"
    report.claim(claim, expected="<= 1.3", measured=measured, holds=ratio <= MAX_MEMORY_RATIO)
    report.figures(memory_ratio=ratio, memory_mb=round(hour_peak / 1e6))


async def _dub(stage: Stage, video_id: str) -> tuple[FinishedDub, int]:
    """The dub and the peak memory while it was made, with a restarted worker to exclude transcription."""
    stage.worker.stop()
    stage.worker.start()
    process = psutil.Process(stage.worker.pid)
    peak = 0

    async def watch() -> None:
        nonlocal peak
        while True:
            now = 0
            for each in (process, *process.children(recursive=True)):
                with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                    now += each.memory_full_info().pss
            peak = max(peak, now)
            await asyncio.sleep(WATCH_SECONDS)

    watching = asyncio.create_task(watch())
    try:
        [finished] = await dub(stage, video_id, ["pt"])
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    return finished, peak
