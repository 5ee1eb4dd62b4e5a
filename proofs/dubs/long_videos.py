"""Long videos: the preview is available early, and memory does not grow with duration."""

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

from cutroom.engines.registry import Engines
from proofs.stage.report import Report
from tests.support.dialogue_video import make_dialogue_video
from tests.support.dub_stage import FinishedDub, dub, fund, upload_and_transcribe
from tests.support.stage import Stage, open_stage

PREVIEW_VIDEO_SECONDS = 600.0
MAX_PREVIEW_SHARE = 0.4
SHORT_SECONDS, LONG_SECONDS = 300.0, 3600.0
SPARSE_PAUSES = (15.0, 25.0)  # memory depends on the duration, and the time of the proof on the number of lines
MAX_MEMORY_RATIO = 1.3
WATCH_SECONDS = 0.3


async def prove_preview(
    report: Report, stage: Stage, finished: FinishedDub | None, folder: Path, engines: Engines
) -> None:
    """On a ten-minute video; the short form uses the given dub."""
    if finished is None:
        video = await asyncio.to_thread(
            lambda: make_dialogue_video(
                folder, engines.synthesizer(), seconds=PREVIEW_VIDEO_SECONDS, name="ten", is_varied=True
            )
        )
        video_id = await upload_and_transcribe(stage, video.path)
        (finished,) = await dub(stage, video_id, ["pt"])
        share = (finished.preview_seconds or finished.seconds) / finished.seconds
        measured = f"{share:.2f} ({finished.preview_seconds or 0:.0f} of {finished.seconds:.0f} s)"
        claim = "the preview of a ten-minute video is available, as share of the job's time"
        report.claim(claim, expected="< 0.4", measured=measured, holds=share < MAX_PREVIEW_SHARE)
    else:
        share = (finished.preview_seconds or finished.seconds) / finished.seconds
        claim = "the preview is available before the dub is ready"
        report.claim(claim, expected="before", measured=f"{share:.2f}", holds=finished.preview_seconds is not None)
    report.figures(preview_share=round(share, 3))


async def prove_memory(report: Report, folder: Path) -> None:
    peaks = {}
    for name, seconds in (("brief", SHORT_SECONDS), ("long", LONG_SECONDS)):
        async with open_stage(f"proof_dubs_{name}", folder / name) as stage:
            await fund(stage)
            engines = Engines(stage.settings)
            synthesizer = await asyncio.to_thread(engines.synthesizer)
            video = await asyncio.to_thread(
                partial(
                    make_dialogue_video,
                    folder,
                    synthesizer,
                    seconds=seconds,
                    name=name,
                    pause_seconds=SPARSE_PAUSES,
                )
            )
            video_id = await upload_and_transcribe(stage, video.path)
            peaks[name] = await _peak(stage, video_id)
    ratio = round(peaks["long"] / peaks["brief"], 2)
    measured = f"{ratio} ({peaks['long'] / 1e6:.0f} / {peaks['brief'] / 1e6:.0f} MB)"
    claim = "peak memory of the worker and its subprocesses, an hour relative to five minutes"
    report.claim(claim, expected="<= 1.3", measured=measured, holds=ratio <= MAX_MEMORY_RATIO)
    report.figures(memory_ratio=ratio, memory_mb=round(peaks["long"] / 1e6))


async def _peak(stage: Stage, video_id: str) -> int:
    """Peak memory during the dub, with a restarted worker to exclude transcription."""
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
        await dub(stage, video_id, ["pt"])
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    return peak
