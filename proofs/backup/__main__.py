"""Backup and restore: every row and object comes back, API keys work, and pending imports continue."""

import asyncio
import hashlib
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import httpx
import obstore

from cutroom.entrypoints.backup import NotEmptyError, backup, restore
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from dev.scratch import environment_of
from dev.server import Server
from proofs.stage.own_services import own_services
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from proofs.stage.service_settings import settings_of_services
from tests.support.stage import TERMINAL, Stage, WorkerProcess, make_video, open_stage, upload, wait_for_imports

PORT_BASE = 31400
SKIPPING = "event_logs"  # a restore leaves out positions, so that none is assigned twice
WAIT_SECONDS = 300.0
# No engines, so that the backup contains a pending transcript.
QUEUES = [TaskQueue.CONTROL, TaskQueue.MEDIA, TaskQueue.EGRESS, TaskQueue.DOWNLOAD]


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with open_stage("proof_backup", folder / "stage", worker_queues=QUEUES) as stage:
            finished, pending = await _fill_library(stage, folder, seconds=4 if short else 40)
            stage.api.stop()  # it writes the last use of keys some time after the request
            before = await _fingerprint(stage.settings, library_id=stage.person.library_id)
            # The bucket is shared with other tests and proofs, so only this library is copied.
            prefix = f"libraries/{stage.person.library_id}/"
            copied = await backup(stage.settings, folder / "backup", prefix=prefix)
        report.note(f"backup: {copied}")
        with own_services(PORT_BASE):
            settings = settings_of_services(stage.settings)
            started = time.monotonic()
            await restore(settings, folder / "backup")
            seconds = time.monotonic() - started
            after = await _fingerprint(settings, library_id=stage.person.library_id)
            _compare(report, before, after)
            refused = await _refuses(settings, folder / "backup")
            report.claim(
                "restore into a database with data", expected="refused", measured=refused, holds=refused == "refused"
            )
            await _use(report, stage, settings, finished=finished, pending=pending, folder=folder)
    report.figures(objects=copied.objects, object_bytes=copied.object_bytes, restore_seconds=round(seconds, 1))


async def _fill_library(stage: Stage, folder: Path, *, seconds: int) -> tuple[str, str]:
    """Create a finished video and one whose import has not started; returns their ids."""
    video = await asyncio.to_thread(make_video, folder / "video.mp4", seconds)
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
        finished = await upload(client, video)
        await wait_for_imports(stage, [finished], seconds=WAIT_SECONDS)
        await client.post("/v1/folders", json={"name": "Interviews"})
        stage.worker.stop()
        pending = await upload(client, video)
    return finished, pending


async def _fingerprint(settings: Settings, *, library_id: str) -> tuple[dict[str, tuple[int, str]], dict[str, str]]:
    """Row count and digest of every table, and digest of every object of the library."""
    assert settings.owner_database_url is not None
    connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
    tables = {}
    try:
        for (table,) in await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
            query = f"SELECT count(*), md5(coalesce(string_agg(t::text, '' ORDER BY t::text), '')) FROM \"{table}\" t"  # noqa: S608 (our own table names)
            row = await connection.fetchrow(query)
            assert row is not None
            tables[table] = (row[0], row[1])
    finally:
        await connection.close()
    storage, objects = Storage.connect(settings), {}
    async for batch in obstore.list(storage.store, f"libraries/{library_id}/"):
        for found in batch:
            digest = hashlib.sha256()
            async for chunk in storage.read(found["path"]):
                digest.update(chunk)
            objects[found["path"]] = digest.hexdigest()
    return tables, objects


def _compare(
    report: Report,
    before: tuple[dict[str, tuple[int, str]], dict[str, str]],
    after: tuple[dict[str, tuple[int, str]], dict[str, str]],
) -> None:
    rows = sum(count for count, _ in before[0].values())
    wrong = [table for table in before[0] if table != SKIPPING and before[0][table] != after[0].get(table)]
    measured = f"{len(before[0])} tables with {rows} rows; differ: {wrong}"
    report.claim(
        "every table has the same rows", expected="none differ", measured=measured, holds=rows > 0 and not wrong
    )
    same = before[1] == after[1]
    report.claim(
        "every object has the same bytes", expected="equal", measured=f"{len(after[1])}", holds=same and bool(after[1])
    )
    report.figures(tables=len(before[0]), rows=rows, tables_wrong=len(wrong))


async def _refuses(settings: Settings, folder: Path) -> str:
    try:
        await restore(settings, folder)
    except NotEmptyError:
        return "refused"
    return "restored"


async def _use(report: Report, stage: Stage, settings: Settings, *, finished: str, pending: str, folder: Path) -> None:
    """Start an API and a worker on the restored data and use the original key."""
    variables = environment_of(settings.model_copy(update={"cache_dir": folder / "work"}))
    api, worker = Server(variables), WorkerProcess(variables)
    api.start()
    worker.start()
    try:
        async with httpx.AsyncClient(base_url=api.url, headers=stage.key.headers, timeout=60) as client:
            video = await client.get(f"/v1/videos/{finished}")
            poster = await client.get(video.json()["posterUrl"], headers={"Authorization": ""})
            results = (video.status_code, poster.status_code, poster.content[:2] == b"\xff\xd8")
            report.claim(
                "the original key reads its video and poster",
                expected="200, 200, JPEG",
                measured=results,
                holds=results == (200, 200, True),
            )
            state = await _wait_for_import(client, pending)
            report.claim(
                "an import that was pending in the backup", expected="ready", measured=state, holds=state == "ready"
            )
    finally:
        worker.stop()
        api.stop()


async def _wait_for_import(client: httpx.AsyncClient, video_id: str) -> str:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        state: str = (await client.get(f"/v1/jobs/import_{video_id}")).json()["status"]
        if state in TERMINAL or time.monotonic() > deadline:
            return state
        await asyncio.sleep(1)


if __name__ == "__main__":
    sys.exit(prove("Backup and restore", proof, needs=Needs(programs=("ffmpeg",))))
