"""Defines the workflows that store and delete character images."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_control_activity, run_job
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.characters.activities import CharacterActivities
    from cutroom.products.characters.service import CHARACTER_ID, DELETE_WORKFLOW, IMAGE_ID, ImageDeletion

vision = ActivityRunner(
    TaskQueue.VISION,
    start_to_close=timedelta(minutes=5),
    schedule_to_close=timedelta(hours=1),
    heartbeat_timeout=timedelta(seconds=10),
)


@workflow.defn(name="character")
class CharacterImageWorkflow:
    """Decodes and stores an uploaded character image, then deletes the upload."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_job(job, partial(self._store, job))

    async def _store(self, job: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        character_id, image_id = plan[CHARACTER_ID], plan[IMAGE_ID]
        try:
            await vision.run(CharacterActivities.store_character_image, job, character_id, image_id)
        finally:
            await vision.run(CharacterActivities.delete_character_upload, job, image_id)
        return {}


@workflow.defn(name=DELETE_WORKFLOW)
class DeleteCharacterImagesWorkflow:
    """Deletes the stored images of a deleted character; retried until the object store has deleted them."""

    @workflow.run
    async def run(self, deletion: ImageDeletion) -> None:
        await run_control_activity(CharacterActivities.delete_character_images, deletion)
