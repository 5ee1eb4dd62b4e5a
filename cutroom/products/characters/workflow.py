"""The order in which a sent picture becomes one of a character."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import Stepper, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.characters.activities import CharacterActivities
    from cutroom.products.characters.service import CHARACTER_ID, IMAGE_ID

_take = Stepper(Queue.VISION, one_try=timedelta(minutes=5), all_tries=timedelta(hours=1), silence=timedelta(seconds=10))


@workflow.defn(name="character")
class KeepPicture:
    """Look at it, then forget what was sent."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        character_id, image_id = plan[CHARACTER_ID], plan[IMAGE_ID]
        try:
            await _take(CharacterActivities.keep_character_picture, ref, character_id, image_id)
        finally:
            await _take(CharacterActivities.clear_character_picture, ref, image_id)
        return {}
