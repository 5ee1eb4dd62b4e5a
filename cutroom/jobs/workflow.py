"""The envelope around a job's steps, inside its workflow; and the sweep."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
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


async def run_job(ref: JobRef, steps: Steps) -> None:
    """Begin the job, take its steps, and end it one way or the other; its plan is given to the steps."""
    plan = await workflow.execute_activity_method(
        JobActivities.begin_job,
        ref,
        task_queue=Queue.CONTROL,
        start_to_close_timeout=ENVELOPE_TIMEOUT,
        retry_policy=ENVELOPE_RETRY,
    )
    if plan is None:
        return
    try:
        result = await steps(plan)
    except FailureError as error:
        await workflow.execute_activity_method(
            JobActivities.fail_job,
            args=[ref, failure_of(error)],
            task_queue=Queue.CONTROL,
            start_to_close_timeout=ENVELOPE_TIMEOUT,
            retry_policy=ENVELOPE_RETRY,
        )
        return
    await workflow.execute_activity_method(
        JobActivities.finish_job,
        args=[ref, result],
        task_queue=Queue.CONTROL,
        start_to_close_timeout=ENVELOPE_TIMEOUT,
        retry_policy=ENVELOPE_RETRY,
    )


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
class SweepJobs:
    """Started every minute by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            JobActivities.sweep_jobs,
            task_queue=Queue.CONTROL,
            start_to_close_timeout=SWEEP_TIMEOUT,
            heartbeat_timeout=timedelta(seconds=30),
        )
