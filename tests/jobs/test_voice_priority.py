"""Tests that batch activities wait for interactive speech, and nothing else does."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from cutroom.jobs import voice_priority
from cutroom.jobs.voice_priority import BATCH_QUEUES, VoicePriority
from cutroom.platform.process.processor import ProcessorBudget
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.voice_lease import VoiceLease

TWO_CORES = ProcessorBudget(cores=2, voice_threads=2, voice_slots=1)
EIGHT_CORES = ProcessorBudget(cores=8, voice_threads=4, voice_slots=2)
HEARTBEATS = 3
OTHER_QUEUES = sorted(set(TaskQueue) - BATCH_QUEUES - {TaskQueue.VOICE})


class LastInterceptor(ActivityInboundInterceptor):
    """Stands for the rest of the chain: runs the activity."""

    def __init__(self) -> None:
        """Has no next."""

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - Temporal's signature
        return input.fn(*input.args)


@pytest.fixture
def lease(tmp_path: Path) -> VoiceLease:
    return VoiceLease(tmp_path / "voice.lock")


async def run_on(
    queue: TaskQueue,
    activity: Callable[[], object],
    *,
    lease: VoiceLease,
    budget: ProcessorBudget = TWO_CORES,
    on_pause: Callable[[], None] = lambda: None,
) -> object:
    """Runs an activity as a worker of the queue would; `on_pause` is called at every heartbeat of the pause."""
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, task_queue=queue)
    environment.on_heartbeat = lambda *_details: on_pause()
    intercepted = VoicePriority(lease, budget).intercept_activity(LastInterceptor())
    given = ExecuteActivityInput(fn=activity, args=(), executor=None, headers={})
    return await environment.run(intercepted.execute_activity, given)


@pytest.mark.parametrize("queue", sorted(BATCH_QUEUES))
async def test_a_batch_activity_starts_when_speech_has_ended(queue: TaskQueue, lease: VoiceLease) -> None:
    speech = lease.held()
    speech.__enter__()
    events: list[str] = []

    def on_pause() -> None:
        events.append("paused")
        if len(events) == HEARTBEATS:
            speech.__exit__(None, None, None)

    await run_on(queue, lambda: events.append("ran"), lease=lease, on_pause=on_pause)
    assert events == ["paused"] * HEARTBEATS + ["ran"]


async def test_the_pause_is_bounded(lease: VoiceLease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_priority, "MAX_PAUSE_SECONDS", 3 * voice_priority.POLL_SECONDS)
    with lease.held():
        assert await run_on(TaskQueue.SPEECH, lease.count, lease=lease) == 1


async def test_speech_is_announced_while_it_runs(lease: VoiceLease) -> None:
    assert await run_on(TaskQueue.VOICE, lease.count, lease=lease) == 1
    assert lease.count() == 0


@pytest.mark.parametrize("queue", [TaskQueue.VOICE, *OTHER_QUEUES])
async def test_speech_and_short_work_never_wait(queue: TaskQueue, lease: VoiceLease) -> None:
    with lease.held():
        events: list[str] = []
        await run_on(queue, lambda: events.append("ran"), lease=lease, on_pause=lambda: events.append("paused"))
        assert events == ["ran"]


async def test_batch_work_does_not_wait_if_speech_leaves_cores(lease: VoiceLease) -> None:
    with lease.held():
        events: list[str] = []
        await run_on(
            TaskQueue.SPEECH,
            lambda: events.append("ran"),
            lease=lease,
            budget=EIGHT_CORES,
            on_pause=lambda: events.append("paused"),
        )
        assert events == ["ran"]
