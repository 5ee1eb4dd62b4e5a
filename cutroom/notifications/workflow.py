"""Workflows that send notifications when they are due, and delete old ones every day."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.notifications.activities import NotificationActivities
    from cutroom.notifications.rules import MAX_AGE, NotificationOutcome
    from cutroom.notifications.service import SEND_WORKFLOW, NotificationRef

ATTEMPT_TIMEOUT = timedelta(minutes=3)  # SMTP has several round trips, of at most 30 s each
RETRY = RetryPolicy(initial_interval=timedelta(seconds=2), maximum_interval=timedelta(minutes=10))
SWEEP_TIMEOUT = timedelta(hours=1)
SWEEP_HEARTBEAT = timedelta(seconds=30)


@workflow.defn(name=SEND_WORKFLOW)
class SendNotificationWorkflow:
    """Sends one notification, or the digest that it belongs to. Its history contains ids, a time and the outcome."""

    @workflow.run
    async def run(self, ref: NotificationRef) -> NotificationOutcome:
        await workflow.sleep(ref.delay(workflow.now()))
        return await workflow.execute_activity_method(
            NotificationActivities.send_notification,
            ref,
            start_to_close_timeout=ATTEMPT_TIMEOUT,
            heartbeat_timeout=ATTEMPT_TIMEOUT,
            schedule_to_close_timeout=MAX_AGE,
            retry_policy=RETRY,
        )


@workflow.defn(name="purge-notifications")
class PurgeNotificationsWorkflow:
    """Started by a schedule; a missed run is covered by the next one."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            NotificationActivities.purge_notifications,
            start_to_close_timeout=SWEEP_TIMEOUT,
            heartbeat_timeout=SWEEP_HEARTBEAT,
        )
