"""What the proofs of dubs stand on: somebody who uploads a film, has it dubbed, and takes the sound home."""

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
from cutroom.credits.pricing import load_prices
from cutroom.jobs.ids import DubProduct
from cutroom.platform.clock import system_clock
from cutroom.products.dubs.service import LineChange, change_line
from tests.support.speech_client import wait_for_voices
from tests.support.stage import Stage, upload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Sound = NDArray[np.float32]

MILLICREDITS = 5_000_000
WAIT_SECONDS = 3600.0
POLL_SECONDS = 0.3
ENDED = frozenset({"ready", "failed"})


@dataclass(frozen=True, slots=True)
class Dubbed:
    """A dub as its user has it, with what was said in the source."""

    video_id: str
    language: str
    dub: dict[str, Any]
    job: dict[str, Any]
    source: list[dict[str, Any]]  # segments of the transcript
    track: bytes
    preview_seconds: float | None  # from asking until the first minute could be heard
    seconds: float  # until it was ready

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


def caller(stage: Stage) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300)


async def send(stage: Stage, path: Path) -> str:
    """Upload, and wait for the transcript."""
    async with caller(stage) as client:
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
    meanwhile: Callable[[], None] | None = None,
    product: str = "plus",
) -> list[Dubbed]:
    """Ask for all languages at once, and wait for each."""
    async with caller(stage) as client:
        started = time.monotonic()
        body = {"languages": list(languages), "product": product}
        asked = await client.post(f"/v1/videos/{video_id}/dubs", json=body)
        asked.raise_for_status()
        source = (await client.get(f"/v1/videos/{video_id}/transcript")).json()["segments"]
        paths = [f"/v1/videos/{video_id}/dubs/{each}?product={product}" for each in languages]
        waiting = [_wait(stage, client, path, started, meanwhile=meanwhile) for path in paths]
        found = await asyncio.gather(*waiting)
        return [
            Dubbed(video_id, language, made, job, source, track, preview, seconds)
            for language, (made, job, track, preview, seconds) in zip(languages, found, strict=True)
        ]


async def _wait(
    stage: Stage,
    client: httpx.AsyncClient,
    path: str,
    started: float,
    *,
    meanwhile: Callable[[], None] | None,
) -> tuple[dict[str, Any], dict[str, Any], bytes, float | None, float]:
    preview: float | None = None
    while True:
        made: dict[str, Any] = (await client.get(path)).json()
        if preview is None and made["completionStatus"] == "preview_ready" and made["audioUrl"]:
            heard = await client.get(made["audioUrl"], headers={"Authorization": ""})
            if heard.status_code == 200 and seconds_of(heard.content) > 30:
                preview = time.monotonic() - started
        if made["status"] in ENDED or time.monotonic() - started > WAIT_SECONDS:
            break
        if meanwhile is not None:
            meanwhile()
        await asyncio.sleep(POLL_SECONDS)
    job: dict[str, Any] = (await client.get(f"/v1/jobs/{made['jobId']}")).json()
    if made["status"] != "ready":
        raise RuntimeError(f"the dub is {made['status']}: {job}\n{stage.worker.read_log()[-3000:]}")
    track = (await client.get(made["audioUrl"], headers={"Authorization": ""})).content
    return made, job, track, preview, time.monotonic() - started


def owner_of(stage: Stage) -> Principal:
    """The person as the API knows them, for calls that are on no wire."""
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


async def change_a_line(stage: Stage, video_id: str, *, language: str, line: int, text: str) -> str:
    """By the internal call: nothing on the wire does it yet. The id of the work that it begins."""
    change = LineChange(video_id, language, DubProduct.PLUS, line, text)
    connection = stage.accounts.connection
    async with connection.transaction():
        return await change_line(connection, owner_of(stage), change, prices=load_prices(None), now=system_clock())


def seconds_of(data: bytes) -> float:
    return float(samples_of(data, rate=8_000, channels=1).shape[-1] / 8_000)


def samples_of(data: bytes | Path, *, rate: int, channels: int) -> "Sound":
    """Decoded by ffmpeg: a row for each channel."""
    source = str(data) if isinstance(data, Path) else "pipe:0"
    command = ["ffmpeg", "-v", "error", "-i", source, "-map", "0:a:0", "-ac", str(channels), "-ar", str(rate)]
    given = None if isinstance(data, Path) else data
    done = subprocess.run([*command, "-f", "f32le", "pipe:1"], input=given, capture_output=True, check=True)
    return np.frombuffer(done.stdout, "<f4").reshape(-1, channels).T.copy()
