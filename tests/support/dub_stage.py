"""Client-side helpers for dub proofs: upload a video, request dubs, and download the tracks."""

import asyncio
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np

from cutroom.accounts.plans import load_plans
from cutroom.accounts.principals import Principal, Role
from cutroom.accounts.scopes import ALL_SCOPES
from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from tests.support.stage import Stage, upload, wait_for_voices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    AudioSamples = NDArray[np.float32]

MILLICREDITS = 5_000_000
WAIT_SECONDS = 3600.0
POLL_SECONDS = 0.3
ENDED = frozenset({"ready", "failed"})


@dataclass(frozen=True, slots=True)
class FinishedDub:
    """A finished dub as seen by a client, with the source transcript."""

    video_id: str
    language: str
    dub: dict[str, Any]
    job: dict[str, Any]
    source: list[dict[str, Any]]  # transcript segments
    track: bytes
    preview_seconds: float | None  # from the request until the preview was playable
    seconds: float  # from the request until it was ready

    @property
    def segments(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.dub["segments"]
        return found

    @property
    def sync(self) -> dict[str, Any]:
        found: dict[str, Any] = self.job["result"]["sync"]
        return found


async def fund(stage: Stage) -> None:
    library_id = stage.person.library_id
    await ledger.grant(
        stage.accounts.connection, library_id, millicredits=MILLICREDITS, reference="proof", now=system_clock()
    )
    await wait_for_voices(stage)


def api_client(stage: Stage) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300)


async def upload_and_transcribe(stage: Stage, path: Path) -> str:
    """Upload a video and wait for its transcript."""
    async with api_client(stage) as client:
        video_id = await upload(client, path)
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            status = (await client.get(f"/v1/videos/{video_id}/transcript")).json()["status"]
            if status in ENDED:
                break
            await asyncio.sleep(POLL_SECONDS)
    return video_id


async def dub(
    stage: Stage,
    video_id: str,
    languages: Sequence[str],
    *,
    while_waiting: Callable[[], None] | None = None,
    product: str = "plus",
) -> list[FinishedDub]:
    """Request dubs in all languages, and wait for them."""
    async with api_client(stage) as client:
        started = time.monotonic()
        body = {"languages": list(languages), "product": product}
        response = await client.post(f"/v1/videos/{video_id}/dubs", json=body)
        response.raise_for_status()
        source = (await client.get(f"/v1/videos/{video_id}/transcript")).json()["segments"]
        paths = [f"/v1/videos/{video_id}/dubs/{each}?product={product}" for each in languages]
        waiting = [_wait(stage, client, path, started, while_waiting=while_waiting) for path in paths]
        found = await asyncio.gather(*waiting)
        return [
            FinishedDub(video_id, language, made, job, source, track, preview, seconds)
            for language, (made, job, track, preview, seconds) in zip(languages, found, strict=True)
        ]


async def _wait(
    stage: Stage,
    client: httpx.AsyncClient,
    path: str,
    started: float,
    *,
    while_waiting: Callable[[], None] | None,
) -> tuple[dict[str, Any], dict[str, Any], bytes, float | None, float]:
    preview: float | None = None
    while True:
        made: dict[str, Any] = (await client.get(path)).json()
        if preview is None and made["completionStatus"] == "preview_ready" and made["audioUrl"]:
            download = await client.get(made["audioUrl"], headers={"Authorization": ""})
            if download.status_code == 200 and duration_seconds_of(download.content) > 30:
                preview = time.monotonic() - started
        if made["status"] in ENDED or time.monotonic() - started > WAIT_SECONDS:
            break
        if while_waiting is not None:
            while_waiting()
        await asyncio.sleep(POLL_SECONDS)
    job: dict[str, Any] = (await client.get(f"/v1/jobs/{made['jobId']}")).json()
    if made["status"] != "ready":
        raise RuntimeError(f"the dub is {made['status']}: {job}\n{stage.worker.read_log()[-3000:]}")
    track = (await client.get(made["audioUrl"], headers={"Authorization": ""})).content
    return made, job, track, preview, time.monotonic() - started


def owner_principal(stage: Stage) -> Principal:
    """The owner's principal, for calls to internal services."""
    return Principal(
        id=stage.key.id,
        user_id=stage.person.user_id,
        library_id=stage.person.library_id,
        workspace_id=None,
        role=Role.OWNER,
        plan=load_plans(stage.settings.plans_file)["business"],
        suspended=False,
        scopes=frozenset(ALL_SCOPES),
    )


async def edit_dub_line(stage: Stage, video_id: str, *, language: str, line: int, text: str) -> str:
    """Edit the line at a position, regenerate the dub, and return the id of the job."""
    path = f"/v1/videos/{video_id}/dubs/{language}"
    async with api_client(stage) as client:
        read = (await client.get(f"{path}/segments")).raise_for_status().json()
        change = {"id": read["segments"][line]["id"], "text": text}
        patch = {"revision": read["revision"], "changes": [change]}
        edited = (await client.patch(f"{path}/segments", json=patch)).raise_for_status().json()
        started = await client.post(f"{path}/regenerate", json={"revision": edited["revision"]})
        job_id: str = started.raise_for_status().json()["job"]["id"]
    return job_id


def duration_seconds_of(data: bytes) -> float:
    return float(decode_samples(data, rate=8_000, channels=1).shape[-1] / 8_000)


def decode_samples(data: bytes | Path, *, rate: int, channels: int) -> "AudioSamples":
    """Decode with ffmpeg; one row per channel."""
    source = str(data) if isinstance(data, Path) else "pipe:0"
    command = ["ffmpeg", "-v", "error", "-i", source, "-map", "0:a:0", "-ac", str(channels), "-ar", str(rate)]
    stdin = None if isinstance(data, Path) else data
    done = subprocess.run([*command, "-f", "f32le", "pipe:1"], input=stdin, capture_output=True, check=True)
    return np.frombuffer(done.stdout, "<f4").reshape(-1, channels).T.copy()
