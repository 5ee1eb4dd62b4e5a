"""The delivery's course over days, in skipped time, and replayed from recorded histories."""

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
from cutroom.platform.temporal import Queue
from cutroom.webhooks.rules import Outcome
from cutroom.webhooks.service import DELIVERY_WORKFLOW, Attempted, Delivery
from cutroom.webhooks.workflow import DeliverWebhookWorkflow, PurgeEventsWorkflow

TEST_SERVER = Path(sys.executable).with_name("temporal-test-server")
HISTORIES = sorted((Path(__file__).parents[1] / "histories").glob("deliver-webhook*.json"))
SCHEDULE = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
DELIVERED = Attempted(Outcome.DELIVERED)
REFUSED = Attempted(Outcome.REFUSED)
UNREACHABLE = Attempted(Outcome.UNREACHABLE)


@pytest.fixture(scope="module")
async def skipping() -> AsyncIterator[WorkflowEnvironment]:
    """A Temporal whose time runs ahead whenever everybody waits."""
    async with await WorkflowEnvironment.start_time_skipping(test_server_existing_path=str(TEST_SERVER)) as started:
        yield started


@dataclass
class Receiver:
    """Stands in for the activity: attempts end as they are told, and the workflow's time of each is kept."""

    script: Sequence[Attempted | Exception]
    at: list[datetime] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    @activity.defn(name="attempt_delivery")
    async def attempt_delivery(self, _delivery: Delivery, number: int) -> Attempted:
        self.at.append(activity.info().current_attempt_scheduled_time)
        self.numbers.append(number)
        ended = self.script[len(self.numbers) - 1]
        if isinstance(ended, Exception):
            raise ended
        return ended

    @property
    def pauses(self) -> list[int]:
        """Seconds before each attempt, the first one's from itself."""
        return [
            round((at - before).total_seconds()) for before, at in zip([self.at[0], *self.at], self.at, strict=False)
        ]


async def deliver(environment: WorkflowEnvironment, receiver: Receiver) -> str:
    delivery = {"library_id": new_id(), "event_id": new_id(), "endpoint_id": new_id()}
    async with Worker(
        environment.client,
        task_queue=Queue.EGRESS,
        workflows=[DeliverWebhookWorkflow],
        activities=[receiver.attempt_delivery],
    ):
        # As the relay does it: by name, with an argument that is plain JSON.
        outcome: str = await environment.client.execute_workflow(
            DELIVERY_WORKFLOW, delivery, id=new_id(), task_queue=Queue.EGRESS
        )
    return outcome


async def test_an_event_that_is_taken_at_once_is_sent_once(skipping: WorkflowEnvironment) -> None:
    receiver = Receiver([DELIVERED])
    assert await deliver(skipping, receiver) == "delivered"
    assert receiver.numbers == [1]


async def test_a_receiver_that_never_takes_it_is_tried_ten_times_over_three_days(skipping: WorkflowEnvironment) -> None:
    receiver = Receiver([REFUSED, UNREACHABLE] * 5)
    assert await deliver(skipping, receiver) == "unreachable"
    assert receiver.numbers == list(range(1, 11))
    assert receiver.pauses == pytest.approx(SCHEDULE, abs=2)
    assert receiver.at[-1] - receiver.at[0] > timedelta(days=3)


async def test_a_receiver_that_is_back_after_a_day_gets_it(skipping: WorkflowEnvironment) -> None:
    receiver = Receiver([UNREACHABLE] * 7 + [DELIVERED])
    assert await deliver(skipping, receiver) == "delivered"
    assert receiver.at[-2] - receiver.at[0] < timedelta(days=1) < receiver.at[-1] - receiver.at[0]


@pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.WITHDRAWN])
async def test_a_receiver_that_is_gone_is_not_asked_again(skipping: WorkflowEnvironment, outcome: Outcome) -> None:
    receiver = Receiver([REFUSED, Attempted(outcome)])
    assert await deliver(skipping, receiver) == outcome
    assert receiver.numbers == [1, 2]


async def test_a_busy_receiver_is_left_alone_for_as_long_as_it_asks(skipping: WorkflowEnvironment) -> None:
    receiver = Receiver([Attempted(Outcome.REFUSED, 3_600), Attempted(Outcome.REFUSED, 1), DELIVERED])
    assert await deliver(skipping, receiver) == "delivered"
    assert receiver.pauses == pytest.approx([0, 3_600, 300], abs=2)


async def test_a_failure_of_our_own_does_not_use_up_an_attempt(skipping: WorkflowEnvironment) -> None:
    receiver = Receiver([ApplicationError("the database is away"), REFUSED, ApplicationError("again"), DELIVERED])
    assert await deliver(skipping, receiver) == "delivered"
    assert receiver.numbers == [1, 1, 2, 2]


def test_there_are_histories_to_replay() -> None:
    assert len(HISTORIES) >= 3


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_a_recorded_history_replays(path: Path) -> None:
    history = WorkflowHistory.from_json(path.stem, path.read_text())
    await Replayer(workflows=[DeliverWebhookWorkflow, PurgeEventsWorkflow]).replay_workflow(history)


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
def test_a_history_holds_no_body_url_or_secret(path: Path) -> None:
    text = path.read_text()
    assert not any(word in text for word in ("http", "whsec_", "timestamp", "title"))
