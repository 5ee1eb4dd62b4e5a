"""The delivery workflow on the time-environment server, and replayed from recorded histories."""

import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from temporalio import activity
from temporalio.client import WorkflowHistory
from temporalio.exceptions import ApplicationError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Replayer, Worker

from cutroom.platform.ids import new_id
from cutroom.platform.task_queues import TaskQueue
from cutroom.webhooks.deliveries import DELIVERY_WORKFLOW, AttemptResult, Delivery
from cutroom.webhooks.rules import DeliveryOutcome
from cutroom.webhooks.workflow import DeliverWebhookWorkflow

TEST_SERVER = Path(sys.executable).with_name("temporal-test-server")
HISTORIES = sorted((Path(__file__).parents[1] / "histories").glob("deliver-webhook*.json"))
SCHEDULE = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
DELIVERED = AttemptResult(DeliveryOutcome.DELIVERED)
REFUSED = AttemptResult(DeliveryOutcome.REFUSED)
UNREACHABLE = AttemptResult(DeliveryOutcome.UNREACHABLE)


@pytest.fixture(scope="module")
async def environment() -> AsyncIterator[WorkflowEnvironment]:
    """A time-skipping Temporal test server."""
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as started:
        yield started


@dataclass
class ScriptedAttempts:
    """Replaces the activity: returns scripted outcomes and records when each attempt was made."""

    script: Sequence[AttemptResult | Exception]
    at: list[datetime] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    @activity.defn(name="attempt_delivery")
    async def attempt_delivery(self, _delivery: Delivery, number: int) -> AttemptResult:
        self.at.append(activity.info().current_attempt_scheduled_time)
        self.numbers.append(number)
        ended = self.script[len(self.numbers) - 1]
        if isinstance(ended, Exception):
            raise ended
        return ended

    @property
    def delays(self) -> list[int]:
        """Return the seconds before each attempt."""
        return [
            round((at - before).total_seconds()) for before, at in zip([self.at[0], *self.at], self.at, strict=False)
        ]


async def deliver(environment: WorkflowEnvironment, receiver: ScriptedAttempts) -> str:
    delivery = {"library_id": new_id(), "event_id": new_id(), "endpoint_id": new_id()}
    async with Worker(
        environment.client,
        task_queue=TaskQueue.EGRESS,
        workflows=[DeliverWebhookWorkflow],
        activities=[receiver.attempt_delivery],
    ):
        # By name with a JSON argument, as the relay does.
        outcome: str = await environment.client.execute_workflow(
            DELIVERY_WORKFLOW, delivery, id=new_id(), task_queue=TaskQueue.EGRESS
        )
    return outcome


async def test_successful_delivery_is_sent_once(environment: WorkflowEnvironment) -> None:
    receiver = ScriptedAttempts([DELIVERED])
    assert await deliver(environment, receiver) == "delivered"
    assert receiver.numbers == [1]


async def test_failing_endpoint_gets_ten_attempts_over_three_days(environment: WorkflowEnvironment) -> None:
    receiver = ScriptedAttempts([REFUSED, UNREACHABLE] * 5)
    assert await deliver(environment, receiver) == "unreachable"
    assert receiver.numbers == list(range(1, 11))
    assert receiver.delays == pytest.approx(SCHEDULE, abs=2)
    assert receiver.at[-1] - receiver.at[0] > timedelta(days=3)


async def test_recovered_endpoint_receives_event(environment: WorkflowEnvironment) -> None:
    receiver = ScriptedAttempts([UNREACHABLE] * 7 + [DELIVERED])
    assert await deliver(environment, receiver) == "delivered"
    assert receiver.at[-2] - receiver.at[0] < timedelta(days=1) < receiver.at[-1] - receiver.at[0]


@pytest.mark.parametrize("outcome", [DeliveryOutcome.GONE, DeliveryOutcome.WITHDRAWN])
async def test_410_stops_retries(environment: WorkflowEnvironment, outcome: DeliveryOutcome) -> None:
    receiver = ScriptedAttempts([REFUSED, AttemptResult(outcome)])
    assert await deliver(environment, receiver) == outcome
    assert receiver.numbers == [1, 2]


async def test_retry_after_delays_next_attempt(environment: WorkflowEnvironment) -> None:
    receiver = ScriptedAttempts(
        [AttemptResult(DeliveryOutcome.REFUSED, 3_600), AttemptResult(DeliveryOutcome.REFUSED, 1), DELIVERED]
    )
    assert await deliver(environment, receiver) == "delivered"
    assert receiver.delays == pytest.approx([0, 3_600, 300], abs=2)


async def test_internal_failure_does_not_use_attempt(environment: WorkflowEnvironment) -> None:
    receiver = ScriptedAttempts(
        [ApplicationError("the database is away"), REFUSED, ApplicationError("again"), DELIVERED]
    )
    assert await deliver(environment, receiver) == "delivered"
    assert receiver.numbers == [1, 1, 2, 2]


def test_recorded_histories_exist() -> None:
    assert len(HISTORIES) >= 3


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_recorded_history_replays(path: Path) -> None:
    history = WorkflowHistory.from_json(path.stem, path.read_text())
    await Replayer(workflows=[DeliverWebhookWorkflow]).replay_workflow(history)


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
def test_history_contains_no_body_url_or_secret(path: Path) -> None:
    text = path.read_text()
    assert not any(word in text for word in ("http", "whsec_", "timestamp", "title"))
