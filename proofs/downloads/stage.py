"""A video for A/V sync measurement, dubs in chosen states, and an API client for downloads."""

import asyncio
import hashlib
import json
import subprocess
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx

from cutroom.media.dubbing import write_track
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from tests.support.disposition import plain_name
from tests.support.stage import Stage

VIDEO_SECONDS = 70  # longer than a sample
SPOKEN, DUBBED = "en", "pt"
WAIT_SECONDS = 1800.0  # for five gigabytes on a loaded machine
ENDED = frozenset({"ready", "failed"})
MIB = 1024 * 1024


def make_sync_video(path: Path) -> Path:
    """A video with a white flash and a beep at each second, with B-frames at 29.97 frames per second."""
    flash = (
        f"color=c=0x404040:s=320x180:r=30000/1001:d={VIDEO_SECONDS},drawbox=c=white:t=fill:enable='lt(mod(t,1),0.1)'"
    )
    beep = f"sine=f=1000:r=48000:d={VIDEO_SECONDS},volume='if(lt(mod(t,1),0.1),1,0)':eval=frame"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", flash, "-f", "lavfi", "-i", beep]
    command += ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-c:a", "aac", str(path)]
    subprocess.run(command, check=True)
    return path


@dataclass(frozen=True)
class DownloadsClient:
    """An API client that requests and fetches downloads."""

    stage: Stage
    client: httpx.AsyncClient
    storage: Storage

    async def request(self, video_id: str, **body: str) -> httpx.Response:
        return await self.client.post(f"/v1/videos/{video_id}/downloads", json=body)

    async def wait_for_download(self, request_id: str) -> httpx.Response:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.stage.worker.keep_running()
            response = await self.client.get(f"/v1/downloads/{request_id}")
            if response.json()["status"] in ENDED or time.monotonic() > deadline:
                return response
            await asyncio.sleep(0.2)

    async def fetch(self, url: str, to: Path) -> tuple[Path, str]:
        """Download the file; returns its path and its Content-Disposition name for clients that know ASCII only."""
        async with httpx.AsyncClient(timeout=600) as browser, browser.stream("GET", url) as response:
            response.raise_for_status()
            with to.open("wb") as file:
                async for chunk in response.aiter_bytes(MIB):
                    file.write(chunk)
            return to, plain_name(response.headers["content-disposition"])

    async def set_plan(self, plan: str, *, suspended: bool = False) -> None:
        await self.stage.accounts.connection.execute(
            "UPDATE libraries SET plan = $2, suspended_at = CASE WHEN $3 THEN now() END WHERE id = $1",
            self.stage.person.library_id,
            plan,
            suspended,
        )

    async def set_dub(self, video_id: str, *, status: str, completion: str, path: str | None = None) -> str:
        """Replace a video's dub with one in the given state."""
        connection, now = self.stage.accounts.connection, system_clock()
        base = {"library_id": self.stage.person.library_id, "video_id": video_id}
        base |= {"language": DUBBED, "product": "plus"}
        job_id = f"dub_{video_id}_{DUBBED}_plus"
        await connection.execute("DELETE FROM jobs WHERE id = $1", job_id)
        await connection.execute("DELETE FROM dubs WHERE video_id = $1", video_id)
        job: dict[str, Any] = {**base, "id": job_id, "type": "dub", "status": status, "attempt": 1, "plan": {}}
        job |= {"depends_on": [], "progress": 0, "created_at": now, "updated_at": now}
        job |= {"finished_at": now} if status in ENDED else {}
        job |= {"error_code": "INTERNAL", "error_message": "no"} if status == "failed" else {}
        job |= {"result": {"engines": ["firefox", "kokoro"]}} if status == "ready" else {}
        await insert(connection, "jobs", job)
        dub: dict[str, Any] = {**base, "completion": completion, "segments": [], "speakers": [], "edits": {}}
        await insert(connection, "dubs", {**dub, "sync": {}, "audio_path": path, "updated_at": now})
        return job_id

    async def put_dub_track(self, video_id: str, video: Path, folder: Path) -> str:
        """Store the video's own audio as a dub track."""
        flac = folder / "beeps.flac"
        command = ["ffmpeg", "-v", "error", "-y", "-i", str(video), "-map", "0:a:0", "-c:a", "flac", str(flac)]
        await asyncio.to_thread(subprocess.run, command, check=True)
        track = await write_track(flac, gain_db=0, peak=0.8, language=DUBBED, output=folder, sandbox=Sandbox())
        path = f"libraries/{self.stage.person.library_id}/videos/{video_id}/dubs/proof.m4a"
        await self.storage.put(path, track)
        return path

    async def put_large_video(self, size_bytes: int) -> str:
        """Create a video whose source has the given size and arbitrary content."""
        video_id, now = new_id(), system_clock()
        library_id = self.stage.person.library_id
        path = f"libraries/{library_id}/videos/{video_id}/source"
        block = hashlib.sha256(video_id.encode()).digest() * (MIB // 32)

        async def blocks() -> AsyncIterator[bytes]:
            for _ in range(size_bytes // MIB):
                yield block

        await self.storage.put(path, blocks(), expected_bytes=size_bytes)
        connection, base = self.stage.accounts.connection, {"library_id": library_id, "created_at": now}
        video = {**base, "id": video_id, "status": "ready", "import_status": "ready", "title": "large.mp4"}
        await insert(connection, "videos", {**video, "media_type": "video", "duration_seconds": 60.0})
        source = {"video_id": video_id, "type": "upload", "storage_path": path, "size_bytes": size_bytes}
        await insert(connection, "sources", {**base, **source})
        return video_id


def probe_streams(path: Path) -> list[dict[str, Any]]:
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_streams", str(path)]
    output = subprocess.run(command, capture_output=True, check=True).stdout
    streams: list[dict[str, Any]] = json.loads(output)["streams"]
    return streams


def offset_ms(path: Path, track: int) -> float:
    """The largest distance between a beep and its nearest flash."""
    command = ["ffmpeg", "-v", "info", "-i", str(path), "-map", f"0:a:{track}", "-af"]
    command += ["silencedetect=noise=-30dB:d=0.3", "-f", "null", "-"]
    output = subprocess.run(command, capture_output=True, check=True, text=True).stderr
    beeps = [float(line.split("silence_end: ")[1].split()[0]) for line in output.splitlines() if "silence_end" in line]
    command = ["ffprobe", "-v", "error", "-f", "lavfi", "-of", "json", "-show_entries"]
    command += ["frame=pts_time:frame_tags=lavfi.signalstats.YAVG", f"movie={path},signalstats"]
    frames = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["frames"]
    levels = [(float(each["pts_time"]), float(each["tags"]["lavfi.signalstats.YAVG"])) for each in frames]
    flashes = [at for (_, before), (at, level) in pairwise(levels) if level - before > 50]
    within = [at for at in beeps if 0.5 < at < levels[-1][0] - 0.5]
    return 1000 * max(min(abs(at - one) for one in flashes) for at in within) if len(within) > 50 else 1e9
