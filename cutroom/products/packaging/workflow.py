"""The order in which a run of packaging goes; one that somebody reviews waits until they have decided."""

from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.errors import Code
    from cutroom.jobs.ids import AutomationType, parse_job_id
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.packaging.activities import PackagingActivities
    from cutroom.products.thumbnails.activities import ThumbnailActivities
    from cutroom.products.thumbnails.material import ThumbnailRef
    from cutroom.products.thumbnails.workflow import draw, gather, take

LOOK_AGAIN = timedelta(hours=1)  # at a decision, in case nobody woke us; a sign of life for the sweep as well
REVIEW_DAYS = 14


@workflow.defn(name="packaging")
class PackagingWorkflow:
    """One automation of a video."""

    def __init__(self) -> None:
        self._woken = False

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    @workflow.signal
    def wake(self) -> None:
        """Somebody has decided; what, is in the database."""
        self._woken = True

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        key = parse_job_id(ref.job_id)
        assert key is not None
        if key.automation is not AutomationType.THUMBNAIL:
            written: dict[str, Any] = await take(PackagingActivities.write_text, ref, plan, queue=Queue.SPEECH)
            return written
        thumbnail = ThumbnailRef.of(ref.library_id, plan)
        await gather(ref, thumbnail)
        if thumbnail.wanted.detects:
            await take(ThumbnailActivities.detect, ref, thumbnail)
        if thumbnail.wanted.needs_review:
            await self._review(ref, thumbnail)
        return await draw(ref, thumbnail)

    async def _review(self, ref: JobRef, thumbnail: ThumbnailRef) -> None:
        for _ in range(REVIEW_DAYS * 24):
            self._woken = False
            approved: bool | None = await take(PackagingActivities.read_decision, ref, thumbnail, queue=Queue.CONTROL)
            if approved is not None:
                break
            try:
                await workflow.wait_condition(lambda: self._woken, timeout=LOOK_AGAIN)
            except TimeoutError:
                continue
        else:
            raise _given_up("Nobody approved what was detected.", reason="NOT_REVIEWED")
        if not approved:
            raise _given_up("What was detected was rejected.", reason="REJECTED")


def _given_up(sentence: str, *, reason: str) -> ApplicationError:
    return ApplicationError(sentence, {"reason": reason}, type=Code.FAILED_PRECONDITION.value, non_retryable=True)


@workflow.defn(name="resume-packaging")
class ResumePackagingWorkflow:
    """Tells a run that waits for a review to look at what was decided."""

    @workflow.run
    async def run(self, target: dict[str, str]) -> None:
        try:
            await workflow.get_external_workflow_handle(target["workflow_id"]).signal(PackagingWorkflow.wake)
        except FailureError:
            workflow.logger.warning("the run that was to be woken has ended")
