"""Requests thumbnails and packaging as an API client, for the proofs of both."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.stage import TERMINAL, Stage, upload

WAIT_SECONDS = 900.0
POLL_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class ThumbnailImage:
    """A downloaded thumbnail with its stored headline and layout."""

    path: Path
    headline: str | None
    layout: str


@dataclass(frozen=True, slots=True)
class ThumbnailClient:
    """An API client for thumbnails and packaging."""

    stage: Stage
    client: httpx.AsyncClient

    async def upload_and_transcribe(self, file: Path) -> str:
        """Upload a video and wait for its transcript; returns its id."""
        video_id = await upload(self.client, file)
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.stage.worker.keep_running()
            status = (await self.client.get(f"/v1/videos/{video_id}/transcript")).json()["status"]
            if status == "ready":
                return video_id
            if status == "failed" or time.monotonic() > deadline:
                raise RuntimeError(f"no transcript\n{self.stage.worker.read_log()[-3000:]}")
            await asyncio.sleep(POLL_SECONDS)

    async def request_thumbnails(self, video_id: str, body: dict[str, Any]) -> httpx.Response:
        return await self.client.post(f"/v1/videos/{video_id}/thumbnails", json=body)

    async def request_packaging(self, video_id: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        body = {"automationOptions": options}
        response = await self.client.post(f"/v1/videos/{video_id}/packaging", json=body)
        created: dict[str, Any] = response.raise_for_status().json()
        return created

    async def get_packaging(self, video_id: str) -> dict[str, Any]:
        state: dict[str, Any] = (await self.client.get(f"/v1/videos/{video_id}/packaging")).raise_for_status().json()
        return state

    async def wait_for_job(self, job_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.stage.worker.keep_running()
            job: dict[str, Any] = (await self.client.get(f"/v1/jobs/{job_id}")).raise_for_status().json()
            if job["status"] in TERMINAL:
                return job
            if time.monotonic() > deadline:
                raise RuntimeError(f"{job_id} did not finish\n{self.stage.worker.read_log()[-3000:]}")
            await asyncio.sleep(POLL_SECONDS)

    async def download_images(self, request_id: str, folder: Path) -> list[ThumbnailImage]:
        """Download every image of a request."""
        folder.mkdir(parents=True, exist_ok=True)
        request = (await self.client.get(f"/v1/thumbnails/{request_id}")).raise_for_status().json()
        rows = await self.stage.accounts.connection.fetch(
            "SELECT headline, layout FROM thumbnails WHERE request_id = $1 ORDER BY number", request_id
        )
        images = []
        for number, (url, row) in enumerate(zip(request["outputImageUrls"], rows, strict=True)):
            response = await self.client.get(url, headers={"Authorization": ""})
            path = folder / f"{request_id}-{number}.jpg"
            path.write_bytes(response.raise_for_status().content)
            images.append(ThumbnailImage(path, row["headline"], row["layout"]))
        return images

    async def balance(self) -> float:
        videos = (await self.client.get("/v1/videos", params={"limit": 1})).json()["videos"]
        quote = await self.client.post(f"/v1/videos/{videos[0]['id']}/quote", json={})
        return float(quote.raise_for_status().json()["balance"])


async def upload_all(api: ThumbnailClient, files: Sequence[Path]) -> list[str]:
    """Upload several videos concurrently."""
    return list(await asyncio.gather(*(api.upload_and_transcribe(file) for file in files)))
