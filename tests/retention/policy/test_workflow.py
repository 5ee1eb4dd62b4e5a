"""The scheduled workflow, on a database of its own: it visits every library, and other tests leave thousands."""

import os
from collections.abc import AsyncIterator

import pytest
from temporalio.worker import Worker

from cutroom.jobs.worker import Activity
from cutroom.library.rules import video_path
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database, insert
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.retention.policy.activities import RetentionActivities
from cutroom.retention.policy.workflow import ApplyRetentionWorkflow
from dev.scratch import Accounts, drop_scratch, scratch
from dev.services import control

SOURCE_BYTES = (100, 30)  # of one video in each library


@pytest.fixture
async def own_settings() -> AsyncIterator[Settings]:
    control.start_all()
    name = f"policy_{os.getpid()}"
    yield await scratch(name)
    await drop_scratch(name)


async def test_workflow_applies_the_policy_of_every_library(own_settings: Settings) -> None:
    accounts, storage = await Accounts.open(own_settings), Storage.connect(own_settings)
    multipart = Multipart.connect(own_settings)
    database = await Database.connect(own_settings.worker_database, 5, application="cutroom-tests")
    try:
        libraries = [(await accounts.person()).library_id for _ in SOURCE_BYTES]
        for library_id, size in zip(libraries, SOURCE_BYTES, strict=True):
            video_id = new_id()
            row = {"library_id": library_id, "id": video_id, "created_at": system_clock(), "status": "ready"}
            await insert(accounts.connection, "videos", row)
            await storage.put(video_path(library_id, video_id, "source"), b"x" * size)
        retention = RetentionActivities(database, storage, multipart, system_clock)
        registered: list[Activity] = [retention.list_libraries, retention.apply_retention, retention.finish_retention]
        client = await connect(own_settings)
        worker = Worker(client, task_queue=TaskQueue.CONTROL, workflows=[ApplyRetentionWorkflow], activities=registered)
        async with worker:
            await client.execute_workflow(
                "apply-retention", id=f"apply-retention_{new_id()}", task_queue=TaskQueue.CONTROL
            )
        scans = "SELECT originals_bytes FROM storage_scans WHERE library_id = $1"
        found = [await accounts.connection.fetchval(scans, library_id) for library_id in libraries]
        assert found == list(SOURCE_BYTES)
    finally:
        await database.close()
        await multipart.close()
        await accounts.close()
