"""The notification workflow: it waits until it is due, and a worker that dies loses nothing."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from cutroom.notifications.rules import Frequency, NotificationOutcome
from cutroom.notifications.service import SEND_WORKFLOW, NotificationRef
from cutroom.notifications.workflow import SendNotificationWorkflow
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from tests.notifications.conftest import NotificationStage

TEST_SERVER = Path(sys.executable).with_name("temporal-test-server")


@pytest.fixture
async def environment() -> AsyncIterator[WorkflowEnvironment]:
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as started:
        yield started


async def test_workflow_waits_until_the_notification_is_due(environment: WorkflowEnvironment) -> None:
    sent = []

    @activity.defn(name="send_notification")
    async def send(ref: NotificationRef) -> NotificationOutcome:
        sent.append((ref, activity.info().current_attempt_scheduled_time))
        return NotificationOutcome.SENT

    now = await environment.get_current_time()
    due = now + timedelta(hours=20)
    ref = NotificationRef(new_id(), new_id(), due.isoformat())
    async with Worker(
        environment.client, task_queue=TaskQueue.EGRESS, workflows=[SendNotificationWorkflow], activities=[send]
    ):
        outcome = await environment.client.execute_workflow(
            SEND_WORKFLOW, asdict(ref), id=ref.workflow_id, task_queue=TaskQueue.EGRESS
        )
    assert outcome == "sent"
    [(sent_ref, at)] = sent
    assert sent_ref == ref
    assert timedelta() <= at - due < timedelta(minutes=1)


async def test_worker_that_stops_while_mails_are_sent_loses_nothing_and_makes_no_second_message(
    stage: NotificationStage, settings: Settings
) -> None:
    """The first worker ends with attempts in progress and others not started; the second does the rest."""
    people = [await stage.member() for _ in range(4)]
    for person in people:
        await stage.prefer(person, Frequency.IMMEDIATELY)
    stage.smtp.data_responses = ["451 Later"] * 3
    client = await connect(settings)
    await stage.publish()
    for each in (refs := await stage.starts()):
        await client.start_workflow(SEND_WORKFLOW, asdict(each), id=each.workflow_id, task_queue=TaskQueue.EGRESS)
    first = asyncio.create_task(_worker(client, stage).run())
    while not stage.smtp.mails and stage.smtp.data_responses:
        await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    async with _worker(client, stage):
        results = [await client.get_workflow_handle(each.workflow_id).result() for each in refs]
    assert results == ["sent"] * 4
    # A mail that was being sent may arrive again, with its message id: mailboxes show it once.
    arrived = {(str(each["Message-ID"]), str(each["To"])) for each in stage.smtp.mails}
    addresses = {person.email for person in people}  # the worker also sends what other tests left in the queue
    assert sorted(address for _, address in arrived if address in addresses) == sorted(addresses)
    assert {row["outcome"] for row in await stage.rows()} == {"sent"}


def _worker(client: Client, stage: NotificationStage) -> Worker:
    return Worker(
        client,
        task_queue=TaskQueue.EGRESS,
        workflows=[SendNotificationWorkflow],
        activities=[stage.activities.send_notification],
        graceful_shutdown_timeout=timedelta(),
    )
