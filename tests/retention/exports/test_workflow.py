"""The export workflows on real Temporal."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.worker import Worker

from cutroom.jobs.worker import Activity
from cutroom.platform.ids import new_id
from cutroom.platform.relay import Relay
from cutroom.platform.task_queues import TaskQueue
from cutroom.retention.exports.workflow import DeleteExportWorkflow, ExportLibraryWorkflow, PurgeExportsWorkflow
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.retention.exports.conftest import SMALLEST_PART_BYTES, Exporter, InterruptedMultipart, SeededLibrary, unzip

PATH = "/library/exports"


@asynccontextmanager
async def worker(exporter: Exporter) -> AsyncIterator[None]:
    activities = exporter.activities
    control: list[Activity] = [
        activities.start_export,
        activities.fail_export,
        activities.delete_export_work,
        activities.stop_export,
        activities.remove_export,
        activities.purge_exports,
    ]
    transfer: list[Activity] = [
        activities.collect_export_files,
        activities.read_export_files,
        activities.write_export_manifest,
        activities.write_export_archive,
        activities.finish_export,
    ]
    workflows = [ExportLibraryWorkflow, DeleteExportWorkflow, PurgeExportsWorkflow]
    client = activities.client
    async with (
        Worker(client, task_queue=TaskQueue.CONTROL, workflows=workflows, activities=control),
        Worker(client, task_queue=TaskQueue.DOWNLOAD, activities=transfer),
    ):
        yield


def relay_of(exporter: Exporter) -> Relay:
    return Relay(exporter.runtime.database, exporter.activities.client, running_jobs_per_library=10)


async def test_requested_export_becomes_ready(
    api: httpx.AsyncClient, viewer: httpx.AsyncClient, exporter: Exporter, library: SeededLibrary, accounts: Accounts
) -> None:
    await accounts.connection.execute("DELETE FROM outbox")
    export_id = (await api.post(PATH)).json()["id"]
    await relay_of(exporter).relay_once()
    async with worker(exporter):
        await exporter.activities.client.get_workflow_handle(f"export_{export_id}").result()
    found = (await api.get(f"{PATH}/{export_id}")).json()
    assert found["status"] == "ready", found
    archive = (await viewer.get(found["downloadUrl"])).content
    files = unzip(archive)
    assert f"videos/{library.video_id}/video.json" in files
    assert b"createLibraryExport" in files["audit-log.jsonl"]


@pytest.mark.usefixtures("library")
async def test_export_continues_after_its_worker_stops(
    api: httpx.AsyncClient, exporter: Exporter, accounts: Accounts
) -> None:
    await accounts.connection.execute("DELETE FROM outbox")
    export_id = (await api.post(PATH)).json()["id"]
    await relay_of(exporter).relay_once()
    real = exporter.activities.writer.multipart
    hanging = InterruptedMultipart(real, parts=2)
    async with worker(exporter.with_multipart(hanging)):
        await hanging.interrupted.wait()
    continued = InterruptedMultipart(real, parts=100)
    async with worker(exporter.with_multipart(continued)):
        await exporter.activities.client.get_workflow_handle(f"export_{export_id}").result()
    found = (await api.get(f"{PATH}/{export_id}")).json()
    assert found["status"] == "ready", found
    assert found["archiveBytes"] > 2 * SMALLEST_PART_BYTES
    assert continued.sent == set(range(3, -(-found["archiveBytes"] // SMALLEST_PART_BYTES) + 1))


async def test_export_whose_files_keep_changing_fails(
    api: httpx.AsyncClient, exporter: Exporter, library: SeededLibrary, accounts: Accounts
) -> None:
    await accounts.connection.execute("DELETE FROM outbox")
    export_id = (await api.post(PATH)).json()["id"]
    await relay_of(exporter).relay_once()
    replaced = 0

    class ReplacesSource(InterruptedMultipart):
        async def stream_part(self, *arguments: object, **options: object) -> str:
            nonlocal replaced
            replaced += 1
            await library.storage.put(library.path("source"), bytes([replaced]) * 2**21)
            return await super().stream_part(*arguments, **options)

    restless = exporter.with_multipart(ReplacesSource(exporter.activities.writer.multipart, parts=100))
    async with worker(restless):
        await exporter.activities.client.get_workflow_handle(f"export_{export_id}").result()
    found = (await api.get(f"{PATH}/{export_id}")).json()
    assert (found["status"], found["error"]["details"]) == ("failed", {"reason": "changed"})
    assert replaced == 10


async def test_deletion_stops_the_export_and_removes_it(
    api: httpx.AsyncClient, exporter: Exporter, library: SeededLibrary, accounts: Accounts
) -> None:
    await accounts.connection.execute("DELETE FROM outbox")
    export_id = (await api.post(PATH)).json()["id"]
    relay, client = relay_of(exporter), exporter.activities.client
    await relay.relay_once()
    hanging = InterruptedMultipart(exporter.activities.writer.multipart, parts=1)
    async with worker(exporter.with_multipart(hanging)):
        await hanging.interrupted.wait()
        await api.delete(f"{PATH}/{export_id}")
        await relay.relay_once()
        await client.get_workflow_handle(f"delete_export_{export_id}").result()
    described = await client.get_workflow_handle(f"export_{export_id}").describe()
    assert described.status is WorkflowExecutionStatus.TERMINATED
    assert await library.storage.names(f"libraries/{library.library_id}/exports/") == []
    assert await accounts.connection.fetchval("SELECT count(*) FROM exports WHERE id = $1", export_id) == 0


async def test_purge_removes_expired_exports(exporter: Exporter, library: SeededLibrary, clock: MovableClock) -> None:
    ref = await exporter.request(library.library_id, expires_at=clock())
    async with worker(exporter):
        removed = await exporter.activities.client.execute_workflow(
            PurgeExportsWorkflow.run, id=f"purge_{new_id()}", task_queue=TaskQueue.CONTROL
        )
    assert removed >= 1
    sql = "SELECT count(*) FROM exports WHERE id = $1"
    assert await exporter.accounts.connection.fetchval(sql, ref.export_id) == 0
