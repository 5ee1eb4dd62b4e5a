"""Workflows that expire unused reservations and check ledgers every hour."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.credits.activities import CreditActivities, ReservationTimer
    from cutroom.credits.service import EXPIRY_WORKFLOW

# Retries without limit: credits must be returned even after a long database outage.
EXPIRY_RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))
EXPIRY_TIMEOUT = timedelta(seconds=30)
CHECK_TIMEOUT = timedelta(minutes=50)
CHECK_HEARTBEAT = timedelta(seconds=60)


@workflow.defn(name=EXPIRY_WORKFLOW)
class ExpireReservationWorkflow:
    """Sleeps until a reservation expires, then releases its unused lines."""

    @workflow.run
    async def run(self, timer: ReservationTimer) -> int:
        remaining = timer.expires_at - workflow.now()
        if remaining > timedelta(0):
            await workflow.sleep(remaining)
        return await workflow.execute_activity_method(
            CreditActivities.expire_reservation,
            timer,
            start_to_close_timeout=EXPIRY_TIMEOUT,
            retry_policy=EXPIRY_RETRY,
        )


@workflow.defn(name="check-ledgers")
class CheckLedgersWorkflow:
    """Checks every ledger; started every hour by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            CreditActivities.check_ledgers,
            start_to_close_timeout=CHECK_TIMEOUT,
            heartbeat_timeout=CHECK_HEARTBEAT,
        )
