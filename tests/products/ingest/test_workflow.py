"""Imports on real Temporal, sandbox and storage: video, audio, video sent as audio, and an invalid file."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import obstore
import pytest

from cutroom.entrypoints.worker import MAX_HEARTBEAT_INTERVAL, build_workers
from cutroom.jobs.service import release_dependents
from cutroom.jobs.worker import WorkerContext
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress
from cutroom.platform.relay import Relay
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import connect
from cutroom.retention.policy.rules import UsageKind
from cutroom.retention.policy.stored_files import kind_of
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

VIDEO = ("-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=3", "-f", "lavfi", "-i", "sine=440:d=3", "-c:v", "libx264")
LONG = ("-f", "lavfi", "-i", "anullsrc=r=48000:cl=stereo", "-t", "3600")  # six chunks
SONG = ("-f", "lavfi", "-i", "sine=440:d=3", "-c:a", "libmp3lame", "-f", "mp3")


@pytest.fixture(scope="module")
async def _worker(
    settings: Settings,
    runtime: Runtime,
    worker_database: Database,
    accounts: Accounts,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[None]:
    """An in-process worker and relay that ignore imports of other tests."""
    await accounts.connection.execute("DELETE FROM outbox")
    changed = settings.model_copy(update={"cache_dir": tmp_path_factory.mktemp("work")})
    parts = WorkerContext.of(changed, await connect(changed), worker_database, egress=Egress())
    async with AsyncExitStack() as stack:
        stack.push_async_callback(parts.multipart.close)
        for worker in build_workers(parts):
            await stack.enter_async_context(worker)
        relay = Relay(runtime.database, parts.client, running_jobs_per_library=4)
        relaying = asyncio.create_task(relay.run())
        yield
        relaying.cancel()


def make(path: Path, arguments: tuple[str, ...]) -> Path:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *arguments, str(path)], check=True)
    return path


async def run_import(
    api: httpx.AsyncClient, runtime: Runtime, person: Person, path: Path, content_type: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Uploads a file, waits for its import, and returns the video and its import job."""
    source = {"type": "upload", "fileName": path.name, "contentType": content_type}
    made = (await api.post("/videos", json={"source": source})).json()
    video_id = made["videoId"]
    await runtime.storage.put(made["upload"]["storagePath"], path)
    async with runtime.database.transaction(person.library_id) as connection:
        waited = f"upload_{video_id}"
        await release_dependents(
            connection, person.library_id, video_id=video_id, prerequisite=waited, now=system_clock()
        )
    job: dict[str, Any] = {}
    for _ in range(600):
        job = (await api.get(f"/jobs/import_{video_id}")).json()
        if job["status"] in {"ready", "failed"}:
            break
        await asyncio.sleep(0.1)
    return (await api.get(f"/videos/{video_id}")).json(), job


async def derived(storage: Storage, person: Person, video: dict[str, Any]) -> set[str]:
    """Names of the files derived from a video."""
    names = ("source", "poster.jpg", "speech.flac", "mix.mka", "chunks/mix-00000.mka")
    folder = f"libraries/{person.library_id}/videos/{video['id']}"
    return {name for name in names if await storage.size(f"{folder}/{name}")}


@pytest.mark.usefixtures("_worker")
async def test_video_gets_poster_and_audio(
    api: httpx.AsyncClient, viewer: httpx.AsyncClient, runtime: Runtime, person: Person, tmp_path: Path
) -> None:
    video, job = await run_import(api, runtime, person, make(tmp_path / "video.mp4", VIDEO), "video/mp4")
    assert job["status"] == "ready", job
    assert job["result"] == {"durationSeconds": 3.0, "mediaType": "video"}
    assert (video["status"], video["duration"], video["mediaType"]) == ("ready", 3.0, "video")
    assert await derived(runtime.storage, person, video) == {"source", "poster.jpg", "speech.flac", "mix.mka"}
    stored = await runtime.storage.names(f"libraries/{person.library_id}/")
    assert [path for path in stored if kind_of(path) is UsageKind.UNKNOWN] == []
    poster = await viewer.get(video["posterUrl"])
    assert poster.content[:3] == b"\xff\xd8\xff"


@pytest.mark.usefixtures("_worker")
@pytest.mark.parametrize(
    ("name", "arguments", "content_type"), [("song.mp3", SONG, ""), ("video.mp4", VIDEO, "audio/mp4")]
)
async def test_audio_and_video_sent_as_audio_become_audio(
    api: httpx.AsyncClient,
    runtime: Runtime,
    person: Person,
    tmp_path: Path,
    name: str,
    arguments: tuple[str, ...],
    content_type: str,
) -> None:
    path = make(tmp_path / name, arguments)
    video, job = await run_import(api, runtime, person, path, content_type or "audio/mpeg")
    assert job["status"] == "ready", job
    assert video["mediaType"] == "audio"
    assert "posterUrl" not in video
    assert await derived(runtime.storage, person, video) == {"source", "speech.flac", "mix.mka"}


@pytest.mark.usefixtures("_worker")
async def test_invalid_file_fails_with_reason_and_fails_dependents(
    api: httpx.AsyncClient, runtime: Runtime, person: Person, tmp_path: Path
) -> None:
    path = tmp_path / "notes.mp4"
    path.write_text("this is not a video")
    video, job = await run_import(api, runtime, person, path, "video/mp4")
    assert video["status"] == "failed"
    assert job["error"]["code"] == "UNSUPPORTED_SOURCE"
    assert job["error"]["details"] == {"reason": "UNSUPPORTED_FORMAT"}
    transcript = (await api.get(f"/jobs/transcript_{video['id']}")).json()
    assert transcript["error"]["details"] == {"jobId": job["id"]}


@pytest.mark.usefixtures("_worker")
async def test_canceled_import_stops_and_a_retry_finishes_it(
    api: httpx.AsyncClient, runtime: Runtime, person: Person, tmp_path: Path
) -> None:
    path = make(tmp_path / "long.flac", LONG)
    running = asyncio.create_task(run_import(api, runtime, person, path, "audio/flac"))
    job_id = ""
    async with asyncio.timeout(60):
        while not await runtime.storage.names(f"libraries/{person.library_id}/videos/"):
            await asyncio.sleep(0.05)
        [video_id] = {name.split("/")[3] for name in await runtime.storage.names(f"libraries/{person.library_id}/")}
        job_id, chunks = f"import_{video_id}", f"libraries/{person.library_id}/videos/{video_id}/chunks/"
        while not await runtime.storage.names(chunks):  # the first one is encoded
            await asyncio.sleep(0.05)
    canceled = await api.post(f"/jobs/{job_id}/cancel")
    assert canceled.json()["error"]["code"] == "CANCELLED", canceled.text
    video, job = await running
    assert (video["status"], job["status"]) == ("failed", "failed")
    await asyncio.sleep(MAX_HEARTBEAT_INTERVAL.total_seconds() + 2)
    kept = {name: await modified(runtime.storage, name) for name in await runtime.storage.names(chunks)}
    assert kept
    assert (await api.post(f"/jobs/{job_id}/retry")).status_code == 202
    reused: dict[str, bool] = {}
    for _ in range(1200):
        job = (await api.get(f"/jobs/{job_id}")).json()
        if job["status"] in {"ready", "failed"}:
            break
        for name in await runtime.storage.names(chunks):
            with suppress(FileNotFoundError):  # deleted at the end
                reused[name] = name in kept and await modified(runtime.storage, name) == kept[name]
        await asyncio.sleep(0.1)
    assert job["status"] == "ready", job
    assert any(reused.values()), reused
    assert (await api.get(f"/videos/{video_id}")).json()["status"] == "ready"


async def modified(storage: Storage, path: str) -> datetime:
    found: datetime = (await obstore.head_async(storage.store, path))["last_modified"]
    return found
