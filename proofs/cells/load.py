"""Clients of several libraries that read, write, upload, import and synthesize, and note what they were promised."""

import asyncio
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from cutroom.platform.ids import new_id

ATTEMPT_SECONDS = 60.0
GIVE_UP_SECONDS = 120.0
PAUSE_SECONDS = 0.1
POLL_SECONDS = 0.3
SERVER_ERROR = 500
GONE = frozenset({404, 410})
TERMINAL = frozenset({"ready", "failed"})


class RefusedError(Exception):
    """A request was refused, or not answered within the time that clients retry it."""


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """A read or write, from its first attempt to its success; wall-clock times."""

    started: float
    ended: float


@dataclass
class Promises:
    """What a library's clients were promised by responses."""

    folders: list[str] = field(default_factory=list)
    videos: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # each synthesized, and paid for, once


@dataclass
class Tenant:
    """A library with its clients."""

    name: str
    library_id: str
    http: httpx.AsyncClient
    video: Path
    promises: Promises = field(default_factory=Promises)
    timed: list[TimedRequest] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # requests that clients gave up
    errors: list[tuple[float, str]] = field(default_factory=list)  # attempts that were not answered as they should
    requests: int = 0
    rounds: int = 0
    is_over: bool = False
    voice: str = ""
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def run(self) -> None:
        """Until `is_over`; every client finishes its round."""
        await asyncio.gather(self._write_and_read(), self._work())

    async def _write_and_read(self) -> None:
        """One request after the other, so that the longest gap shows how long the library was unavailable."""
        while not self.is_over:
            name = f"{self.name} {next(self.numbers)}"
            await self._timed("GET", "/v1/videos?limit=5")
            created = await self._timed("POST", "/v1/folders", body={"name": name})
            if created is not None:
                self.promises.folders.append(created.json()["id"])
            await asyncio.sleep(PAUSE_SECONDS)

    async def _work(self) -> None:
        while not self.is_over:
            try:
                await self._import()
                await self._speak()
            except RefusedError as error:
                self.failures.append(str(error))
            self.rounds += 1
            await asyncio.sleep(PAUSE_SECONDS)

    async def _import(self) -> None:
        source = {"type": "upload", "fileName": self.video.name}
        created = (await self.send("POST", "/v1/videos", body={"source": source})).json()
        self.promises.videos.append(created["videoId"])
        self.promises.jobs += [job["id"] for job in created["jobs"]]
        await self._upload(created["videoId"])
        [import_job] = [job["id"] for job in created["jobs"] if job["id"].startswith("import_")]
        await self._wait_for(import_job)

    async def _upload(self, video_id: str) -> None:
        """An upload that is not acknowledged starts over, as the protocol says."""
        content, deadline = self.video.read_bytes(), time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            session = (
                await self.send("POST", f"/v1/videos/{video_id}/uploads", body={"fileName": self.video.name})
            ).json()
            no_key = {"Authorization": "", "x-goog-resumable": "start"}
            try:
                started = await self.send("POST", session["url"], headers=no_key)
                await self.send(
                    "PUT", started.headers["location"], content=content, headers={"Authorization": ""}, ends=GONE
                )
            except RefusedError:
                continue
            else:
                return
        raise RefusedError(f"upload of {video_id}")

    async def _wait_for(self, job_id: str) -> None:
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while time.monotonic() < deadline:
            if (await self.send("GET", f"/v1/jobs/{job_id}")).json()["status"] in TERMINAL:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _speak(self) -> None:
        """A text of its own, so that each is one job and one charge."""
        text = f"Satz Nummer {next(self.numbers)} von {self.name}."
        audio = await self.send("POST", f"/v1/text-to-speech/{self.voice}", body={"text": text, "language_code": "de"})
        if not audio.content:
            raise RefusedError(f"no audio for {text}")
        self.promises.texts.append(text)

    async def _timed(self, method: str, path: str, **options: Any) -> httpx.Response | None:  # noqa: ANN401 (of send)
        started = time.time()
        try:
            response = await self.send(method, path, **options)
        except RefusedError as error:
            self.failures.append(str(error))
            return None
        self.timed.append(TimedRequest(started, time.time()))
        return response

    async def send(
        self,
        method: str,
        path: str,
        *,
        body: dict[str, Any] | None = None,
        content: bytes | None = None,
        headers: dict[str, str] | None = None,
        ends: frozenset[int] = frozenset(),  # statuses that a retry does not change
    ) -> httpx.Response:
        """Retries as the contract says: POST with the same Idempotency-Key."""
        sent = {**({"Idempotency-Key": new_id()} if method == "POST" else {}), **(headers or {})}
        deadline, failure = time.monotonic() + GIVE_UP_SECONDS, ""
        while time.monotonic() < deadline:
            self.requests += 1
            try:
                response = await self.http.request(
                    method, path, json=body, content=content, headers=sent, timeout=ATTEMPT_SECONDS
                )
            except httpx.TransportError as error:
                failure = repr(error)
                self.errors.append((time.time(), f"{method} {path[:60]}: {failure}"))
            else:
                if response.is_success:
                    return response
                failure = f"{response.status_code} {response.text[:200]}"
                if response.status_code >= SERVER_ERROR:
                    self.errors.append((time.time(), f"{method} {path[:60]}: {failure}"))
                if response.status_code in ends or not (
                    response.status_code >= SERVER_ERROR or "retry-after" in response.headers
                ):
                    break
            await asyncio.sleep(PAUSE_SECONDS)
        raise RefusedError(f"{method} {path[:80]}: {failure}")
