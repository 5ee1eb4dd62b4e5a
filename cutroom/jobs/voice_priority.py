"""Pauses batch activities while interactive speech needs the processor."""

import asyncio
from contextlib import suppress
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from cutroom.platform.process.processor import ProcessorBudget
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.voice_lease import VoiceLease

BATCH_QUEUES = frozenset({TaskQueue.MEDIA, TaskQueue.SPEECH, TaskQueue.VISION})
POLL_SECONDS = 0.05
MAX_PAUSE_SECONDS = 10.0  # then it runs beside speech, at its lower priority, so that batch work never stops


class VoicePriority(Interceptor):
    """Holds the lease during interactive speech activities, and delays the start of batch activities meanwhile.

    An activity is one line, chunk or file, or pauses between several, so batch work pauses within seconds.
    """

    def __init__(self, lease: VoiceLease, budget: ProcessorBudget) -> None:
        self._lease = lease
        self._budget = budget

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _PrioritizedActivity(next, self._lease, self._budget)


class _PrioritizedActivity(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, lease: VoiceLease, budget: ProcessorBudget) -> None:  # noqa: A002
        super().__init__(next)
        self._lease = lease
        self._budget = budget

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401
        queue = activity.info().task_queue
        if queue == TaskQueue.VOICE:
            with self._lease.held():
                return await super().execute_activity(input)
        if queue in BATCH_QUEUES:
            await pause_for_voice(self._lease, self._budget)
        return await super().execute_activity(input)


async def pause_for_voice(lease: VoiceLease, budget: ProcessorBudget) -> None:
    """Wait in a batch activity until interactive speech leaves it a core, but not for longer than MAX_PAUSE_SECONDS."""
    with suppress(TimeoutError):
        async with asyncio.timeout(MAX_PAUSE_SECONDS):
            while not budget.has_spare_core(voice_tasks=lease.count()):
                activity.heartbeat()
                await asyncio.sleep(POLL_SECONDS)
