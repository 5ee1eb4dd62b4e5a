"""The order in which a sent picture becomes one of a character."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.characters.activities import CharacterActivities
    from cutroom.products.characters.service import CHARACTER_ID, IMAGE_ID

run_activity = ActivityRunner(
    Queue.VISION,
    start_to_close=timedelta(minutes=5),
    schedule_to_close=timedelta(hours=1),
    heartbeat_timeout=timedelta(seconds=10),
)


@workflow.defn(name="character")
class CharacterImageWorkflow:
    """Look at it, then forget what was sent."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        character_id, image_id = plan[CHARACTER_ID], plan[IMAGE_ID]
        try:
            await run_activity(CharacterActivities.keep_character_picture, ref, character_id, image_id)
        finally:
            await run_activity(CharacterActivities.clear_character_picture, ref, image_id)
        return {}
