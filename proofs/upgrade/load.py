"""Clients that upload videos, request downloads and synthesize speech, and retry as the contract says."""

import asyncio
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from proofs.ingest.upload_kills import Client as Uploader
from proofs.story.client import POLL_SECONDS, TERMINAL, RequestFailedError, RetryingClient

CLIENT_SECONDS = 60.0  # per attempt
UPLOADS_EVERY = 3  # of a client's rounds; in the others it only synthesizes speech


@dataclass
class Tally:
    """What clients were promised while the installation went in one direction."""

    jobs: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # each synthesized, and paid for, once
    failures: list[str] = field(default_factory=list)
    ready: int = 0


class CountingClient(RetryingClient):
    """Counts requests; each is retried until it succeeds."""

    requests = 0

    async def send(self, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 (of the base class)
        self.requests += 1
        return await self._send(method, path, **options)


@dataclass
class Load:
    """Clients of one library; what they are promised is counted for the direction at that time."""

    client: CountingClient
    video: Path
    voice: str
    tallies: dict[str, Tally] = field(default_factory=lambda: {"up": Tally(), "down": Tally()})
    direction: str = "up"
    is_over: bool = False
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def tally(self) -> Tally:
        return self.tallies[self.direction]

    async def run(self, clients: int, *, pause_seconds: float) -> None:
        """Until `is_over`; every client finishes its round."""
        await asyncio.gather(*(self._run_client(number, pause_seconds) for number in range(clients)))

    async def _run_client(self, first: int, pause_seconds: float) -> None:
        for turn in itertools.count(first):
            if self.is_over:
                return
            tally = self.tally
            try:
                await self._speak(tally)
                if turn % UPLOADS_EVERY == 0:
                    await self._import_and_download(tally)
            except RequestFailedError as error:
                tally.failures.append(str(error))
            await asyncio.sleep(pause_seconds)

    async def _speak(self, tally: Tally) -> None:
        """A text of its own, so that each is one job and one charge."""
        text = f"Satz Nummer {next(self.numbers)}."
        body = {"text": text, "language_code": "de"}
        audio = await self.client.send("POST", f"/v1/text-to-speech/{self.voice}", body=body)
        if not audio.content:
            raise RequestFailedError(f"no audio for {text}")
        tally.texts.append(text)
        tally.ready += 1

    async def _import_and_download(self, tally: Tally) -> None:
        created = await self._create("/v1/videos", source={"type": "upload", "fileName": self.video.name})
        video_id = created["videoId"]
        tally.jobs += [job["id"] for job in created["jobs"]]
        session = await self._create(f"/v1/videos/{video_id}/uploads", fileName=self.video.name)
        start = {"Authorization": "", "x-goog-resumable": "start"}
        started = await self.client.send("POST", session["url"], headers=start)
        uploader = Uploader(started.headers["location"], self.video, random.Random(1))
        await uploader.run()
        if not uploader.finished:
            raise RequestFailedError(f"upload of {video_id}")
        download = await self._create(f"/v1/videos/{video_id}/downloads", artifact="source")
        tally.jobs.append(download["jobId"])
        while (await self._get(f"/v1/jobs/{download['jobId']}"))["status"] not in TERMINAL and not self.is_over:
            await asyncio.sleep(POLL_SECONDS)
        tally.ready += 1

    async def _create(self, path: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        return (await self.client.send("POST", path, body=body)).json()  # type: ignore[no-any-return]  # JSON

    async def _get(self, path: str) -> dict[str, Any]:
        return (await self.client.send("GET", path)).json()  # type: ignore[no-any-return]  # JSON

    async def wait_for(self, count: int) -> None:
        """Until so many rounds of work requested in this direction are ready."""
        while self.tally.ready < count and not self.tally.failures:
            await asyncio.sleep(POLL_SECONDS)
