"""A workflow that sends a canary in every way in which content reaches Temporal."""

from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

NAME = "canary"


@activity.defn
async def fail_with(canary: str) -> None:
    activity.heartbeat(canary)
    raise ApplicationError(f"failed: {canary}", {"canary": canary}, non_retryable=True)


@activity.defn
async def echo(canary: str) -> str:
    return canary


@workflow.defn(name=NAME)
class CanaryWorkflow:
    """Waits for a signal, runs activities, and continues as new before it fails."""

    def __init__(self) -> None:
        self._text = ""

    @workflow.signal
    def set_text(self, canary: str) -> None:
        self._text = canary

    @workflow.query
    def text(self) -> str:
        return self._text

    @workflow.run
    async def run(self, canary: str, first: bool) -> None:  # noqa: FBT001 (positional, as Temporal passes it)
        if not first:
            raise ApplicationError(f"at last: {canary}")
        await workflow.wait_condition(lambda: bool(self._text))
        echoed = await workflow.execute_activity(echo, canary, start_to_close_timeout=timedelta(seconds=60))
        cause: BaseException | None = None
        try:
            await workflow.execute_activity(
                fail_with,
                echoed,
                start_to_close_timeout=timedelta(seconds=60),
                retry_policy=RetryPolicy(maximum_attempts=1),
            )
        except ActivityError as error:
            cause = error.cause
        if not isinstance(cause, ApplicationError) or cause.message != f"failed: {canary}":
            raise ApplicationError("the failure was not decrypted")
        workflow.continue_as_new(args=[echoed, False])
