"""A worker process with the real alignment activities and a fake aligner, for tests that kill it.

Prints one line of JSON when it starts and when it finishes a text. The text in `CUTROOM_TEST_HANG` is never finished.
"""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio.worker import Worker

from cutroom.engines.recognition.port import Word, WordAligner
from cutroom.engines.registry import Engines
from cutroom.engines.types import SAMPLE_RATE
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.transcripts.editing import alignment_chunks
from cutroom.products.transcripts.editing.activities import AlignmentActivities
from cutroom.products.transcripts.editing.workflow import AlignTranscriptWorkflow

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

HANG_VARIABLE = "CUTROOM_TEST_HANG"
FINISHED = "finished"
SEGMENTS = 2  # positions of one activity


class FakeAligner:
    """Puts one word behind the other, evenly."""

    name = "fake"
    max_seconds = 30.0

    def __init__(self, hang: str | None) -> None:
        self._hang = hang

    def align(self, samples: "Samples", text: str, *, language: str) -> tuple[Word, ...]:  # noqa: ARG002 (the port's signature)
        self._report(text, "started")
        while text == self._hang:
            time.sleep(60)
        words = text.split()
        each = len(samples) / SAMPLE_RATE / len(words)
        self._report(text, FINISHED)
        return tuple(Word(word, at * each, (at + 1) * each, 1.0) for at, word in enumerate(words))

    @staticmethod
    def _report(text: str, event: str) -> None:
        print(json.dumps({"text": text, "event": event}), flush=True)


class FakeEngines(Engines):
    """Only the fake aligner."""

    def __init__(self, aligner: WordAligner) -> None:
        self._fake = aligner

    def word_aligner(self) -> WordAligner:
        return self._fake


async def main() -> None:
    alignment_chunks.SEGMENTS = SEGMENTS
    settings = Settings()
    client, storage = await connect(settings), Storage.connect(settings)
    database = await Database.connect(settings.database_url.get_secret_value(), 2, application="alignment-worker")
    activities = AlignmentActivities(
        database,
        storage,
        LocalMediaCache(storage, Path(settings.cache_dir), max_bytes=10**8),
        Sandbox(),
        FakeEngines(FakeAligner(os.environ.get(HANG_VARIABLE))),
    )
    speech = Worker(
        client,
        task_queue=TaskQueue.SPEECH,
        activities=[
            activities.plan_alignment,
            activities.align_chunk,
            activities.publish_revision,
            activities.delete_alignment,
        ],
    )
    async with Worker(client, task_queue=TaskQueue.CONTROL, workflows=[AlignTranscriptWorkflow]), speech:
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
