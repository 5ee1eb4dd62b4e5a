"""A worker process with the real activities of dubs and a fake voice, for tests that kill it.

Prints a line when it speaks a text and when it publishes. With `CUTROOM_TEST_HANG`, it hangs at the named one.
"""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.worker import Worker

from cutroom.credits.pricing import load_prices
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.metrics import JobMetrics
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.dubs.activities import DubActivities
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.editing.activities import RedubActivities, RedubRequest
from cutroom.products.dubs.workflow import RedubWorkflow
from tests.products.dubs.editing.stub_engines import DubbingEngines, ToneSynthesizer
from tests.products.dubs.test_activities import no_pause

HANG_VARIABLE = "CUTROOM_TEST_HANG"
SPEAKING, PUBLISHED = "speaking", "published"
HANGS_AT = os.environ.get(HANG_VARIABLE)


class HangingSynthesizer(ToneSynthesizer):
    """Speaks tones, unless it hangs."""

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        print(SPEAKING, flush=True)
        while HANGS_AT == SPEAKING:
            time.sleep(60)
        return super().synthesize(text, voice=voice, language=language, speed=speed)


class HangingRedubs(RedubActivities):
    """Publishes, and hangs before the workflow knows."""

    @activity.defn(name="publish_redub")
    async def publish_redub(self, job: JobRef, dub: DubRef, mixed: list[str], request: RedubRequest) -> dict[str, Any]:
        result = await RedubActivities.publish_redub(self, job, dub, mixed, request)
        print(PUBLISHED, flush=True)
        while HANGS_AT == PUBLISHED:
            await asyncio.sleep(60)
        return result


async def main() -> None:
    settings = Settings()
    client, storage = await connect(settings), Storage.connect(settings)
    database = await Database.connect(settings.database_url.get_secret_value(), 4, application="redub-worker")
    artifacts = DubArtifacts(storage, LocalMediaCache(storage, Path(settings.cache_dir), max_bytes=10**8), Sandbox())
    engines = DubbingEngines()
    engines.voice = HangingSynthesizer()
    dubs = DubActivities(database, artifacts, engines, system_clock, no_pause)
    redubs = HangingRedubs(database, artifacts, engines, system_clock)
    jobs = JobActivities(database, client, load_prices(), system_clock, JobMetrics({}))
    speech = Worker(
        client,
        task_queue=TaskQueue.SPEECH,
        activities=[
            redubs.plan_redub,
            redubs.assign_redub_voices,
            dubs.synthesize_lines,
            redubs.schedule_redub_lines,
            dubs.mix_dub_chunks,
            redubs.transcribe_redub_lines,
            redubs.publish_redub,
        ],
    )
    control = Worker(
        client,
        task_queue=TaskQueue.CONTROL,
        workflows=[RedubWorkflow],
        activities=[jobs.start_job, jobs.complete_job, jobs.fail_job],
    )
    async with control, speech:
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
