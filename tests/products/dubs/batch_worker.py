"""A worker process with the real synthesis of dub lines and a fake voice, for tests that kill it.

Prints one line of JSON when it starts and when it finishes a text. The text in `CUTROOM_TEST_HANG` is never finished.
"""

import asyncio
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from temporalio import activity
from temporalio.worker import Worker

from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import SpeechSynthesizer, StockVoice, SynthesizedSpeech
from cutroom.jobs.lifecycle import JobRef
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.dubs.activities import DubActivities, DubPlan
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.line_sync import natural_seconds
from cutroom.products.dubs.mixing import LINE_RATE
from cutroom.products.dubs.script import DubBatch
from cutroom.products.dubs.workflow import DubWorkflow
from tests.products.dubs.fake_activities import FakeDubs, FakeJobs

HANG_VARIABLE = "CUTROOM_TEST_HANG"
FINISHED = "finished"


class FakeSynthesizer:
    """Speaks a text as a tone of its natural duration."""

    name = "fake"

    def __init__(self, hang: str | None) -> None:
        self._hang = hang

    def voices(self) -> Sequence[StockVoice]:
        return ()

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:  # noqa: ARG002 - the port's signature
        self._report(text, "started")
        while text == self._hang:
            time.sleep(60)
        count = round(natural_seconds(text, language=language) / speed * LINE_RATE)
        self._report(text, FINISHED)
        return SynthesizedSpeech(np.full(count, 0.1, np.float32), LINE_RATE)

    @staticmethod
    def _report(text: str, event: str) -> None:
        print(json.dumps({"text": text, "event": event}), flush=True)


class FakeEngines(Engines):
    """Only the fake voice."""

    def __init__(self, synthesizer: SpeechSynthesizer) -> None:
        self._fake = synthesizer

    def synthesizers(self) -> Sequence[SpeechSynthesizer]:
        return [self._fake]


class OneBatchDubs(FakeDubs):
    """Plans the stored script as one batch."""

    def __init__(self, artifacts: DubArtifacts) -> None:
        super().__init__({}, {})
        self._artifacts = artifacts

    @activity.defn(name="plan_dub")
    async def plan_dub(self, _job: JobRef, dub: DubRef) -> DubPlan:
        lines = (await self._artifacts.script(dub)).lines
        return DubPlan(1, [DubBatch(0, len(lines))], len(lines))


async def no_pause() -> None:
    """No interactive speech is synthesized beside the dub."""


async def main() -> None:
    settings = Settings()
    client, storage = await connect(settings), Storage.connect(settings)
    database = await Database.connect(settings.database_url.get_secret_value(), 2, application="batch-worker")
    artifacts = DubArtifacts(storage, LocalMediaCache(storage, Path(settings.cache_dir), max_bytes=10**8), Sandbox())
    engines = FakeEngines(FakeSynthesizer(os.environ.get(HANG_VARIABLE)))
    real, fake = DubActivities(database, artifacts, engines, system_clock, no_pause), OneBatchDubs(artifacts)
    replaced = {"synthesize_lines": real.synthesize_lines}
    activities = [replaced.get(each.__name__, each) for each in fake.activities()]
    control = Worker(client, task_queue=TaskQueue.CONTROL, workflows=[DubWorkflow], activities=FakeJobs().activities())
    async with control, Worker(client, task_queue=TaskQueue.SPEECH, activities=activities):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
