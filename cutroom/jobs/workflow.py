"""Runs a job's lifecycle and its activities inside a workflow, and defines the sweep workflow."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.errors import Code
    from cutroom.jobs.activities import JobActivities
    from cutroom.jobs.cancellation_activities import CancellationActivities
    from cutroom.jobs.deletion import DELETE_WORKFLOW, ObjectDeletion
    from cutroom.jobs.deletion_activities import DeletionActivities
    from cutroom.jobs.lifecycle import Failure, JobRef
    from cutroom.platform.task_queues import TaskQueue

SWEEP_TIMEOUT = timedelta(minutes=5)
HEARTBEAT_TIMEOUT = timedelta(seconds=15)  # of activities of jobs; none runs for longer after its workflow has ended

# Changes of workflows that are in progress when a worker is upgraded, as Temporal's patches.
LOCAL_ACTIVITIES = "local-activities"

Steps = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
Activities = TypeVar("Activities")
Params = ParamSpec("Params")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ActivityRunner:
    """Runs activity methods on one task queue with shared timeouts and retry policy."""

    queue: TaskQueue
    start_to_close: timedelta
    schedule_to_close: timedelta | None = timedelta(hours=24)
    heartbeat_timeout: timedelta | None = HEARTBEAT_TIMEOUT
    initial_interval: timedelta = timedelta(seconds=1)
    maximum_interval: timedelta = timedelta(seconds=15)
    priority: Priority = Priority.default

    async def run(
        self,
        activity: Callable[Concatenate[Activities, Params], Awaitable[Result]],
        *args: Params.args,
        **kwargs: Params.kwargs,
    ) -> Result:
        # Temporal passes activity arguments by position only.
        bound = inspect.signature(activity).bind(None, *args, **kwargs)
        bound.apply_defaults()
        return await workflow.execute_activity_method(
            activity,
            args=bound.args[1:],
            task_queue=self.queue,
            start_to_close_timeout=self.start_to_close,
            schedule_to_close_timeout=self.schedule_to_close,
            heartbeat_timeout=self.heartbeat_timeout,
            retry_policy=RetryPolicy(initial_interval=self.initial_interval, maximum_interval=self.maximum_interval),
            priority=self.priority,
        )

    async def run_local(
        self,
        activity: Callable[Concatenate[Activities, Params], Awaitable[Result]],
        *args: Params.args,
        **kwargs: Params.kwargs,
    ) -> Result:
        """Runs a short activity in the worker that runs the workflow, as part of the workflow task.

        It costs one event instead of three and a workflow task, and is not queued. Retries are as those of `run`.
        """
        if not workflow.patched(LOCAL_ACTIVITIES):
            return await self.run(activity, *args, **kwargs)
        bound = inspect.signature(activity).bind(None, *args, **kwargs)
        bound.apply_defaults()
        return await workflow.execute_local_activity_method(
            activity,
            args=bound.args[1:],
            start_to_close_timeout=self.start_to_close,
            schedule_to_close_timeout=self.schedule_to_close,
            retry_policy=RetryPolicy(initial_interval=self.initial_interval, maximum_interval=self.maximum_interval),
        )

    def with_options(
        self,
        *,
        queue: TaskQueue | None = None,
        start_to_close: timedelta | None = None,
        priority: Priority | None = None,
    ) -> "ActivityRunner":
        """Return a copy with another queue, timeout or priority."""
        return replace(
            self,
            queue=queue or self.queue,
            start_to_close=start_to_close or self.start_to_close,
            priority=priority or self.priority,
        )


# Database-only activities that must eventually run: no overall deadline, so they outlast a database outage.
control = ActivityRunner(
    TaskQueue.CONTROL,
    start_to_close=timedelta(seconds=30),
    schedule_to_close=None,
    heartbeat_timeout=None,
    initial_interval=timedelta(milliseconds=200),
    maximum_interval=timedelta(seconds=10),
)
run_control_activity = control.run
deletion = control.with_options(start_to_close=timedelta(minutes=10))


async def run_job(ref: JobRef, steps: Steps) -> None:
    """Start the job, run its steps with the stored plan, then complete or fail it."""
    plan = await control.run_local(JobActivities.start_job, ref)
    if plan is None:
        return
    try:
        result = await steps(plan)
    except FailureError as error:
        await control.run_local(JobActivities.fail_job, ref, to_failure(error))
        return
    await control.run_local(JobActivities.complete_job, ref, result)


def to_failure(error: FailureError) -> Failure:
    """Return the failure reported to the caller: the activity's own error if it has one of our codes, else INTERNAL."""
    cause: BaseException | None = error
    if isinstance(error, ActivityError):
        cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type in set(Code):
        details = cause.details[0] if cause.details and isinstance(cause.details[0], dict) else {}
        return Failure(cause.type, cause.message, details=details)
    return Failure(Code.INTERNAL, "The job could not be completed.")


@workflow.defn(name="sweep-jobs")
class SweepJobsWorkflow:
    """Recovers stuck jobs; started every minute by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            JobActivities.sweep_jobs,
            task_queue=TaskQueue.CONTROL,
            start_to_close_timeout=SWEEP_TIMEOUT,
            heartbeat_timeout=timedelta(seconds=30),
        )


@workflow.defn(name="cancel-job")
class CancelJobWorkflow:
    """Stops the work of a canceled job, then deletes its files once no activity can write them any more."""

    @workflow.run
    async def run(self, job: JobRef) -> None:
        await run_control_activity(CancellationActivities.stop_canceled_job, job)
        await workflow.sleep(HEARTBEAT_TIMEOUT)
        await deletion.run(CancellationActivities.delete_canceled_output, job)


@workflow.defn(name=DELETE_WORKFLOW)
class DeleteObjectsWorkflow:
    """Deletes the objects of a deleted product; retried until the object store has deleted them."""

    @workflow.run
    async def run(self, objects: ObjectDeletion) -> None:
        if objects.may_be_written:
            await workflow.sleep(HEARTBEAT_TIMEOUT)
        runner = deletion.with_options(start_to_close=timedelta(hours=1))
        await replace(runner, heartbeat_timeout=HEARTBEAT_TIMEOUT).run(DeletionActivities.delete_objects, objects)
