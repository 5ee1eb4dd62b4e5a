"""What the proofs of ingest stand on: an API and a worker on a fresh database, films, and honest uploads."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from cutroom.platform.settings import Settings
from dev.scratch import Accounts, Keyring, Person, environment_of, scratch
from dev.server import Server

TERMINAL = {"ready", "failed"}
WORKER_MODULE = "cutroom.entrypoints.worker"


@dataclass
class WorkerProcess:
    """A worker, started again by hand when it was killed."""

    environment: dict[str, str]
    log: int = field(default_factory=lambda: os.memfd_create("worker-log"))
    process: subprocess.Popen[bytes] | None = None
    module: str = WORKER_MODULE

    def start(self) -> None:
        command = [sys.executable, "-m", self.module]
        self.process = subprocess.Popen(command, env=self.environment, stdout=self.log, stderr=self.log)

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def keep_running(self) -> None:
        """Start it again when it is down, as a supervisor would."""
        if self.process is None or self.process.poll() is not None:
            self.start()

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.kill()

    def read_log(self) -> str:
        return os.pread(self.log, 50_000_000, 0).decode(errors="replace")


@dataclass(frozen=True)
class Stage:
    """Everything a caller needs, and what a proof may kill."""

    settings: Settings
    accounts: Accounts
    api: Server
    worker: WorkerProcess
    person: Person
    key: Keyring


@asynccontextmanager
async def open_stage(
    name: str,
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    worker_module: str = WORKER_MODULE,
    **changes: Any,  # noqa: ANN401 (settings)
) -> AsyncIterator[Stage]:
    """A fresh database with an API and a worker on it."""
    settings = (await scratch(name)).model_copy(update={"cache_dir": folder / "work", **changes})
    accounts = await Accounts.open(settings)
    person = await accounts.person()
    variables = {**environment_of(settings), **(environment or {})}
    api, worker = Server(variables), WorkerProcess(variables, module=worker_module)
    try:
        api.start()
        worker.start()
        yield Stage(settings, accounts, api, worker, person=person, key=await accounts.key(person))
    finally:
        worker.stop()
        api.stop()
        await accounts.close()


def make_film(path: Path, seconds: int, *, size: str = "640x360", rate: int = 25) -> Path:
    """A test picture and a tone; longer films repeat a minute of it, which costs nothing to make."""
    minute = path.with_suffix(".minute.mp4")
    once = min(seconds, 60)
    picture = f"testsrc2=s={size}:r={rate}:d={once}"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", f"sine=440:d={once}"]
    subprocess.run([*command, "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", str(minute)], check=True)
    loops = str(seconds // once - 1)
    copy = ["ffmpeg", "-v", "error", "-y", "-stream_loop", loops, "-i", str(minute), "-c", "copy", str(path)]
    subprocess.run(copy, check=True)
    return path


async def upload(client: httpx.AsyncClient, film: Path, *, file_name: str = "film.mp4") -> str:
    """Reserve a video, open its session and send the film, as the documentation says; its id."""
    made = await client.post("/v1/videos", json={"source": {"type": "upload", "fileName": file_name}})
    made.raise_for_status()
    video_id: str = made.json()["videoId"]
    session = await client.post(f"/v1/videos/{video_id}/uploads", json={"fileName": file_name})
    session.raise_for_status()
    plain = {"Authorization": ""}
    started = await client.post(session.json()["url"], headers={**plain, "x-goog-resumable": "start"})
    started.raise_for_status()
    sent = await client.put(started.headers["location"], content=film.read_bytes(), headers=plain)
    sent.raise_for_status()
    return video_id


async def ends(stage: Stage, video_ids: list[str], *, seconds: float) -> dict[str, str]:
    """How each import stands when all have ended, or when the time is over; read from the database itself."""
    deadline = time.monotonic() + seconds
    while True:
        stage.worker.keep_running()
        rows = await stage.accounts.connection.fetch(
            "SELECT video_id, status FROM jobs WHERE type = 'import' AND video_id = ANY($1)", video_ids
        )
        found = {row["video_id"]: row["status"] for row in rows}
        if all(found.get(each) in TERMINAL for each in video_ids) or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.5)
