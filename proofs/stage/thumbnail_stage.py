"""What the proofs of thumbnails and packaging stand on: films in a library, and asking as a caller does."""

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
class Picture:
    """A finished thumbnail as its user has it, and the words that it is said to carry."""

    path: Path
    headline: str | None
    layout: str


@dataclass(frozen=True, slots=True)
class Desk:
    """Where thumbnails and texts are asked for."""

    stage: Stage
    client: httpx.AsyncClient

    async def arrive(self, film: Path) -> str:
        """Upload a film and wait until its transcript is ready; its id."""
        video_id = await upload(self.client, film)
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.stage.worker.keep_running()
            status = (await self.client.get(f"/v1/videos/{video_id}/transcript")).json()["status"]
            if status == "ready":
                return video_id
            if status == "failed" or time.monotonic() > deadline:
                raise RuntimeError(f"no transcript\n{self.stage.worker.read_log()[-3000:]}")
            await asyncio.sleep(POLL_SECONDS)

    async def ask(self, video_id: str, body: dict[str, Any]) -> httpx.Response:
        return await self.client.post(f"/v1/videos/{video_id}/thumbnails", json=body)

    async def package(self, video_id: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        body = {"automationOptions": options}
        answer = await self.client.post(f"/v1/videos/{video_id}/packaging", json=body)
        asked: dict[str, Any] = answer.raise_for_status().json()
        return asked

    async def state(self, video_id: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(f"/v1/videos/{video_id}/packaging")).raise_for_status().json()
        return found

    async def ended(self, job_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.stage.worker.keep_running()
            job: dict[str, Any] = (await self.client.get(f"/v1/jobs/{job_id}")).raise_for_status().json()
            if job["status"] in TERMINAL:
                return job
            if time.monotonic() > deadline:
                raise RuntimeError(f"{job_id} has not ended\n{self.stage.worker.read_log()[-3000:]}")
            await asyncio.sleep(POLL_SECONDS)

    async def take(self, request_id: str, folder: Path) -> list[Picture]:
        """Every image of a request, downloaded by its URL."""
        folder.mkdir(parents=True, exist_ok=True)
        request = (await self.client.get(f"/v1/thumbnails/{request_id}")).raise_for_status().json()
        rows = await self.stage.accounts.connection.fetch(
            "SELECT headline, layout FROM thumbnails WHERE request_id = $1 ORDER BY number", request_id
        )
        pictures = []
        for number, (url, row) in enumerate(zip(request["outputImageUrls"], rows, strict=True)):
            answer = await self.client.get(url, headers={"Authorization": ""})
            path = folder / f"{request_id}-{number}.jpg"
            path.write_bytes(answer.raise_for_status().content)
            pictures.append(Picture(path, row["headline"], row["layout"]))
        return pictures

    async def balance(self) -> float:
        videos = (await self.client.get("/v1/videos", params={"limit": 1})).json()["videos"]
        quote = await self.client.post(f"/v1/videos/{videos[0]['id']}/quote", json={})
        return float(quote.raise_for_status().json()["balance"])


async def arrive_all(desk: Desk, films: Sequence[Path]) -> list[str]:
    """Several films at once: imports of one run beside the transcripts of another."""
    return list(await asyncio.gather(*(desk.arrive(film) for film in films)))
