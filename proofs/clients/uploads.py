"""Kills a client with SIGKILL while it uploads, and lets another process continue."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from proofs.clients.drivers import Kind, driver
from proofs.clients.fault_proxy import FaultProxy
from proofs.contract.stage import OWNER, Stage

CHUNK_BYTES = 1024 * 1024
BYTES_PER_SECOND = 24e6
KILL_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class KilledUploads:
    """Uploads that were killed and continued."""

    kills: int
    size: int
    sent: int
    videos: int  # that exist, one for each upload
    stored: int  # uploads whose import was queued, which happens once every byte has been verified

    @property
    def resent_share(self) -> float:
        return (self.sent - self.size) / self.size


async def kill_uploads(
    stage: Stage, kind: Kind, proxy: FaultProxy, folder: Path, *, files: int, megabytes: int, kills: int
) -> KilledUploads:
    """Each file is uploaded once, by as many processes as there are kills, and one."""
    key = stage.callers[OWNER].headers["Authorization"].split()[1]
    proxy.upload_bytes_per_second = BYTES_PER_SECOND
    sent = done = stored = 0
    for number in range(files):
        file = folder / f"{kind.name}-killed-{number}.mp4"
        file.write_bytes(os.urandom(megabytes * 1024 * 1024))
        size = file.stat().st_size
        proxy.uploaded = 0
        for kill in range(kills):
            done += await _killed(kind, proxy, key, folder, file, until=(kill + 1) * size // (kills + 1))
        async with driver(kind, proxy.port, key, folder / "state") as client:
            response = await client.ask({"upload": str(file), "chunkBytes": CHUNK_BYTES})
        sent += proxy.uploaded
        stored += response["ok"] and await _received(stage, response["result"]["videoId"])
    videos = await stage.accounts.connection.fetchval(
        "SELECT count(*) FROM videos WHERE title LIKE $1", f"{kind.name}-killed-%"
    )
    return KilledUploads(done, files * megabytes * 1024 * 1024, sent, videos, stored)


async def _killed(kind: Kind, proxy: FaultProxy, key: str, folder: Path, file: Path, *, until: int) -> bool:
    """Starts an upload, and kills its process once so many bytes of the file have passed."""
    async with driver(kind, proxy.port, key, folder / "state") as client:
        upload = asyncio.ensure_future(client.ask({"upload": str(file), "chunkBytes": CHUNK_BYTES}))
        async with asyncio.timeout(KILL_SECONDS):
            while proxy.uploaded < until and not upload.done():
                proxy.uploading.clear()
                waiting = asyncio.ensure_future(proxy.uploading.wait())
                await asyncio.wait([waiting, upload], return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
        killed = not upload.done()
        client.process.kill()
        await asyncio.gather(upload, return_exceptions=True)
    return killed


async def _received(stage: Stage, video_id: str) -> bool:
    """Whether the service holds the file: it then refuses another upload session."""
    response = await stage.call("POST /videos/{videoId}/uploads", {"fileName": "video.mp4"}, ids={"videoId": video_id})
    return response.code == "CONFLICT"
