"""Schedules on a real Temporal server."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from temporalio.client import Client, ScheduleActionStartWorkflow, ScheduleHandle, ScheduleOverlapPolicy

from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import RecurringWorkflow, connect, ensure_schedules

DAILY = timedelta(days=1)  # never starts during a test


@pytest.fixture(scope="module")
async def client(settings: Settings) -> Client:
    return await connect(settings)


@pytest.fixture
async def schedule(client: Client) -> AsyncIterator[ScheduleHandle]:
    """Handle of an unused schedule id, deleted after the test."""
    handle = client.get_schedule_handle(f"test-{new_id()}")
    yield handle
    await handle.delete()


async def test_schedule_is_created_as_declared(client: Client, schedule: ScheduleHandle) -> None:
    await ensure_schedules(client, [RecurringWorkflow(workflow=schedule.id, every=DAILY, queue=TaskQueue.EGRESS)])
    made = (await schedule.describe()).schedule
    assert isinstance(made.action, ScheduleActionStartWorkflow)
    assert (made.action.workflow, made.action.task_queue) == (schedule.id, "egress")
    assert [interval.every for interval in made.spec.intervals] == [DAILY]
    assert made.policy.overlap is ScheduleOverlapPolicy.SKIP


async def test_ensuring_schedules_is_idempotent(client: Client, schedule: ScheduleHandle) -> None:
    recurring = [RecurringWorkflow(workflow=schedule.id, every=DAILY)]
    await ensure_schedules(client, recurring)
    first = await schedule.describe()
    await ensure_schedules(client, recurring)
    second = await schedule.describe()
    assert first.info.created_at == second.info.created_at
    assert second.schedule.spec.intervals == first.schedule.spec.intervals


async def test_changed_declaration_updates_the_schedule(client: Client, schedule: ScheduleHandle) -> None:
    await ensure_schedules(client, [RecurringWorkflow(workflow=schedule.id, every=DAILY)])
    await ensure_schedules(client, [RecurringWorkflow(workflow=schedule.id, every=2 * DAILY, queue=TaskQueue.MEDIA)])
    changed = (await schedule.describe()).schedule
    assert isinstance(changed.action, ScheduleActionStartWorkflow)
    assert changed.action.task_queue == "media"
    assert [interval.every for interval in changed.spec.intervals] == [2 * DAILY]


async def test_paused_schedule_stays_paused(client: Client, schedule: ScheduleHandle) -> None:
    recurring = [RecurringWorkflow(workflow=schedule.id, every=DAILY)]
    await ensure_schedules(client, recurring)
    await schedule.pause(note="while the disk is full")
    await ensure_schedules(client, recurring)  # a worker starts
    state = (await schedule.describe()).schedule.state
    assert (state.paused, state.note) == (True, "while the disk is full")
