"""The first minute can be heard early, and an hour takes the memory of minutes."""

import asyncio
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

from cutroom.engines.registry import Engines
from proofs.stage.report import Report
from tests.support.dialogue_video import make_film
from tests.support.dub_stage import Dubbed, dub, fund, send
from tests.support.stage import Stage, open_stage

PREVIEW_FILM_SECONDS = 600.0
MAX_PREVIEW_SHARE = 0.4
BRIEF_SECONDS, LONG_SECONDS = 300.0, 3600.0
MAX_MEMORY_RATIO = 1.3
WATCH_SECONDS = 0.3


async def prove_preview(report: Report, stage: Stage, dubbed: Dubbed | None, folder: Path, engines: Engines) -> None:
    """On a film of ten minutes; the short form takes the film that is there, of which the preview is most."""
    if dubbed is None:
        film = await asyncio.to_thread(
            lambda: make_film(folder, engines.speaker(), seconds=PREVIEW_FILM_SECONDS, name="ten", is_varied=True)
        )
        video_id = await send(stage, film.path)
        (dubbed,) = await dub(stage, video_id, ["pt"])
        share = (dubbed.preview_seconds or dubbed.seconds) / dubbed.seconds
        measured = f"{share:.2f} ({dubbed.preview_seconds or 0:.0f} of {dubbed.seconds:.0f} s)"
        claim = "the first minute of ten can be heard, share of the job's time"
        report.claim(claim, wanted="< 0.4", measured=measured, holds=share < MAX_PREVIEW_SHARE)
    else:
        share = (dubbed.preview_seconds or dubbed.seconds) / dubbed.seconds
        claim = "the first minute can be heard before the rest is there"
        report.claim(claim, wanted="before", measured=f"{share:.2f}", holds=dubbed.preview_seconds is not None)
    report.figures(preview_share=round(share, 3))


async def prove_memory(report: Report, folder: Path) -> None:
    peaks = {}
    for name, seconds in (("brief", BRIEF_SECONDS), ("long", LONG_SECONDS)):
        async with open_stage(f"proof_dubs_{name}", folder / name) as stage:
            await fund(stage)
            engines = Engines(stage.settings)
            speaker = await asyncio.to_thread(engines.speaker)
            film = await asyncio.to_thread(partial(make_film, folder, speaker, seconds=seconds, name=name))
            video_id = await send(stage, film.path)
            peaks[name] = await _peak(stage, video_id)
    ratio = round(peaks["long"] / peaks["brief"], 2)
    measured = f"{ratio} ({peaks['long'] / 1e6:.0f} / {peaks['brief'] / 1e6:.0f} MB)"
    claim = "peak memory of the worker and its programs, an hour beside five minutes"
    report.claim(claim, wanted="<= 1.3", measured=measured, holds=ratio <= MAX_MEMORY_RATIO)
    report.figures(memory_ratio=ratio, memory_mb=round(peaks["long"] / 1e6))


async def _peak(stage: Stage, video_id: str) -> int:
    """While the dub is made; the worker starts afresh, so that the transcript does not count."""
    stage.worker.stop()
    stage.worker.start()
    process = psutil.Process(stage.worker.pid)
    held = 0

    async def watch() -> None:
        nonlocal held
        while True:
            now = 0
            for each in (process, *process.children(recursive=True)):
                with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                    now += each.memory_full_info().pss
            held = max(held, now)
            await asyncio.sleep(WATCH_SECONDS)

    watching = asyncio.create_task(watch())
    try:
        await dub(stage, video_id, ["pt"])
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    return held
