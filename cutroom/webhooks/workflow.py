"""Delivering one event to one endpoint, until it is taken or there is no use in trying; and the daily sweep."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.webhooks.activities import DeliveryActivities
    from cutroom.webhooks.rules import FINAL, PAUSES, Outcome, pause_before
    from cutroom.webhooks.service import DELIVERY_WORKFLOW, Attempted, Delivery

ATTEMPT_TIMEOUT = timedelta(seconds=60)  # 15 s for the receiver, the rest for a database that is slow
# A receiver's failure is a result. What is retried here is our own: a worker that died, a database that is away.
OUR_OWN_FAILURES = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))
SWEEP_TIMEOUT = timedelta(hours=1)
SWEEP_HEARTBEAT = timedelta(seconds=30)


@workflow.defn(name=DELIVERY_WORKFLOW)
class DeliverWebhookWorkflow:
    """Started by the outbox; its history holds ids and outcomes, never a body, a URL or a secret."""

    @workflow.run
    async def run(self, delivery: Delivery) -> Outcome:
        attempted = await self._attempt(delivery, 1)
        for number, step in enumerate(PAUSES, start=2):
            if attempted.outcome in FINAL:
                break
            await workflow.sleep(pause_before(step, attempted.asked_pause_seconds))
            attempted = await self._attempt(delivery, number)
        return attempted.outcome

    async def _attempt(self, delivery: Delivery, number: int) -> Attempted:
        return await workflow.execute_activity_method(
            DeliveryActivities.attempt_delivery,
            args=[delivery, number],
            start_to_close_timeout=ATTEMPT_TIMEOUT,
            retry_policy=OUR_OWN_FAILURES,
        )


@workflow.defn(name="purge-events")
class PurgeEventsWorkflow:
    """Started by a schedule; a run that is missed is made up by the next one."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            DeliveryActivities.purge_events,
            start_to_close_timeout=SWEEP_TIMEOUT,
            heartbeat_timeout=SWEEP_HEARTBEAT,
        )
