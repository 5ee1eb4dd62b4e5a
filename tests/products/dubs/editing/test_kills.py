"""A worker process that is killed in a regeneration: the next one finishes it once, and it is charged once."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cutroom.jobs.lifecycle import JobRef
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.dubs.workflow import RedubWorkflow
from dev.scratch import environment_of
from tests.products.dubs.editing.conftest import Regenerator
from tests.products.dubs.editing.redub_worker import HANG_VARIABLE, PUBLISHED, SPEAKING


@asynccontextmanager
async def redub_worker(environment: dict[str, str], *, hangs_at: str | None) -> AsyncIterator[Process]:
    """A worker that is killed at the end."""
    variables = {**environment, **({HANG_VARIABLE: hangs_at} if hangs_at is not None else {})}
    module = "tests.products.dubs.editing.redub_worker"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, env=variables, stdout=PIPE, stderr=DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


async def read_until(process: Process, expected: str) -> None:
    assert process.stdout is not None
    while True:
        line = await process.stdout.readline()
        assert line, f"the worker exited before {expected}"
        if line.decode().strip() == expected:
            return


async def test_a_killed_regeneration_is_finished_and_charged_once(
    settings: Settings, dub_stage: Regenerator, tmp_path: Path
) -> None:
    async with dub_stage.workers():
        await dub_stage.make()
    line = next(each for each in (await dub_stage.read())["segments"] if each["start"] == 30.0)
    await dub_stage.patch(1, {"id": line["id"], "text": "Agora diz outra coisa."})
    path, funds = await dub_stage.audio_path(), await dub_stage.balance()
    started = (await dub_stage.api.post(f"{dub_stage.path}/regenerate", json={"revision": 2})).json()
    job_id = started["job"]["id"]
    assert funds - await dub_stage.balance() == started["quote"]["credits"] * 1000
    environment = environment_of(settings.model_copy(update={"cache_dir": tmp_path / "worker-cache"}))
    ref = JobRef(dub_stage.video.library_id, job_id, 1)
    job = await dub_stage.client.start_workflow(RedubWorkflow.run, ref, id=job_id, task_queue=TaskQueue.CONTROL)
    async with redub_worker(environment, hangs_at=SPEAKING) as process:
        await read_until(process, SPEAKING)
    assert await dub_stage.audio_path() == path
    async with redub_worker(environment, hangs_at=PUBLISHED) as process:
        await read_until(process, PUBLISHED)
    async with redub_worker(environment, hangs_at=None):
        await job.result()
    read = await dub_stage.read()
    assert (read["job"]["status"], await dub_stage.stale()) == ("ready", {})
    assert await dub_stage.audio_path() != path
    now = next(each for each in read["segments"] if each["id"] == line["id"])
    assert now["published"]["text"] == "Agora diz outra coisa."
    assert funds - await dub_stage.balance() == started["quote"]["credits"] * 1000
    events = await dub_stage.video.accounts.connection.fetch(
        "SELECT payload FROM events WHERE library_id = $1 AND type LIKE 'dub.%'", dub_stage.video.library_id
    )
    assert len(events) == 1
