"""Defines the daily workflow that applies retention policies."""

import asyncio
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from cutroom.retention.policy.activities import LIBRARY_PAGE, RetentionActivities, RetentionRun

MAX_PARALLEL_LIBRARIES = 4
PAGE_TIMEOUT = timedelta(hours=2)
HEARTBEAT_TIMEOUT = timedelta(minutes=2)
RETRY = RetryPolicy(maximum_attempts=5)  # tomorrow's run covers what failed today


@workflow.defn(name="apply-retention")
class ApplyRetentionWorkflow:
    """Goes through all libraries, a page at a time; started every day by a schedule."""

    @workflow.run
    async def run(self, after: str = "") -> None:
        libraries = await workflow.execute_activity_method(
            RetentionActivities.list_libraries,
            after,
            start_to_close_timeout=timedelta(minutes=1),
        )
        slots, now = asyncio.Semaphore(MAX_PARALLEL_LIBRARIES), workflow.now()
        await asyncio.gather(*(self._apply(library_id, now, slots) for library_id in libraries))
        if len(libraries) == LIBRARY_PAGE:
            workflow.continue_as_new(libraries[-1])

    async def _apply(self, library_id: str, now: datetime, slots: asyncio.Semaphore) -> None:
        """Applies the policy of one library; a failure does not keep the others waiting."""
        async with slots:
            try:
                await self._apply_pages(RetentionRun(library_id, now))
            except ActivityError:
                workflow.logger.exception("retention failed", extra={"library_id": library_id})

    async def _apply_pages(self, run: RetentionRun) -> None:
        after: str | None = None
        while True:
            after = await workflow.execute_activity_method(
                RetentionActivities.apply_retention,
                args=[run, after],
                start_to_close_timeout=PAGE_TIMEOUT,
                heartbeat_timeout=HEARTBEAT_TIMEOUT,
                retry_policy=RETRY,
            )
            if after is None:
                break
        await workflow.execute_activity_method(
            RetentionActivities.finish_retention,
            run,
            start_to_close_timeout=PAGE_TIMEOUT,
            heartbeat_timeout=HEARTBEAT_TIMEOUT,
            retry_policy=RETRY,
        )
