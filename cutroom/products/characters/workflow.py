"""The order in which a sent picture becomes one of a character."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.characters.activities import CharacterActivities
    from cutroom.products.characters.service import CHARACTER_ID, IMAGE_ID

RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15))
HEARTBEAT = timedelta(seconds=10)
STEP_TIMEOUT = timedelta(minutes=5)
WHOLE_TIMEOUT = timedelta(hours=1)


@workflow.defn(name="character")
class KeepPicture:
    """Look at it, then forget what was sent."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        character_id, image_id = plan[CHARACTER_ID], plan[IMAGE_ID]
        try:
            await _do(CharacterActivities.keep_character_picture, ref, character_id, image_id)
        finally:
            await _do(CharacterActivities.clear_character_picture, ref, image_id)
        return {}


async def _do(step: Any, *arguments: Any) -> Any:  # noqa: ANN401 (any of the activities)
    return await workflow.execute_activity_method(
        step,
        args=list(arguments),
        task_queue=Queue.VISION,
        start_to_close_timeout=STEP_TIMEOUT,
        schedule_to_close_timeout=WHOLE_TIMEOUT,
        heartbeat_timeout=HEARTBEAT,
        retry_policy=RETRY,
    )
