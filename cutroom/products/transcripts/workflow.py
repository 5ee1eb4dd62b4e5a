"""Until a speech engine is part of Cutroom, a transcript's job ends by saying so."""

from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from cutroom.errors import Code
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import run_job


@workflow.defn(name="transcript")
class MakeTranscript:
    """Fails cleanly: what waits for it fails too, and nobody waits for ever."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, _ref: JobRef, _plan: dict[str, Any]) -> dict[str, Any]:
        raise ApplicationError(
            "This installation has no speech engine yet.", type=Code.FAILED_PRECONDITION.value, non_retryable=True
        )
