"""The workflow that delivers an event with retries."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.webhooks.activities import DeliveryActivities
    from cutroom.webhooks.deliveries import DELIVERY_WORKFLOW, AttemptResult, Delivery
    from cutroom.webhooks.rules import FINAL_OUTCOMES, RETRY_DELAYS, DeliveryOutcome, retry_delay

ATTEMPT_TIMEOUT = timedelta(seconds=60)  # 15 s for the endpoint, the rest for the database
# Endpoint failures are results, retried by the workflow. This policy covers our own: worker crashes, database outages.
ATTEMPT_RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))


@workflow.defn(name=DELIVERY_WORKFLOW)
class DeliverWebhookWorkflow:
    """Delivers one event to one endpoint. Its history contains ids and outcomes, never bodies, URLs or secrets."""

    @workflow.run
    async def run(self, delivery: Delivery) -> DeliveryOutcome:
        result = await self._attempt(delivery, 1)
        for number, delay in enumerate(RETRY_DELAYS if delivery.retries else (), start=2):
            if result.outcome in FINAL_OUTCOMES:
                break
            await workflow.sleep(retry_delay(delay, result.retry_after_seconds))
            result = await self._attempt(delivery, number)
        return result.outcome

    async def _attempt(self, delivery: Delivery, number: int) -> AttemptResult:
        return await workflow.execute_activity_method(
            DeliveryActivities.attempt_delivery,
            args=[delivery, number],
            start_to_close_timeout=ATTEMPT_TIMEOUT,
            retry_policy=ATTEMPT_RETRY,
        )
