"""Packaging workflow: writes a text, or renders a thumbnail after an optional review."""

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
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.packaging.activities import PackagingActivities
    from cutroom.products.thumbnails.activities import ThumbnailActivities
    from cutroom.products.thumbnails.inputs import ThumbnailRef
    from cutroom.products.thumbnails.workflow import prepare, render, vision

POLL_INTERVAL = timedelta(hours=1)  # in case the signal is lost; also keeps the job alive for the sweep
REVIEW_DAYS = 14
speech = vision.with_options(queue=TaskQueue.SPEECH)
control = vision.with_options(queue=TaskQueue.CONTROL)


@workflow.defn(name="packaging")
class PackagingWorkflow:
    """Runs one automation of a video."""

    def __init__(self) -> None:
        self._signaled = False

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    @workflow.signal
    def resume(self) -> None:
        """Signals that a decision is in the database."""
        self._signaled = True

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        key = parse_job_id(ref.job_id)
        assert key is not None
        if key.automation is not AutomationType.THUMBNAIL:
            return await speech.run(PackagingActivities.write_text, ref, plan)
        thumbnail = ThumbnailRef.of(ref.library_id, plan)
        await prepare(ref, thumbnail)
        if thumbnail.options.detects:
            await vision.run(ThumbnailActivities.detect_subjects, ref, thumbnail)
        if thumbnail.options.needs_review:
            await self._review(ref, thumbnail)
        return await render(ref, thumbnail)

    async def _review(self, ref: JobRef, thumbnail: ThumbnailRef) -> None:
        for _ in range(REVIEW_DAYS * 24):
            self._signaled = False
            approved = await control.run(PackagingActivities.read_decision, ref, thumbnail)
            if approved is not None:
                break
            try:
                await workflow.wait_condition(lambda: self._signaled, timeout=POLL_INTERVAL)
            except TimeoutError:
                continue
        else:
            raise _review_failure("The detected images were not reviewed in time.", reason="NOT_REVIEWED")
        if not approved:
            raise _review_failure("The detected images were rejected.", reason="REJECTED")


def _review_failure(message: str, *, reason: str) -> ApplicationError:
    return ApplicationError(message, {"reason": reason}, type=Code.FAILED_PRECONDITION.value, non_retryable=True)


@workflow.defn(name="resume-packaging")
class ResumePackagingWorkflow:
    """Signals a packaging workflow that its review was decided."""

    @workflow.run
    async def run(self, target: dict[str, str]) -> None:
        try:
            await workflow.get_external_workflow_handle(target["workflow_id"]).signal(PackagingWorkflow.resume)
        except FailureError:
            workflow.logger.warning("packaging workflow already ended")
