"""A test environment for proofs and benchmarks: an API and a worker on a fresh database, and test uploads."""

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
from dev.child_process import end_child, start_child
from dev.scratch import Accounts, Keyring, Person, environment_of, scratch
from dev.server import Server, free_port

TERMINAL = {"ready", "failed"}
WORKER_MODULE = "cutroom.entrypoints.worker"
STOP_SECONDS = 60.0
VOICES_SECONDS = 600.0  # engines that list voices are loaded first, which takes minutes on a busy machine


@dataclass
class WorkerProcess:
    """A worker process that a proof may kill and restart."""

    environment: dict[str, str]
    log: int = field(default_factory=lambda: os.memfd_create("worker-log"))
    process: subprocess.Popen[bytes] | None = None
    module: str = WORKER_MODULE

    def start(self) -> None:
        command = [sys.executable, "-m", self.module]
        self.process = start_child(command, environment=self.environment, output=self.log)

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def keep_running(self) -> None:
        """Restart it if it is down, as a supervisor would."""
        if self.process is None or self.process.poll() is not None:
            self.start()

    def kill(self) -> None:
        end_child(self.process, signal.SIGKILL, seconds=STOP_SECONDS)

    def stop(self) -> None:
        end_child(self.process, signal.SIGTERM, seconds=STOP_SECONDS)

    def read_log(self) -> str:
        return os.pread(self.log, 50_000_000, 0).decode(errors="replace")


@dataclass(frozen=True)
class Stage:
    """A running API and worker, with an account and its key."""

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
    port: int | None = None,
    **changes: Any,  # noqa: ANN401 (settings)
) -> AsyncIterator[Stage]:
    """Start an API and a worker on a fresh database; `changes` override settings."""
    settings = (await scratch(name)).model_copy(update={"cache_dir": folder / "work", **changes})
    accounts = await Accounts.open(settings)
    person = await accounts.person()
    variables = {**environment_of(settings), **(environment or {})}
    api, worker = Server(variables, port=port or free_port()), WorkerProcess(variables, module=worker_module)
    try:
        api.start()
        worker.start()
        yield Stage(settings, accounts, api, worker, person=person, key=await accounts.key(person))
    finally:
        worker.stop()
        api.stop()
        await accounts.close()


def make_video(path: Path, seconds: int, *, size: str = "640x360", rate: int = 25) -> Path:
    """A test pattern with a tone; longer videos repeat one encoded minute, which takes no time to encode."""
    minute = path.with_suffix(".minute.mp4")
    once = min(seconds, 60)
    pattern = f"testsrc2=s={size}:r={rate}:d={once}"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", pattern, "-f", "lavfi", "-i", f"sine=440:d={once}"]
    subprocess.run([*command, "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", str(minute)], check=True)
    loops = str(seconds // once - 1)
    copy = ["ffmpeg", "-v", "error", "-y", "-stream_loop", loops, "-i", str(minute), "-c", "copy", str(path)]
    subprocess.run(copy, check=True)
    return path


async def upload(
    client: httpx.AsyncClient,
    file: Path,
    *,
    file_name: str = "video.mp4",
    products: Mapping[str, Any] | None = None,
) -> str:
    """Create a video, open an upload session and send the file in one PUT; returns the video's id."""
    source = {"type": "upload", "fileName": file_name}
    created = await client.post("/v1/videos", json={"source": source, "products": products})
    created.raise_for_status()
    video_id: str = created.json()["videoId"]
    session = await client.post(f"/v1/videos/{video_id}/uploads", json={"fileName": file_name})
    session.raise_for_status()
    no_key = {"Authorization": ""}
    started = await client.post(session.json()["url"], headers={**no_key, "x-goog-resumable": "start"})
    started.raise_for_status()
    sent = await client.put(started.headers["location"], content=file.read_bytes(), headers=no_key)
    sent.raise_for_status()
    return video_id


async def wait_for_imports(stage: Stage, video_ids: list[str], *, seconds: float) -> dict[str, str]:
    """Status of each import once all have finished or time is up, read from the database."""
    deadline = time.monotonic() + seconds
    while True:
        stage.worker.keep_running()
        rows = await stage.accounts.connection.fetch(
            "SELECT video_id, status FROM jobs WHERE type = 'import' AND video_id = ANY($1)", video_ids
        )
        statuses = {row["video_id"]: row["status"] for row in rows}
        if all(statuses.get(each) in TERMINAL for each in video_ids) or time.monotonic() > deadline:
            return statuses
        await asyncio.sleep(0.5)


async def wait_for_voices(stage: Stage) -> None:
    """The worker publishes its stock voices soon after it starts."""
    deadline = time.monotonic() + VOICES_SECONDS
    while not await stage.accounts.connection.fetchval("SELECT count(*) FROM stock_voices"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"no voices\n{stage.worker.read_log()[-3000:]}")
        await asyncio.sleep(0.2)
