"""CPU time of the playback workflow compared with one bare ffmpeg command and one packager run.

The product's side is all CPU time of the worker and its subprocesses from the start of the workflow until the video
has its URL: download, chunk encoding, joining, segments and playlists. The bare commands encode the whole file with the
same settings, package all tracks in one run, and store nothing.
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

from bench.cpu_meter import metered_worker
from cutroom.media.ladder import SEGMENT_SECONDS, plan_ladder
from cutroom.media.packager import find_packager
from cutroom.media.probe import probe
from cutroom.media.sandbox import Sandbox
from cutroom.platform.temporal import connect
from dev.services import control
from tests.support.stage import Stage, make_video, open_stage, upload, wait_for_imports

GOAL = 1.15


async def measure(seconds: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """CPU and wall time of the workflow and of the bare commands."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = await asyncio.to_thread(make_video, folder / "video.mp4", seconds, size="1280x720")
        async with open_stage("bench_packaging", folder / "stage") as stage:
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
                video_id = await upload(client, video)
                await wait_for_imports(stage, [video_id], seconds=900)
            ours = await _ours(stage, video_id)
        return ours, await _bare(video, folder)


async def _ours(stage: Stage, video_id: str) -> tuple[float, float]:
    """Measure with a worker that does nothing else."""
    variables = {"CUTROOM_PLAYBACK": "on", "CUTROOM_WORKER_QUEUES": "control,media"}
    async with metered_worker(stage, variables) as worker:
        client = await connect(stage.settings)
        before, started = worker.cpu_seconds(), time.monotonic()
        argument = {"library_id": stage.person.library_id, "video_id": video_id}
        handle = await client.start_workflow("playback", argument, id=f"bench_{video_id}", task_queue="control")
        await asyncio.wait_for(handle.result(), timeout=1800)
        return worker.cpu_seconds() - before, time.monotonic() - started


async def _bare(video: Path, folder: Path) -> tuple[float, float]:
    renditions = plan_ladder(await probe(video, sandbox=Sandbox()))
    chain, filters = "[0:v]null", []
    for rendition, smaller in zip(renditions, [*renditions[1:], None], strict=True):
        filters.append(
            f"{chain}[{rendition.name}]" if smaller is None else f"{chain},split=2[{rendition.name}][x{rendition.name}]"
        )
        chain = (
            f"[x{rendition.name}]scale={smaller.width}:{smaller.height}:flags=bicubic" if smaller is not None else ""
        )
    encode = ["ffmpeg", "-v", "error", "-y", "-i", str(video), "-filter_complex", ";".join(filters)]
    for rendition in renditions:
        encode += [
            "-map",
            f"[{rendition.name}]",
            "-c:v",
            "libx264",
            "-preset",
            "veryfast",
            "-crf",
            "23",
            "-threads",
            "2",
        ]
        encode += [
            "-maxrate",
            f"{rendition.max_kbps}k",
            "-bufsize",
            f"{2 * rendition.max_kbps}k",
            "-g",
            "50",
            "-keyint_min",
            "50",
        ]
        encode += ["-sc_threshold", "0", f"bare-{rendition.name}.mp4"]
    encode += ["-map", "0:a", "-c:a", "aac", "-b:a", "160k", "bare.m4a"]
    package = [str(find_packager(None))]
    for kind, name in [*(("video", f"bare-{rendition.name}.mp4") for rendition in renditions), ("audio", "bare.m4a")]:
        package.append(f"in={name},stream={kind},init_segment={name}.d/init.mp4,segment_template={name}.d/$Number$.m4s")
    package += ["--segment_duration", str(SEGMENT_SECONDS), "--hls_master_playlist_output", "bare.m3u8"]
    package += ["--mpd_output", "bare.mpd", "--generate_static_live_mpd"]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    for command in (encode, package):
        await asyncio.to_thread(subprocess.run, command, check=True, cwd=folder, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=120, help="video duration in seconds, whole minutes")
    seconds = parser.parse_args().seconds
    control.start_all()
    (ours, wall), (bare, bare_wall) = asyncio.run(measure(seconds))
    ratio = round(ours / bare, 2)
    table = Table("", "CPU, s", "wall, s", title=f"Encoding ladder of a 720p video of {seconds} s")
    table.add_row("workflow", f"{ours:.1f}", f"{wall:.1f}")
    table.add_row("bare ffmpeg and packager", f"{bare:.1f}", f"{bare_wall:.1f}")
    table.add_row("ratio", f"{ratio} (goal {GOAL})", f"{wall / bare_wall:.2f}")
    Console().print(table)
    print(json.dumps({"ratio": ratio, "wall_ratio": round(wall / bare_wall, 2), "ok": ratio <= GOAL}))
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
