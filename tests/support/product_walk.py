"""One request after another for every product, as a caller makes them; documents and measurements stand on it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from temporalio.client import Client

from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from dev.fixtures.speech_clips import clips_folder, ensure_clips
from tests.support.dub_stage import fund
from tests.support.mux_server import mux_server
from tests.support.stage import TERMINAL, Stage, open_stage

WAIT_SECONDS = 3600.0
POLL_SECONDS = 0.5
QUEUES = str(Settings.model_fields["worker_queues"].default)
LANGUAGE = "pt-BR"
TEXT = "The last tram leaves at ten past ten, and nobody who lives on the hill likes to walk home in the rain. "
SILENT = {"Authorization": ""}  # signed URLs need no key


@dataclass
class Walk:
    """Somebody who goes from product to product with one film."""

    stage: Stage
    client: httpx.AsyncClient
    poller: httpx.AsyncClient  # asks how far something is; nobody writes down what it is told
    film: Path
    video_id: str = ""
    polls: int = 0
    notes: dict[str, float] = field(default_factory=dict)  # what a step tells of its own size

    async def get(self, path: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401 (of httpx)
        found: dict[str, Any] = (await self.client.get(path, **options)).raise_for_status().json()
        return found

    async def post(self, path: str, body: dict[str, Any], **options: Any) -> dict[str, Any]:  # noqa: ANN401 (of httpx)
        answer = await self.client.post(path, json=body, **options)
        if answer.is_error:
            raise RuntimeError(f"{path}: {answer.status_code} {answer.text}")
        made: dict[str, Any] = answer.json()
        return made

    async def until(self, path: str, *, field_name: str = "status", ends: frozenset[str] | None = None) -> None:
        """Ask again and again until the state is an end."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.stage.worker.keep_running()
            answer = await self.poller.get(path)
            self.polls += 1
            state = answer.json()[field_name]
            if state in (ends or TERMINAL):
                break
            if time.monotonic() > deadline:
                raise RuntimeError(f"{path} is {state}\n{self.stage.worker.read_log()[-3000:]}")
            await asyncio.sleep(POLL_SECONDS)
        if state == "failed":
            raise RuntimeError(f"{path} failed: {answer.text}\n{self.stage.worker.read_log()[-3000:]}")


async def ingest(walk: Walk) -> None:
    wanted = {"source": {"type": "upload", "fileName": "film.mp4", "contentType": "video/mp4"}}
    made = await walk.post("/v1/videos", wanted, headers={"Idempotency-Key": "film-1"})
    walk.video_id = made["videoId"]
    session = await walk.post(f"/v1/videos/{walk.video_id}/uploads", {"fileName": "film.mp4"})
    begun = await walk.client.post(session["url"], headers={**SILENT, "x-goog-resumable": "start"})
    data = walk.film.read_bytes()
    sent = await walk.client.put(begun.raise_for_status().headers["location"], content=data, headers=SILENT)
    sent.raise_for_status()
    await walk.until(f"/v1/jobs/import_{walk.video_id}")
    await walk.get(f"/v1/jobs/import_{walk.video_id}")
    video = await walk.get(f"/v1/videos/{walk.video_id}")
    walk.notes["minutes"] = video["duration"] / 60


async def transcripts(walk: Walk) -> None:
    await walk.until(f"/v1/jobs/transcript_{walk.video_id}")
    await walk.get(f"/v1/videos/{walk.video_id}/transcript")


async def subtitles(walk: Walk) -> None:
    await walk.get(f"/v1/videos/{walk.video_id}/subtitles/en", params={"format": "vtt"})


async def quotes(walk: Walk) -> None:
    wanted = {"captionLanguageCodes": [LANGUAGE], "dubs": [{"languages": [LANGUAGE], "product": "plus"}]}
    await walk.post(f"/v1/videos/{walk.video_id}/quote", wanted)


async def captions(walk: Walk) -> None:
    asked = await walk.post(f"/v1/videos/{walk.video_id}/captions", {"languages": [LANGUAGE]})
    job_id = asked["jobs"][0]["id"]
    await walk.until(f"/v1/jobs/{job_id}")
    await walk.get(f"/v1/jobs/{job_id}")
    await walk.get(f"/v1/videos/{walk.video_id}/subtitles/{LANGUAGE}")


async def dubs(walk: Walk) -> None:
    await walk.post(f"/v1/videos/{walk.video_id}/dubs", {"languages": [LANGUAGE], "product": "plus"})
    path = f"/v1/videos/{walk.video_id}/dubs/{LANGUAGE}"
    await walk.until(f"{path}?product=plus")
    await walk.get(path, params={"product": "plus"})


async def shorts(walk: Walk) -> None:
    await _outputs(walk, {"kind": "shorts", "numClips": 2, "minDuration": 15, "maxDuration": 30})


async def promos(walk: Walk) -> None:
    await _outputs(walk, {"kind": "promo", "aspectRatio": "9:16", "includeSoundtrack": True})


async def _outputs(walk: Walk, wanted: dict[str, Any]) -> None:
    asked = await walk.post(f"/v1/videos/{walk.video_id}/shorts", wanted)
    await walk.until(f"/v1/jobs/{asked['jobId']}")
    request = await walk.get(f"/v1/shorts/{asked['shortsRequestId']}")
    walk.notes["outputs"] = len(request["outputs"])


async def thumbnails(walk: Walk) -> None:
    asked = await walk.post(f"/v1/videos/{walk.video_id}/thumbnails", {"mode": "zero_prompt"})
    await walk.until(f"/v1/jobs/{asked['jobId']}")
    await walk.get(f"/v1/thumbnails/{asked['thumbnailRequestId']}")


async def packaging(walk: Walk) -> None:
    options = {
        "generateTitle": {"enabled": True, "titleType": "informational", "overwriteMode": "always"},
        "generateDescription": {"enabled": True, "descriptionType": "youtube-description"},
    }
    asked = await walk.post(f"/v1/videos/{walk.video_id}/packaging", {"automationOptions": options})
    for job in asked["jobs"]:
        await walk.until(f"/v1/jobs/{job['id']}")
    await walk.get(f"/v1/videos/{walk.video_id}/packaging")


async def playback(walk: Walk) -> None:
    """Started by hand, because the import was made without it."""
    client: Client = await connect(walk.stage.settings)
    argument = {"library_id": walk.stage.person.library_id, "video_id": walk.video_id}
    handle = await client.start_workflow("playback", argument, id=f"walk_{walk.video_id}", task_queue="control")
    await asyncio.wait_for(handle.result(), timeout=WAIT_SECONDS)
    await walk.get(f"/v1/videos/{walk.video_id}")


async def downloads(walk: Walk) -> None:
    """A video in the language of the dub, where nothing has to be encoded again."""
    await _download(walk, {"artifact": "language_video", "language": LANGUAGE})


async def bundles(walk: Walk) -> None:
    await _download(walk, {"artifact": "bundle"})


async def _download(walk: Walk, wanted: dict[str, str]) -> None:
    asked = await walk.post(f"/v1/videos/{walk.video_id}/downloads", wanted)
    await walk.until(f"/v1/downloads/{asked['downloadRequestId']}")
    await walk.get(f"/v1/downloads/{asked['downloadRequestId']}")


async def voices(walk: Walk) -> None:
    sample = ensure_clips(clips_folder()) / "two_cities.wav"
    files = {"files": ("reader.wav", sample.read_bytes(), "audio/wav")}
    answer = await walk.client.post("/v1/voices/add", data={"name": "Reader"}, files=files)
    voice_id = answer.raise_for_status().json()["voice_id"]
    await walk.until(f"/v1/voices/{voice_id}")
    await walk.get(f"/v1/voices/{voice_id}")


async def speech(walk: Walk) -> None:
    found = (await walk.get("/v2/voices", params={"page_size": 1, "search": "Heart"}))["voices"]
    if not found:
        found = (await walk.get("/v2/voices", params={"page_size": 1}))["voices"]
    path = f"/v1/text-to-speech/{found[0]['voice_id']}"
    wanted = {"text": TEXT * 8, "language_code": "en"}
    params = {"output_format": "pcm_24000"}
    sound = (await walk.client.post(path, json=wanted, params=params)).raise_for_status()
    walk.notes["minutes"] = len(sound.content) / (24_000 * 2 * 60)


async def hosting(walk: Walk) -> None:
    path = f"/v1/videos/{walk.video_id}/professional-hosting"
    await walk.post(path, {})
    await walk.until(path, ends=frozenset({"inactive", "ready"}))
    await walk.get(path)


Step = Callable[[Walk], Awaitable[None]]
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

EVERYTHING = {"CUTROOM_WORKER_QUEUES": QUEUES, "CUTROOM_PLAYBACK": "off"}
# Each product is to be met alone, and two others begin by themselves.
NEEDS: Mapping[Step, Mapping[str, str]] = {
    ingest: {"CUTROOM_WORKER_QUEUES": "control,media,egress,download"},  # its transcript waits for engines
    playback: {"CUTROOM_WORKER_QUEUES": "control,media", "CUTROOM_PLAYBACK": "on"},
}


@asynccontextmanager
async def open_walk(name: str, film: Path, folder: Path) -> AsyncIterator[Walk]:
    """A stage whose host of videos is a local server that speaks Mux's protocol."""
    async with mux_server() as mux:
        changes: dict[str, Any] = {
            **mux.settings,
            "sandbox": "off",  # bubblewrap hides from the kernel's books what runs inside it
        }
        async with open_stage(name, folder, **changes) as stage:
            await fund(stage)
            who: dict[str, Any] = {"base_url": stage.api.url, "headers": stage.key.headers, "timeout": 900}
            async with httpx.AsyncClient(**who) as client, httpx.AsyncClient(**who) as poller:
                yield Walk(stage, client, poller, film)


def prepare(walk: Walk, step: Step) -> bool:
    """Give the step the worker that it needs; whether that is another one than before."""
    wanted = NEEDS.get(step, {})
    known = walk.stage.worker.environment
    if {name: known.get(name) for name in EVERYTHING} == {**EVERYTHING, **wanted}:
        return False
    walk.stage.worker.stop()
    known.update({**EVERYTHING, **wanted})
    walk.stage.worker.start()
    return True
