"""The end of a reservation that nobody used, and the hourly check of the books."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.credits.activities import CreditActivities, ReservationTimer
    from cutroom.credits.service import EXPIRY_WORKFLOW

# Money goes back however long the database is away.
UNTIL_DONE = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))
EXPIRY_TIMEOUT = timedelta(seconds=30)
CHECK_TIMEOUT = timedelta(minutes=50)
CHECK_HEARTBEAT = timedelta(seconds=60)


@workflow.defn(name=EXPIRY_WORKFLOW)
class ExpireReservationWorkflow:
    """Started with the reservation; sleeps until its end."""

    @workflow.run
    async def run(self, timer: ReservationTimer) -> int:
        left = timer.expires_at - workflow.now()
        if left > timedelta(0):
            await workflow.sleep(left)
        return await workflow.execute_activity_method(
            CreditActivities.expire_reservation,
            timer,
            start_to_close_timeout=EXPIRY_TIMEOUT,
            retry_policy=UNTIL_DONE,
        )


@workflow.defn(name="check-ledgers")
class CheckLedgersWorkflow:
    """Started every hour by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await workflow.execute_activity_method(
            CreditActivities.check_ledgers,
            start_to_close_timeout=CHECK_TIMEOUT,
            heartbeat_timeout=CHECK_HEARTBEAT,
        )
