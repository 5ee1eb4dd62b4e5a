"""A worker process that is killed while it regenerates and publishes captions: the next one finishes both."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cutroom.jobs.lifecycle import JobRef
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from cutroom.products.captions.editing.tracks import TrackRef
from cutroom.products.captions.editing.workflow import PublishCaptionsWorkflow
from cutroom.products.captions.workflow import CaptionsWorkflow
from dev.scratch import environment_of
from tests.products.captions.editing.caption_worker import HANG_VARIABLE, STORING, TRANSLATING
from tests.products.captions.editing.track_stage import LANGUAGE, CaptionTrackStage


@asynccontextmanager
async def caption_worker(environment: dict[str, str], *, is_hanging: bool) -> AsyncIterator[Process]:
    """A worker that is killed at the end."""
    variables = {**environment, **({HANG_VARIABLE: "yes"} if is_hanging else {})}
    module = "tests.products.captions.editing.caption_worker"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, env=variables, stdout=PIPE, stderr=DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


async def read_until(process: Process, expected: set[str]) -> None:
    """Wait until the worker has started all of these."""
    assert process.stdout is not None
    seen: set[str] = set()
    while not expected <= seen:
        line = await process.stdout.readline()
        assert line, f"the worker exited after {seen}"
        seen.add(line.decode().strip())


async def test_killed_regeneration_and_publication_are_finished_once(
    settings: Settings, track: CaptionTrackStage
) -> None:
    await track.edit(1, {"op": "setText", "id": "s2", "text": "O trem sai."})
    await track.edit_transcript(1, {"op": "replaceText", "id": "s1", "text": "Good evening."})
    job_id = (await track.regenerate(2)).json()["job"]["id"]
    rows, content = await track.rows(), await track.file()
    library_id, video_id = track.transcribed.library_id, track.transcribed.video_id
    client, environment = await connect(settings), environment_of(settings)
    edited = TrackRef(library_id, video_id, LANGUAGE, 2)
    publication = await client.start_workflow(
        PublishCaptionsWorkflow.run, edited, id=f"publish-captions_{new_id()}", task_queue="control"
    )
    job = await client.start_workflow(
        CaptionsWorkflow.run, JobRef(library_id, job_id, 1), id=job_id, task_queue="control"
    )
    async with caption_worker(environment, is_hanging=True) as process:
        await read_until(process, {TRANSLATING, STORING})
    assert (await track.rows(), await track.file()) == (rows, content)
    async with caption_worker(environment, is_hanging=False):
        await job.result()
        await publication.result()
    found = await track.get()
    assert [(each["text"], each["stale"]) for each in found["segments"]] == [("Good evening.", []), ("O trem sai.", [])]
    assert (found["revision"], await track.balance()) == (3, 10_000 - 100)
    assert "Good evening." in await track.file()
    assert "O trem sai." in await track.file()
