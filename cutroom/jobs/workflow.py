"""The envelope around a job's steps, inside its workflow; and the sweep."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.errors import Code
    from cutroom.jobs.activities import JobActivities
    from cutroom.jobs.lifecycle import Failure, JobRef
    from cutroom.platform.temporal import Queue

# The envelope's own steps are short and must happen: they are tried until the database is back.
ENVELOPE_RETRY = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_interval=timedelta(seconds=10))
ENVELOPE_TIMEOUT = timedelta(seconds=30)
SWEEP_TIMEOUT = timedelta(minutes=5)

Steps = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class ActivityRunner:
    """Takes a workflow's long steps: on which queue, and how long each may take, be tried again, and be silent."""

    queue: Queue
    start_to_close: timedelta
    schedule_to_close: timedelta = timedelta(hours=24)
    heartbeat_timeout: timedelta = timedelta(seconds=15)  # after which a worker counts as gone
    maximum_interval: timedelta = timedelta(seconds=15)  # between two tries

    async def __call__(
        self,
        step: Any,  # noqa: ANN401 (any of the activities)
        *arguments: Any,  # noqa: ANN401
        queue: Queue | None = None,
        start_to_close: timedelta | None = None,
        priority: Priority = Priority.default,
    ) -> Any:  # noqa: ANN401
        return await workflow.execute_activity_method(
            step,
            args=list(arguments),
            task_queue=queue or self.queue,
            start_to_close_timeout=start_to_close or self.start_to_close,
            schedule_to_close_timeout=self.schedule_to_close,
            heartbeat_timeout=self.heartbeat_timeout,
            retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=self.maximum_interval),
            priority=priority,
        )


async def run_control_activity(step: Any, *arguments: Any, priority: Priority = Priority.default) -> Any:  # noqa: ANN401
    """Take a short step that must happen."""
    return await workflow.execute_activity_method(
        step,
        args=list(arguments),
        task_queue=Queue.CONTROL,
        start_to_close_timeout=ENVELOPE_TIMEOUT,
        retry_policy=ENVELOPE_RETRY,
        priority=priority,
    )


async def run_job(ref: JobRef, steps: Steps) -> None:
    """Begin the job, take its steps, and end it one way or the other; its plan is given to the steps."""
    plan = await run_control_activity(JobActivities.start_job, ref)
    if plan is None:
        return
    try:
        result = await steps(plan)
    except FailureError as error:
        await run_control_activity(JobActivities.fail_job, ref, failure_of(error))
        return
    await run_control_activity(JobActivities.complete_job, ref, result)


def failure_of(error: FailureError) -> Failure:
    """What to tell the caller: an activity's own words when it had some, and no more than INTERNAL otherwise."""
    cause: BaseException | None = error
    if isinstance(error, ActivityError):
        cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type in set(Code):
        details = cause.details[0] if cause.details and isinstance(cause.details[0], dict) else {}
        return Failure(cause.type, cause.message, details=details)
    return Failure(Code.INTERNAL, "The work could not be finished.")


@workflow.defn(name="sweep-jobs")
class SweepJobsWorkflow:
    """Started every minute by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            JobActivities.sweep_jobs,
            task_queue=Queue.CONTROL,
            start_to_close_timeout=SWEEP_TIMEOUT,
            heartbeat_timeout=timedelta(seconds=30),
        )
