"""Deleting stored character images on Temporal."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from temporalio.client import Client
from temporalio.worker import Worker

from cutroom.library.branding import CharacterImageStore
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage.objects import Storage
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.characters.activities import CharacterActivities
from cutroom.products.characters.service import DELETE_WORKFLOW
from cutroom.products.characters.workflow import DeleteCharacterImagesWorkflow
from cutroom.web.runtime import Runtime


@dataclass
class FlakyStorage:
    """Storage whose second deletion fails once."""

    storage: Storage
    calls: int = 0

    async def delete(self, path: str) -> None:
        self.calls += 1
        if self.calls == 2:
            raise OSError("connection reset")
        await self.storage.delete(path)


async def test_images_are_deleted_although_the_object_store_fails(
    settings: Settings, runtime: Runtime, tmp_path: Path
) -> None:
    paths = [f"tests/{new_id()}.png" for _ in range(3)]
    for path in paths:
        await runtime.storage.put(path, b"image")
    flaky = FlakyStorage(runtime.storage)
    activities = CharacterActivities(
        runtime.database,
        LocalMediaCache(runtime.storage, tmp_path, max_bytes=1_000),
        CharacterImageStore(cast("Storage", flaky), Sandbox()),
        system_clock,
    )
    client: Client = await connect(settings)
    async with Worker(
        client,
        task_queue=TaskQueue.CONTROL,
        workflows=[DeleteCharacterImagesWorkflow],
        activities=[activities.delete_character_images],
    ):
        await client.execute_workflow(  # with the argument as the outbox holds it
            DELETE_WORKFLOW, {"paths": paths}, id=f"{DELETE_WORKFLOW}_{new_id()}", task_queue=TaskQueue.CONTROL
        )
    assert flaky.calls == 2 + 3
    assert [await runtime.storage.size(path) for path in paths] == [None] * 3
