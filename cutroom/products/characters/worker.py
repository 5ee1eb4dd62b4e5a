"""Builds the character image activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.library.branding import CharacterImageStore
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.characters.activities import CharacterActivities


def register(context: WorkerContext) -> Activities:
    characters = CharacterActivities(
        database=context.database,
        media_cache=context.media_cache,
        image_store=CharacterImageStore(context.storage, context.sandbox),
        clock=context.clock,
    )
    return {
        TaskQueue.CONTROL: [characters.delete_character_images],
        TaskQueue.VISION: [characters.store_character_image, characters.delete_character_upload],
    }
