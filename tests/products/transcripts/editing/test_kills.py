"""A worker process that is killed while it aligns: the next one continues with the chunk, and publishes."""

import asyncio
import json
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from cutroom.products.transcripts import service
from cutroom.products.transcripts.editing.service import AlignmentRef
from cutroom.products.transcripts.editing.workflow import AlignTranscriptWorkflow
from cutroom.web.runtime import Runtime
from dev.scratch import environment_of
from tests.products.conftest import TranscribedVideo
from tests.products.transcripts.editing.alignment_worker import FINISHED, HANG_VARIABLE

SEGMENTS = 6  # three chunks of the worker
KILLED_AT = (1, 4)  # the segments at which it is killed, one after the other


def text_of(number: int) -> str:
    return f"Inserted sentence {number}."


@asynccontextmanager
async def alignment_worker(environment: dict[str, str], *, hang: str | None) -> AsyncIterator[Process]:
    """A worker that is killed at the end, in the middle of a segment if there is one it hangs at."""
    variables = {**environment, **({HANG_VARIABLE: hang} if hang is not None else {})}
    module = "tests.products.transcripts.editing.alignment_worker"
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


async def test_killed_alignment_continues_with_its_chunk_and_publishes(
    settings: Settings, runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo, tmp_path: Path
) -> None:
    library_id, video_id = transcribed.library_id, transcribed.video_id
    sound = tmp_path / "speech.flac"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=300:r=16000:d=60", sound], check=True)
    await runtime.storage.put(service.speech_path(library_id, video_id), sound)
    operations = [
        {"op": "insert", "start": 10.0 + at, "end": 10.8 + at, "text": text_of(at), "speaker": "speaker_2"}
        for at in range(SEGMENTS)
    ]
    # The two recognized segments are the first chunk.
    edited = await api.patch(f"/videos/{video_id}/transcript", json={"revision": 1, "operations": operations})
    assert edited.status_code == 200
    changed = settings.model_copy(update={"cache_dir": tmp_path / "cache"})
    client, environment = await connect(changed), environment_of(changed)
    ref = AlignmentRef(library_id, video_id, 2)
    handle = await client.start_workflow(AlignTranscriptWorkflow.run, ref, id=ref.workflow_id, task_queue="control")
    events: list[tuple[str, str]] = []
    for number in KILLED_AT:
        async with alignment_worker(environment, hang=text_of(number)) as process:
            events += await read_events(process, until=(text_of(number), "started"))
    async with alignment_worker(environment, hang=None) as process:
        events += await read_events(process, until=(text_of(SEGMENTS - 1), FINISHED))
        await handle.result()
    # Only the first segment of an interrupted chunk is aligned again; finished chunks are not.
    finished = Counter(text for text, event in events if event == FINISHED)
    assert finished == {text_of(at): 2 if at == 0 else 1 for at in range(SEGMENTS)}
    async with runtime.database.transaction(library_id) as connection:
        transcript = await service.load_transcript(connection, library_id, video_id)
        published = await connection.fetchval(
            "SELECT published_revision FROM transcripts WHERE video_id = $1", video_id
        )
    assert (published, transcript.alignment_path) == (2, service.revision_words_path(library_id, video_id, 2))
    assert [row["words"] for row in transcript.segments] == [2, 8, *[3] * SEGMENTS]
    assert not await runtime.storage.names(f"libraries/{library_id}/videos/{video_id}/transcript/chunks/")
