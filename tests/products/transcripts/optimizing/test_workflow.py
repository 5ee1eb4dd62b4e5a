"""The workflow of optimized scripts, with its activity on a worker."""

import httpx
from temporalio.client import Client
from temporalio.worker import Worker

from cutroom.credits.pricing import load_prices
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.metrics import JobMetrics
from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.transcripts.optimizing.activities import OptimizingActivities
from cutroom.products.transcripts.optimizing.workflow import OptimizeWorkflow
from cutroom.web.runtime import Runtime
from tests.products.conftest import TranscribedVideo
from tests.products.transcripts.optimizing.test_routes import ScriptStage, WordingEngines


async def run(client: Client, runtime: Runtime, library_id: str, job_id: str) -> None:
    """Run a job by workers."""
    jobs = JobActivities(runtime.database, client, load_prices(None), system_clock, JobMetrics({}))
    scripts = OptimizingActivities(runtime.database, WordingEngines(), system_clock)
    control = Worker(
        client,
        task_queue=TaskQueue.CONTROL,
        workflows=[OptimizeWorkflow],
        activities=[jobs.start_job, jobs.complete_job, jobs.fail_job],
    )
    speech = Worker(client, task_queue=TaskQueue.SPEECH, activities=[scripts.optimize_transcript])
    async with control, speech:
        job = JobRef(library_id, job_id, 1)
        await client.execute_workflow(OptimizeWorkflow.run, job, id=job_id, task_queue=TaskQueue.CONTROL)


async def test_the_job_becomes_ready(
    api: httpx.AsyncClient, runtime: Runtime, settings: Settings, transcribed: TranscribedVideo
) -> None:
    stage = ScriptStage(runtime, api, transcribed)
    job_id = (await stage.request()).json()["job"]["id"]
    client = await connect(settings)
    await run(client, runtime, transcribed.library_id, job_id)
    found = await stage.get()
    assert (found["status"], found["job"]["status"], found["staleSegments"]) == ("ready", "ready", 0)
