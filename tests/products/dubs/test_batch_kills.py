"""A worker process that is killed in a batch of lines: the next one continues after the last finished line."""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cutroom.jobs.lifecycle import JobRef
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.line_sync import natural_seconds
from cutroom.products.dubs.script import AssignedVoice, DubLine, DubScript, to_json
from cutroom.products.dubs.synthesis import read_line
from cutroom.products.dubs.workflow import DubWorkflow
from cutroom.web.runtime import Runtime
from dev.scratch import environment_of
from tests.products.dubs.batch_worker import FINISHED, HANG_VARIABLE

LINES = 8
KILLED_AT = (3, 6)  # the lines at which it is killed, one after the other
VOICE = AssignedVoice("fake", "voice")


def script_lines() -> list[DubLine]:
    lines, start = [], 0.0
    for number in range(LINES):
        text = f"Esta é a linha número {number} de oito."
        end = start + natural_seconds(text, language="pt")
        lines.append(DubLine(number, start, end, end, "speaker_1", "source", (text,)))
        start = end
    return lines


@asynccontextmanager
async def batch_worker(environment: dict[str, str], *, hang: str | None) -> AsyncIterator[Process]:
    """A worker that is killed at the end, in the middle of a line if there is one it hangs at."""
    variables = {**environment, **({HANG_VARIABLE: hang} if hang is not None else {})}
    module = "tests.products.dubs.batch_worker"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, env=variables, stdout=PIPE, stderr=DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


async def read_events(process: Process, *, until: tuple[str, str]) -> list[tuple[str, str]]:
    """Texts and events up to and including the given one."""
    assert process.stdout is not None
    events: list[tuple[str, str]] = []
    while until not in events:
        line = await process.stdout.readline()
        assert line, f"the worker exited after {events}"
        event = json.loads(line)
        events.append((event["text"], event["event"]))
    return events


async def test_killed_batch_continues_after_the_last_finished_line(
    settings: Settings, runtime: Runtime, tmp_path: Path
) -> None:
    changed = settings.model_copy(update={"cache_dir": tmp_path / "cache"})
    artifacts = DubArtifacts(
        runtime.storage, LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8), Sandbox()
    )
    job = JobRef(new_id(), f"dub_{new_id()}_pt_plus", 1)
    dub = DubRef(job.library_id, job.job_id.split("_")[1], "pt", "plus")
    lines = script_lines()
    script = DubScript("pt", "plus", "en", "publishable", (), 60.0, tuple(lines), "separation")
    await artifacts.put(dub.path("script.json"), to_json(script))
    await artifacts.put(dub.path("voices.json"), to_json({"speaker_1": VOICE}))
    client, environment = await connect(changed), environment_of(changed)
    handle = await client.start_workflow(DubWorkflow.run, job, id=job.job_id, task_queue=TaskQueue.CONTROL)
    events: list[tuple[str, str]] = []
    for number in KILLED_AT:
        text = lines[number].texts[0]
        async with batch_worker(environment, hang=text) as process:
            events += await read_events(process, until=(text, "started"))
    async with batch_worker(environment, hang=None) as process:
        events += await read_events(process, until=(lines[-1].texts[0], FINISHED))
        await handle.result()
    finished = Counter(text for text, event in events if event == FINISHED)
    assert finished == {line.texts[0]: 1 for line in lines}
    started = Counter(text for text, event in events if event == "started")
    assert started == {line.texts[0]: 2 if line.number in KILLED_AT else 1 for line in lines}
    stored = [await read_line(artifacts, dub=dub, line=line, voice=VOICE) for line in lines]
    assert [each.number for each in stored] == list(range(LINES))
