"""Purging idempotency records: on Temporal, and replayed from a recorded history."""

from datetime import timedelta
from pathlib import Path

import httpx
from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer, Worker

from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.web.activities import IdempotencyActivities
from cutroom.web.runtime import Runtime
from cutroom.web.workflow import PurgeIdempotencyRecordsWorkflow
from dev.scratch import Accounts, Person

HISTORY = Path(__file__).parents[1] / "histories" / "purge-idempotency-records.json"


async def _remaining(accounts: Accounts, person: Person) -> list[str]:
    rows = await accounts.connection.fetch(
        "SELECT key FROM idempotency_records WHERE library_id = $1 ORDER BY key", person.library_id
    )
    return [row["key"] for row in rows]


async def test_only_expired_records_are_purged(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, settings: Settings, runtime: Runtime
) -> None:
    for key in ("old", "young"):
        await api.post("/folders", json={"name": key}, headers={"Idempotency-Key": key})
    await accounts.connection.execute(
        "UPDATE idempotency_records SET created_at = $2 WHERE library_id = $1 AND key = 'old'",
        person.library_id,
        system_clock() - timedelta(hours=24, minutes=1),
    )
    client: Client = await connect(settings)
    responses = IdempotencyActivities(database=runtime.database, clock=system_clock)
    async with Worker(
        client,
        task_queue=TaskQueue.CONTROL,
        workflows=[PurgeIdempotencyRecordsWorkflow],
        activities=[responses.purge_idempotency_records],
    ):
        deleted = await client.execute_workflow(
            PurgeIdempotencyRecordsWorkflow.run, id=new_id(), task_queue=TaskQueue.CONTROL
        )
    assert deleted >= 1
    assert await _remaining(accounts, person) == ["young"]


async def test_recorded_history_replays() -> None:
    history = WorkflowHistory.from_json("purge-idempotency-records", HISTORY.read_text())
    await Replayer(workflows=[PurgeIdempotencyRecordsWorkflow]).replay_workflow(history)
