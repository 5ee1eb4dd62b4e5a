"""CPU time of one vertical short compared with one bare ffmpeg command that produces the same file.

The product's side is all CPU time of the worker and its subprocesses from request to ready: moment selection, visual
analysis, planning, loudness and encoding. The bare command is given the cut, the filters, the captions and the gain.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from rich.console import Console
from rich.table import Table

from bench.cpu_meter import SETTLE_SECONDS, metered_worker
from cutroom.media.framing import framing_filter
from dev.services import control
from tests.support.dub_stage import fund
from tests.support.shorts_stage import RenderedOutput, upload_and_transcribe
from tests.support.shorts_video import make_video
from tests.support.stage import open_stage

GOAL = 1.35


async def measure(seconds: float) -> tuple[tuple[float, float], tuple[float, float], RenderedOutput]:
    """CPU and wall time of the job and of the bare command, and the short."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = await asyncio.to_thread(make_video, folder, long=True)
        async with open_stage("bench_shorts", folder / "stage") as stage:
            await fund(stage)
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
                user = await upload_and_transcribe(stage, client, video.path)
                async with metered_worker(stage) as worker:
                    await user.wait(
                        await user.create_shorts(numClips=1, maxDuration=20)
                    )  # loads engines and caches files
                    await asyncio.sleep(SETTLE_SECONDS)
                    before, started = worker.cpu_seconds(), time.monotonic()
                    options = await user.create_shorts(
                        numClips=1, minDuration=seconds - 3, maxDuration=seconds + 3, captionStyle="karaoke"
                    )
                    request = (await user.wait(options)).json()
                    wall = time.monotonic() - started
                    ours = worker.cpu_seconds() - before
                (made,) = await user.download_outputs(request, folder / "made")
            bare = await asyncio.to_thread(_bare, video.path, made, folder)
    return (ours, wall), bare, made


def _bare(video: Path, made: RenderedOutput, folder: Path) -> tuple[float, float]:
    (folder / "captions.ass").write_text(made.plan["captions"])
    ((start, length),) = made.ranges
    framed = framing_filter(made.crop, width=1080, height=1920)
    command = ["ffmpeg", "-v", "error", "-y", "-ss", f"{start:.6f}", "-t", f"{length:.6f}", "-i", str(video)]
    command += ["-filter_complex", f"{framed};[framed]ass=captions.ass[shown]", "-map", "[shown]", "-map", "0:a:0"]
    command += ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-profile:v", "high", "-threads", "2"]
    command += ["-af", "volume=3dB", "-c:a", "aac", "-b:a", "160k", "-movflags", "+faststart", "bare.mp4"]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="length of the short")
    seconds = parser.parse_args().seconds
    control.start_all()
    (ours, wall), (bare, bare_wall), made = asyncio.run(measure(seconds))
    ratio = round(ours / bare, 2)
    table = Table("", "CPU, s", "wall, s", title=f"One short of {made.seconds:.1f} s")
    table.add_row("job", f"{ours:.1f}", f"{wall:.1f}")
    table.add_row("one bare ffmpeg command", f"{bare:.1f}", f"{bare_wall:.1f}")
    table.add_row("ratio", f"{ratio} (goal {GOAL})", f"{wall / bare_wall:.2f}")
    Console().print(table)
    print(json.dumps({"ratio": ratio, "wall_ratio": round(wall / bare_wall, 2), "ok": ratio <= GOAL}))
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
