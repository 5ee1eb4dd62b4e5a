"""An API client that requests every product of one video and retries while the service is unavailable."""

import asyncio
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from cutroom.platform.ids import new_id
from proofs.ingest.upload_kills import Client as Uploader

WATERMARKED: dict[str, Any] = {"numClips": 1, "includeWatermark": True}
SQUARE: dict[str, Any] = {"numClips": 1, "aspectRatio": "1:1"}
PROMO: dict[str, Any] = {"kind": "promo"}
RETRY_SECONDS = 240.0
POLL_SECONDS = 0.7
PAUSE_SECONDS = 0.4
RETRIABLE = frozenset({500, 502, 503, 504})
TERMINAL = frozenset({"ready", "failed"})
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


class RequestFailedError(Exception):
    """The service stayed unavailable, or rejected a valid request."""


@dataclass
class RetryingClient:
    """Retries every request until it succeeds, POST requests with the same Idempotency-Key."""

    http: httpx.AsyncClient
    retried: int = 0

    async def get(self, path: str) -> dict[str, Any]:
        return (await self._send("GET", path)).json()  # type: ignore[no-any-return]  # JSON

    async def post(self, path: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        return (await self._send("POST", path, body=body)).json()  # type: ignore[no-any-return]  # JSON

    async def fetch(self, url: str) -> bytes:
        """Fetch a signed URL without the API key."""
        return (await self._send("GET", url, headers={"Authorization": ""})).content

    async def _send(
        self, method: str, path: str, *, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        sent_headers = {**({"Idempotency-Key": new_id()} if method == "POST" else {}), **(headers or {})}
        deadline, failure = time.monotonic() + RETRY_SECONDS, ""
        while time.monotonic() < deadline:
            try:
                response = await self.http.request(method, path, json=body, headers=sent_headers)
            except httpx.TransportError as error:
                failure = repr(error)
            else:
                if response.is_success:
                    return response
                failure = f"{response.status_code} {response.text[:300]}"
                if not (response.status_code in RETRIABLE or "retry-after" in response.headers):
                    break
            self.retried += 1
            await asyncio.sleep(PAUSE_SECONDS)
        raise RequestFailedError(f"{method} {path}: {failure}")

    async def upload(self, video: Path) -> str:
        """Upload with recipes for dubs, shorts and packaging."""
        source = {"type": "upload", "fileName": video.name}
        created = await self.post("/v1/videos", source=source, products=RECIPES)
        video_id: str = created["videoId"]
        session = await self.post(f"/v1/videos/{video_id}/uploads", fileName=video.name)
        start = {"Authorization": "", "x-goog-resumable": "start"}
        started = await self._send("POST", session["url"], headers=start)
        uploader = Uploader(started.headers["location"], video, random.Random(1))
        await uploader.run()
        if not uploader.finished:
            raise RequestFailedError("the upload did not finish")
        return video_id


@dataclass
class StoryRequests:
    """An uploaded video and everything requested for it."""

    video_id: str
    jobs: dict[str, str]  # label to job id
    shorts: dict[str, str] = field(default_factory=dict)  # kind to request id
    thumbnail_id: str = ""
    downloads: dict[str, str] = field(default_factory=dict)  # artifact to request id
    rejected: list[str] = field(default_factory=list)  # requests that should have been accepted

    @property
    def path(self) -> str:
        return f"/v1/videos/{self.video_id}"


async def request_everything(client: RetryingClient, video: Path, *, has_promo: bool) -> StoryRequests:
    """Request everything that needs only the video, then what needs its source, then what needs a dub.

    A promo needs a video of at least 45 seconds.
    """
    video_id = await client.upload(video)
    listed = (await client.get(f"/v1/videos/{video_id}/jobs"))["jobs"]
    requests = StoryRequests(video_id, {_job_label(job): job["id"] for job in listed})
    requests.shorts["shorts"] = requests.jobs["shorts"].removeprefix("shorts_")
    captions = await client.post(f"{requests.path}/captions", languages=list(LANGUAGES))
    requests.jobs |= {_job_label(job): job["id"] for job in captions["jobs"]}
    for name, body in {"watermarked": WATERMARKED, **({"promo": PROMO} if has_promo else {"square": SQUARE})}.items():
        created = await client.post(f"{requests.path}/shorts", **body)
        requests.jobs[name], requests.shorts[name] = created["jobId"], created["shortsRequestId"]
    prompted = await client.post(f"{requests.path}/thumbnails", prompt='The rocket with the words "Lift off"')
    requests.jobs["thumbnail by a prompt"], requests.thumbnail_id = prompted["jobId"], prompted["thumbnailRequestId"]
    await _download(client, requests, "source")
    await wait_for_jobs(client, [requests.jobs["import"]])
    await client.post(f"{requests.path}/professional-hosting")
    dubs = [requests.jobs[f"dub {language}"] for language in LANGUAGES]
    await wait_for_jobs(client, dubs)
    await _download(client, requests, "language_video", language=LANGUAGES[0])
    await _download(client, requests, "bundle")
    return requests


async def _download(client: RetryingClient, requests: StoryRequests, artifact: str, **more: str) -> None:
    try:
        created = await client.post(f"{requests.path}/downloads", artifact=artifact, **more)
    except RequestFailedError as error:  # its dub failed; continue without it
        requests.rejected.append(f"download {artifact}: {error}")
        return
    requests.jobs[f"download {artifact}"], requests.downloads[artifact] = created["jobId"], created["downloadRequestId"]


def _job_label(job: dict[str, Any]) -> str:
    qualifier = job.get("language") or job.get("automationType")
    return f"{job['type']} {qualifier}" if qualifier else str(job["type"])


async def wait_for_jobs(
    client: RetryingClient, job_ids: list[str], *, seconds: float = 1800.0
) -> dict[str, dict[str, Any]]:
    """Poll until all jobs have finished or time is up; returns them by id."""
    deadline = time.monotonic() + seconds
    found: dict[str, dict[str, Any]] = {}
    while True:
        for job_id in job_ids:
            if found.get(job_id, {}).get("status") not in TERMINAL:
                found[job_id] = await client.get(f"/v1/jobs/{job_id}")
        if all(job["status"] in TERMINAL for job in found.values()) or time.monotonic() > deadline:
            return found
        await asyncio.sleep(POLL_SECONDS)


async def wait_for_hosting(client: RetryingClient, requests: StoryRequests, *, seconds: float = 300.0) -> str:
    """The playback URL once the external host is ready; empty on timeout."""
    deadline = time.monotonic() + seconds
    while (await client.get(f"{requests.path}/professional-hosting"))["status"] != "ready":
        if time.monotonic() > deadline:
            return ""
        await asyncio.sleep(POLL_SECONDS)
    return str((await client.get(requests.path)).get("url", ""))
