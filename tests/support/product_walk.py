"""Requests every product in turn as an API client, for recorded examples and benchmarks."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from temporalio.client import Client

from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from dev.fixtures.speech_clips import clips_folder, ensure_clips
from tests.support.dub_stage import fund
from tests.support.servers.mux_server import mux_server
from tests.support.stage import TERMINAL, Stage, open_stage

WAIT_SECONDS = 3600.0
POLL_SECONDS = 0.5
QUEUES = ",".join(TaskQueue)
LANGUAGE = "pt-BR"
TEXT = "The last tram leaves at ten past ten, and nobody who lives on the hill likes to walk home in the rain. "
NO_KEY = {"Authorization": ""}  # signed URLs need no key


@dataclass
class ProductWalk:
    """An API client that requests one product after another for one video."""

    stage: Stage
    client: httpx.AsyncClient
    poller: httpx.AsyncClient  # polls for status; its requests are not recorded
    video: Path
    video_id: str = ""
    polls: int = 0
    notes: dict[str, float] = field(default_factory=dict)  # sizes reported by a step

    async def get(self, path: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401 (of httpx)
        response_body: dict[str, Any] = (await self.client.get(path, **options)).raise_for_status().json()
        return response_body

    async def post(self, path: str, body: dict[str, Any], **options: Any) -> dict[str, Any]:  # noqa: ANN401 (of httpx)
        response = await self.client.post(path, json=body, **options)
        if response.is_error:
            raise RuntimeError(f"{path}: {response.status_code} {response.text}")
        created: dict[str, Any] = response.json()
        return created

    async def until(self, path: str, *, field_name: str = "status", ends: frozenset[str] | None = None) -> None:
        """Poll until the status is final."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.stage.worker.keep_running()
            response = await self.poller.get(path)
            self.polls += 1
            state = response.json()[field_name]
            if state in (ends or TERMINAL):
                break
            if time.monotonic() > deadline:
                raise RuntimeError(f"{path} is {state}\n{self.stage.worker.read_log()[-3000:]}")
            await asyncio.sleep(POLL_SECONDS)
        if state == "failed":
            raise RuntimeError(f"{path} failed: {response.text}\n{self.stage.worker.read_log()[-3000:]}")


async def ingest(walk: ProductWalk) -> None:
    body = {"source": {"type": "upload", "fileName": "video.mp4", "contentType": "video/mp4"}}
    created = await walk.post("/v1/videos", body, headers={"Idempotency-Key": "video-1"})
    walk.video_id = created["videoId"]
    session = await walk.post(f"/v1/videos/{walk.video_id}/uploads", {"fileName": "video.mp4"})
    begun = await walk.client.post(session["url"], headers={**NO_KEY, "x-goog-resumable": "start"})
    data = walk.video.read_bytes()
    sent = await walk.client.put(begun.raise_for_status().headers["location"], content=data, headers=NO_KEY)
    sent.raise_for_status()
    await walk.until(f"/v1/jobs/import_{walk.video_id}")
    await walk.get(f"/v1/jobs/import_{walk.video_id}")
    video = await walk.get(f"/v1/videos/{walk.video_id}")
    walk.notes["minutes"] = video["duration"] / 60


async def transcripts(walk: ProductWalk) -> None:
    await walk.until(f"/v1/jobs/transcript_{walk.video_id}")
    await walk.get(f"/v1/videos/{walk.video_id}/transcript")


async def subtitles(walk: ProductWalk) -> None:
    await walk.get(f"/v1/videos/{walk.video_id}/subtitles/en", params={"format": "vtt"})


async def quotes(walk: ProductWalk) -> None:
    body = {"captionLanguageCodes": [LANGUAGE], "dubs": [{"languages": [LANGUAGE], "product": "plus"}]}
    await walk.post(f"/v1/videos/{walk.video_id}/quote", body)


async def captions(walk: ProductWalk) -> None:
    created = await walk.post(f"/v1/videos/{walk.video_id}/captions", {"languages": [LANGUAGE]})
    job_id = created["jobs"][0]["id"]
    await walk.until(f"/v1/jobs/{job_id}")
    await walk.get(f"/v1/jobs/{job_id}")
    await walk.get(f"/v1/videos/{walk.video_id}/subtitles/{LANGUAGE}")


async def dubs(walk: ProductWalk) -> None:
    await walk.post(f"/v1/videos/{walk.video_id}/dubs", {"languages": [LANGUAGE], "product": "plus"})
    path = f"/v1/videos/{walk.video_id}/dubs/{LANGUAGE}"
    await walk.until(f"{path}?product=plus")
    await walk.get(path, params={"product": "plus"})


async def shorts(walk: ProductWalk) -> None:
    await _outputs(walk, {"kind": "shorts", "numClips": 2, "minDuration": 15, "maxDuration": 30})


async def promos(walk: ProductWalk) -> None:
    await _outputs(walk, {"kind": "promo", "aspectRatio": "9:16", "includeSoundtrack": True})


async def _outputs(walk: ProductWalk, body: dict[str, Any]) -> None:
    created = await walk.post(f"/v1/videos/{walk.video_id}/shorts", body)
    await walk.until(f"/v1/jobs/{created['jobId']}")
    request = await walk.get(f"/v1/shorts/{created['shortsRequestId']}")
    walk.notes["outputs"] = len(request["outputs"])


async def thumbnails(walk: ProductWalk) -> None:
    created = await walk.post(f"/v1/videos/{walk.video_id}/thumbnails", {"mode": "zero_prompt"})
    await walk.until(f"/v1/jobs/{created['jobId']}")
    await walk.get(f"/v1/thumbnails/{created['thumbnailRequestId']}")


async def packaging(walk: ProductWalk) -> None:
    options = {
        "generateTitle": {"enabled": True, "titleType": "informational", "overwriteMode": "always"},
        "generateDescription": {"enabled": True, "descriptionType": "youtube-description"},
    }
    created = await walk.post(f"/v1/videos/{walk.video_id}/packaging", {"automationOptions": options})
    for job in created["jobs"]:
        await walk.until(f"/v1/jobs/{job['id']}")
    await walk.get(f"/v1/videos/{walk.video_id}/packaging")


async def playback(walk: ProductWalk) -> None:
    """Start the workflow directly, because the import ran with playback off."""
    client: Client = await connect(walk.stage.settings)
    argument = {"library_id": walk.stage.person.library_id, "video_id": walk.video_id}
    handle = await client.start_workflow("playback", argument, id=f"walk_{walk.video_id}", task_queue="control")
    await asyncio.wait_for(handle.result(), timeout=WAIT_SECONDS)
    await walk.get(f"/v1/videos/{walk.video_id}")


async def downloads(walk: ProductWalk) -> None:
    """A video in the dub's language, which is remuxed without re-encoding."""
    await _download(walk, {"artifact": "language_video", "language": LANGUAGE})


async def bundles(walk: ProductWalk) -> None:
    await _download(walk, {"artifact": "bundle"})


async def _download(walk: ProductWalk, body: dict[str, str]) -> None:
    created = await walk.post(f"/v1/videos/{walk.video_id}/downloads", body)
    await walk.until(f"/v1/downloads/{created['downloadRequestId']}")
    await walk.get(f"/v1/downloads/{created['downloadRequestId']}")


async def voices(walk: ProductWalk) -> None:
    sample = ensure_clips(clips_folder()) / "two_cities.wav"
    files = {"files": ("reader.wav", sample.read_bytes(), "audio/wav")}
    response = await walk.client.post("/v1/voices/add", data={"name": "Reader"}, files=files)
    voice_id = response.raise_for_status().json()["voice_id"]
    await walk.until(f"/v1/voices/{voice_id}")
    await walk.get(f"/v1/voices/{voice_id}")


async def speech(walk: ProductWalk) -> None:
    response_body = (await walk.get("/v2/voices", params={"page_size": 1, "search": "Heart"}))["voices"]
    if not response_body:
        response_body = (await walk.get("/v2/voices", params={"page_size": 1}))["voices"]
    path = f"/v1/text-to-speech/{response_body[0]['voice_id']}"
    body = {"text": TEXT * 8, "language_code": "en"}
    params = {"output_format": "pcm_24000"}
    audio = (await walk.client.post(path, json=body, params=params)).raise_for_status()
    walk.notes["minutes"] = len(audio.content) / (24_000 * 2 * 60)


async def hosting(walk: ProductWalk) -> None:
    path = f"/v1/videos/{walk.video_id}/professional-hosting"
    await walk.post(path, {})
    await walk.until(path, ends=frozenset({"inactive", "ready"}))
    await walk.get(path)


Step = Callable[[ProductWalk], Awaitable[None]]
STEPS: Sequence[Step] = (
    ingest,
    transcripts,
    subtitles,
    quotes,
    captions,
    dubs,
    playback,
    shorts,
    thumbnails,
    packaging,
    downloads,
    speech,
    hosting,
    bundles,
    voices,
    promos,
)

ALL_QUEUES = {"CUTROOM_WORKER_QUEUES": QUEUES, "CUTROOM_PLAYBACK": "off"}
# Steps that need other worker settings, so that products that start by themselves are measured alone.
WORKER_SETTINGS: Mapping[Step, Mapping[str, str]] = {
    ingest: {"CUTROOM_WORKER_QUEUES": "control,media,egress,download"},  # no engines, so that its transcript waits
    playback: {"CUTROOM_WORKER_QUEUES": "control,media", "CUTROOM_PLAYBACK": "on"},
}


@asynccontextmanager
async def open_walk(name: str, video: Path, folder: Path) -> AsyncIterator[ProductWalk]:
    """Open a stage whose hosting provider is a local fake Mux server."""
    async with mux_server() as mux:
        changes: dict[str, Any] = {
            **mux.settings,
            "sandbox": "off",  # bubblewrap hides CPU time of its children from the kernel's accounting
        }
        async with open_stage(name, folder, **changes) as stage:
            await fund(stage)
            who: dict[str, Any] = {"base_url": stage.api.url, "headers": stage.key.headers, "timeout": 900}
            async with httpx.AsyncClient(**who) as client, httpx.AsyncClient(**who) as poller:
                yield ProductWalk(stage, client, poller, video)


def configure_worker(walk: ProductWalk, step: Step) -> bool:
    """Restart the worker with the settings that a step needs; returns whether it was restarted."""
    settings = WORKER_SETTINGS.get(step, {})
    environment = walk.stage.worker.environment
    if {name: environment.get(name) for name in ALL_QUEUES} == {**ALL_QUEUES, **settings}:
        return False
    walk.stage.worker.stop()
    environment.update({**ALL_QUEUES, **settings})
    walk.stage.worker.start()
    return True
