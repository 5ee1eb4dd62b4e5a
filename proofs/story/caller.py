"""Somebody who asks for everything there is, and goes on asking while parts of the service are away."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from cutroom.platform.ids import new_id
from proofs.ingest.upload_kills import Client as Uploader

PATIENCE_SECONDS = 240.0
POLL_SECONDS = 0.7
PAUSE_SECONDS = 0.4
AGAIN = frozenset({500, 502, 503, 504})
ENDED = frozenset({"ready", "failed"})
LANGUAGES = ("pt-BR", "es")
RECIPES: dict[str, Any] = {
    "dubs": [{"languages": list(LANGUAGES)}],
    "shorts": {"kind": "shorts", "numClips": 1, "captionStyle": "karaoke"},
    "packaging": {
        "title": {"style": "informational"},
        "description": {"type": "youtube-description"},
        "thumbnail": True,
    },
}


class GaveUpError(Exception):
    """The service did not come back in time, or refused what it should take."""


@dataclass
class Caller:
    """Sends every request until it is answered, a POST always under one key."""

    client: httpx.AsyncClient
    retried: int = 0

    async def get(self, path: str) -> dict[str, Any]:
        return (await self._send("GET", path)).json()  # type: ignore[no-any-return]  # JSON

    async def post(self, path: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        return (await self._send("POST", path, body=body)).json()  # type: ignore[no-any-return]  # JSON

    async def fetch(self, url: str) -> bytes:
        """A signed URL, without our key."""
        return (await self._send("GET", url, headers={"Authorization": ""})).content

    async def _send(
        self, method: str, path: str, *, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        given = {**({"Idempotency-Key": new_id()} if method == "POST" else {}), **(headers or {})}
        deadline, told = time.monotonic() + PATIENCE_SECONDS, ""
        while time.monotonic() < deadline:
            try:
                answer = await self.client.request(method, path, json=body, headers=given)
            except httpx.TransportError as error:
                told = repr(error)
            else:
                if answer.is_success:
                    return answer
                told = f"{answer.status_code} {answer.text[:300]}"
                if not (answer.status_code in AGAIN or "retry-after" in answer.headers):
                    break
            self.retried += 1
            await asyncio.sleep(PAUSE_SECONDS)
        raise GaveUpError(f"{method} {path}: {told}")

    async def upload(self, film: Path) -> str:
        """With recipes for all that a recipe can say."""
        source = {"type": "upload", "fileName": film.name}
        made = await self.post("/v1/videos", source=source, products=RECIPES)
        video_id: str = made["videoId"]
        session = await self.post(f"/v1/videos/{video_id}/uploads", fileName=film.name)
        start = {"Authorization": "", "x-goog-resumable": "start"}
        started = await self._send("POST", session["url"], headers=start)
        uploader = Uploader(started.headers["location"], film, random.Random(1))
        await uploader.run()
        if not uploader.finished:
            raise GaveUpError("the upload has not ended")
        return video_id


@dataclass
class Asked:
    """A film that was sent in, and everything that was asked for on it."""

    video_id: str
    jobs: dict[str, str]  # what a person calls it, to the job's id
    shorts: dict[str, str] = field(default_factory=dict)  # kind to request
    thumbnail_id: str = ""
    downloads: dict[str, str] = field(default_factory=dict)  # artifact to request
    refused: list[str] = field(default_factory=list)  # what should have been taken, and was not

    @property
    def path(self) -> str:
        return f"/v1/videos/{self.video_id}"


async def ask_for_everything(caller: Caller, film: Path) -> Asked:
    """What needs nothing but the video at once, then what needs its source, then what needs a dub."""
    video_id = await caller.upload(film)
    listed = (await caller.get(f"/v1/videos/{video_id}/jobs"))["jobs"]
    asked = Asked(video_id, {_called(job): job["id"] for job in listed})
    asked.shorts["shorts"] = asked.jobs["shorts"].removeprefix("shorts_")
    captions = await caller.post(f"{asked.path}/captions", languages=list(LANGUAGES))
    asked.jobs |= {_called(job): job["id"] for job in captions["jobs"]}
    for kind in ("promo", "clips"):
        made = await caller.post(f"{asked.path}/shorts", kind=kind)
        asked.jobs[kind], asked.shorts[kind] = made["jobId"], made["shortsRequestId"]
    prompted = await caller.post(f"{asked.path}/thumbnails", prompt='The rocket with the words "Lift off"')
    asked.jobs["thumbnail by a prompt"], asked.thumbnail_id = prompted["jobId"], prompted["thumbnailRequestId"]
    await _download(caller, asked, "source")
    await ended(caller, [asked.jobs["import"]])
    await caller.post(f"{asked.path}/professional-hosting")
    dubs = [asked.jobs[f"dub {language}"] for language in LANGUAGES]
    await ended(caller, dubs)
    await _download(caller, asked, "language_video", language=LANGUAGES[0])
    await _download(caller, asked, "bundle")
    return asked


async def _download(caller: Caller, asked: Asked, artifact: str, **more: str) -> None:
    try:
        made = await caller.post(f"{asked.path}/downloads", artifact=artifact, **more)
    except GaveUpError as error:  # of a dub that failed: the story goes on without
        asked.refused.append(f"download {artifact}: {error}")
        return
    asked.jobs[f"download {artifact}"], asked.downloads[artifact] = made["jobId"], made["downloadRequestId"]


def _called(job: dict[str, Any]) -> str:
    more = job.get("language") or job.get("automationType")
    return f"{job['type']} {more}" if more else str(job["type"])


async def ended(caller: Caller, job_ids: list[str], *, seconds: float = 1800.0) -> dict[str, dict[str, Any]]:
    """Each job as it stands at its end, or when the time is over."""
    deadline = time.monotonic() + seconds
    found: dict[str, dict[str, Any]] = {}
    while True:
        for job_id in job_ids:
            if found.get(job_id, {}).get("status") not in ENDED:
                found[job_id] = await caller.get(f"/v1/jobs/{job_id}")
        if all(job["status"] in ENDED for job in found.values()) or time.monotonic() > deadline:
            return found
        await asyncio.sleep(POLL_SECONDS)


async def hosted(caller: Caller, asked: Asked, *, seconds: float = 300.0) -> str:
    """Where the video is played from once the host has it."""
    deadline = time.monotonic() + seconds
    while (await caller.get(f"{asked.path}/professional-hosting"))["status"] != "ready":
        if time.monotonic() > deadline:
            return ""
        await asyncio.sleep(POLL_SECONDS)
    return str((await caller.get(asked.path)).get("url", ""))
