"""A worker process with the real activities of captions and a fake translator, for tests that kill it.

Prints a line when it starts to translate, and when it starts to store a file. With `CUTROOM_TEST_HANG`, both hang.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from temporalio.worker import Worker

from cutroom.credits.pricing import load_prices
from cutroom.engines.types import OnProgress
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.metrics import JobMetrics
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.captions.editing.activities import CaptionEditingActivities
from cutroom.products.captions.editing.workflow import PublishCaptionsWorkflow
from cutroom.products.captions.workflow import CaptionsWorkflow
from tests.products.captions.editing.track_stage import ROUTE
from tests.products.captions.test_activities import EchoTranslator, FakeEngines

HANG_VARIABLE = "CUTROOM_TEST_HANG"
TRANSLATING, STORING = "translating", "storing"
IS_HANGING = HANG_VARIABLE in os.environ


@dataclass(frozen=True)
class HangingTranslator(EchoTranslator):
    """Returns sentences unchanged, unless it hangs."""

    def translate(
        self, sentences: Sequence[str], *, source: str, target: str, on_progress: OnProgress | None = None
    ) -> list[str]:
        print(TRANSLATING, flush=True)
        while IS_HANGING:
            time.sleep(60)
        return super().translate(sentences, source=source, target=target, on_progress=on_progress)


class HangingStorage(Storage):
    """Stores objects, unless it hangs."""

    async def put(
        self, path: str, content: Path | bytes | AsyncIterable[bytes], *, expected_bytes: int | None = None
    ) -> None:
        print(STORING, flush=True)
        while IS_HANGING:
            await asyncio.sleep(60)
        await super().put(path, content, expected_bytes=expected_bytes)


async def main() -> None:
    settings = Settings()
    client, storage = await connect(settings), HangingStorage.connect(settings)
    database = await Database.connect(settings.database_url.get_secret_value(), 4, application="caption-worker")
    engines = FakeEngines(HangingTranslator("one", ROUTE))
    captions = CaptionEditingActivities(database, storage, engines, system_clock)
    jobs = JobActivities(database, client, load_prices(), system_clock, JobMetrics({"captions": "captions"}))
    speech = Worker(
        client, task_queue=TaskQueue.SPEECH, activities=[captions.publish_captions, captions.regenerate_captions]
    )
    control = Worker(
        client,
        task_queue=TaskQueue.CONTROL,
        workflows=[CaptionsWorkflow, PublishCaptionsWorkflow],
        activities=[jobs.start_job, jobs.complete_job, jobs.fail_job],
    )
    async with control, speech:
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
