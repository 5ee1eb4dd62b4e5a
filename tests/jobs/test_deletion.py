"""The delete-objects workflow on real Temporal and object storage, and what its activity refuses to delete."""

from dataclasses import asdict
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from cutroom.jobs import lifecycle, service
from cutroom.jobs.deletion import (
    DELETE_WORKFLOW,
    ObjectDeletion,
    StoredObjects,
    delete_output,
    lock_output,
    record_deleted_outputs,
)
from cutroom.jobs.deletion_activities import DeletionActivities
from cutroom.jobs.ids import JobKey, JobType
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.service import NewJob
from cutroom.jobs.states import JobState
from cutroom.jobs.workflow import DeleteObjectsWorkflow
from cutroom.library.rules import video_path
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.relay import Relay
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.credits.conftest import PRICES
from tests.jobs.conftest import JobContext


@pytest.fixture
async def client(settings: Settings, accounts: Accounts) -> Client:
    await accounts.connection.execute("DELETE FROM outbox")
    return await connect(settings)


@pytest.fixture
def activities(runtime: Runtime) -> DeletionActivities:
    return DeletionActivities(runtime.database, runtime.storage)


async def finished_job(
    runtime: Runtime, job_context: JobContext, *, job_type: JobType = JobType.DOWNLOAD, **result: object
) -> JobKey:
    key = JobKey(job_type, new_id())
    async with runtime.database.transaction(job_context.library_id) as connection:
        job = NewJob(key, job_context.video_id)
        await service.create_jobs(connection, job_context.principal, [job], prices=PRICES, now=system_clock())
        ref = JobRef(job_context.library_id, key.id, 1)
        await lifecycle.start(connection, ref, prices=PRICES, now=system_clock())
        await lifecycle.complete(connection, ref, result=result, now=system_clock())
    return key


async def delete(runtime: Runtime, job_context: JobContext, key: JobKey, objects: StoredObjects) -> None:
    async with runtime.database.transaction(job_context.library_id) as connection:
        job = await lock_output(connection, job_context.library_id, key)
        assert job is not None
        await delete_output(connection, job, objects=objects, now=system_clock())


async def test_objects_of_a_deleted_output_are_deleted_by_a_workflow(
    runtime: Runtime, job_context: JobContext, client: Client, activities: DeletionActivities
) -> None:
    library_id, storage = job_context.library_id, runtime.storage
    folder = video_path(library_id, job_context.video_id, "downloads/a/")
    names = ["one", "two", "deep/three"]
    single, kept = (video_path(library_id, job_context.video_id, name) for name in ("downloads/b", "downloads/ab"))
    for path in (*(f"{folder}{name}" for name in names), single, kept):
        await storage.put(path, b"content")
    key = await finished_job(runtime, job_context)
    await delete(runtime, job_context, key, StoredObjects(prefixes=(folder,), paths=(single,)))
    relay = Relay(runtime.database, client, running_jobs_per_library=10)
    await relay.relay_once()
    async with Worker(
        client, task_queue="control", workflows=[DeleteObjectsWorkflow], activities=[activities.delete_objects]
    ):
        await client.get_workflow_handle(f"{DELETE_WORKFLOW}_{key.id}").result(rpc_timeout=timedelta(seconds=60))
    assert await storage.names(folder) == []
    assert await storage.size(single) is None
    assert await storage.size(kept) is not None


async def test_output_is_locked_and_deleted_once(runtime: Runtime, job_context: JobContext) -> None:
    key = await finished_job(runtime, job_context)
    await delete(runtime, job_context, key, StoredObjects())
    async with runtime.database.transaction(job_context.library_id) as connection:
        assert await lock_output(connection, job_context.library_id, key) is None
        assert await lock_output(connection, job_context.library_id, JobKey(JobType.DOWNLOAD, new_id())) is None
        job = await service.get_job(connection, job_context.library_id, key.id)
    assert (job.status, job.result) == (JobState.READY, None)
    assert job.output_deleted_at is not None


async def test_outputs_of_one_type_are_recorded_as_deleted_once(runtime: Runtime, job_context: JobContext) -> None:
    library_id, video_id = job_context.library_id, job_context.video_id
    first, second = [await finished_job(runtime, job_context, receipt={"charged": 1}, files=[1]) for _ in range(2)]
    other = await finished_job(runtime, job_context, job_type=JobType.SHORTS, files=[1])
    running = JobKey(JobType.DOWNLOAD, new_id())
    await delete(runtime, job_context, first, StoredObjects())
    async with runtime.database.transaction(library_id) as connection:
        await service.create_jobs(
            connection, job_context.principal, [NewJob(running, video_id)], prices=PRICES, now=system_clock()
        )
        before = {key: await service.get_job(connection, library_id, key.id) for key in (first, other, running)}
        now = system_clock()
        await record_deleted_outputs(connection, library_id, new_id(), job_type=JobType.DOWNLOAD, now=now)
        assert (await service.get_job(connection, library_id, second.id)).output_deleted_at is None
        await record_deleted_outputs(connection, library_id, video_id, job_type=JobType.DOWNLOAD, now=now)
        deleted = await service.get_job(connection, library_id, second.id)
        after = {key: await service.get_job(connection, library_id, key.id) for key in before}
    assert (deleted.status, deleted.output_deleted_at, deleted.result) == (
        JobState.READY,
        now,
        {"receipt": {"charged": 1}},
    )
    assert after == before


async def test_output_of_a_job_that_runs_again_stays(
    runtime: Runtime, job_context: JobContext, activities: DeletionActivities
) -> None:
    key, library_id = await finished_job(runtime, job_context), job_context.library_id
    path = video_path(library_id, job_context.video_id, "downloads/c")
    await runtime.storage.put(path, b"content")
    await delete(runtime, job_context, key, StoredObjects(paths=(path,)))
    deletion = ObjectDeletion(library_id, StoredObjects(paths=(path,)), JobRef(library_id, key.id, 1))
    async with runtime.database.transaction(library_id) as connection:
        job = NewJob(key, job_context.video_id)
        (again,) = await service.create_jobs(
            connection, job_context.principal, [job], prices=PRICES, now=system_clock()
        )
    assert again
    await ActivityEnvironment().run(activities.delete_objects, deletion)
    assert await runtime.storage.size(path) is not None


@pytest.mark.parametrize(
    "path",
    ["", "libraries/", "libraries/{library}/", "libraries/{other}/videos/a", "libraries/{library}/../{other}/a", "a"],
)
@pytest.mark.parametrize("field", ["paths", "prefixes"])
async def test_paths_outside_of_the_library_are_refused(
    runtime: Runtime, job_context: JobContext, activities: DeletionActivities, path: str, field: str
) -> None:
    library_id, other = job_context.library_id, new_id()
    stored = f"libraries/{other}/videos/a"
    await runtime.storage.put(stored, b"content")
    refused = path.format(library=library_id, other=other)
    own = video_path(library_id, job_context.video_id, "own")
    objects = StoredObjects(**{**asdict(StoredObjects()), field: (own, refused)})
    await runtime.storage.put(own, b"content")
    with pytest.raises(ApplicationError) as raised:
        await ActivityEnvironment().run(activities.delete_objects, ObjectDeletion(library_id, objects))
    assert raised.value.non_retryable
    assert await runtime.storage.size(stored) is not None
    assert await runtime.storage.size(own) is not None
