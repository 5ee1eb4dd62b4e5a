"""Importing a long file needs no more memory than importing a short one."""

import asyncio
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil

from proofs.stage.report import Report
from tests.support.stage import Stage, make_video, open_stage, upload, wait_for_imports

GOAL = 1.2


async def prove_memory(report: Report, *, short_seconds: int, long_seconds: int) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        peaks = {}
        for seconds in (short_seconds, long_seconds):
            video = make_video(folder / f"{seconds}.mp4", seconds, size="320x180", rate=10)
            async with open_stage(f"proof_memory_{seconds}", folder / str(seconds)) as stage:
                peaks[seconds] = await _peak_mb(stage, video)
    ratio = round(peaks[long_seconds] / peaks[short_seconds], 2)
    claim = f"peak memory of the worker and its subprocesses, {long_seconds} s relative to {short_seconds} s"
    measured = f"{ratio} ({peaks[long_seconds]:.0f} / {peaks[short_seconds]:.0f} MB)"
    report.claim(claim, expected=f"<= {GOAL}", measured=measured, holds=ratio <= GOAL)
    report.figures(memory_ratio=ratio, memory_mb=round(peaks[long_seconds]))


async def _peak_mb(stage: Stage, video: Path) -> float:
    """Peak memory of the worker and its children during the import."""
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
        video_id = await upload(client, video)
    watching = asyncio.create_task(_watch(stage.worker.pid))
    found = await wait_for_imports(stage, [video_id], seconds=1800)
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    if found != {video_id: "ready"}:
        raise RuntimeError(f"the import failed: {found}\n{stage.worker.read_log()[-3000:]}")
    return PEAKS.pop(stage.worker.pid) / 1e6


PEAKS: dict[int, float] = {}


async def _watch(pid: int) -> None:
    worker = psutil.Process(pid)
    while True:
        held = 0
        for process in (worker, *worker.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                # PSS counts shared pages once; RSS would count all pages of a newly forked child twice.
                held += process.memory_full_info().pss
        PEAKS[pid] = max(PEAKS.get(pid, 0), held)
        await asyncio.sleep(0.1)
