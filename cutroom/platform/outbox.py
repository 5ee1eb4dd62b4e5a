"""The transactional outbox: each row is a workflow to start once its transaction commits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.platform.db import Connection, insert
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.telemetry import current_trace_context

CHANNEL = "outbox"


@dataclass(frozen=True, slots=True)
class WorkflowStart:
    """A workflow to start; its id deduplicates repeated starts."""

    library_id: str
    workflow: str
    workflow_id: str
    argument: Mapping[str, Any]
    queue: TaskQueue = TaskQueue.CONTROL
    is_job: bool = False
    trace_context: Mapping[str, str] | None = None  # defaults to the current trace


async def enqueue(connection: Connection, start: WorkflowStart) -> None:
    """Starts a workflow if and when this transaction commits."""
    await enqueue_all(connection, [start])


async def enqueue_all(connection: Connection, starts: Sequence[WorkflowStart]) -> None:
    """Starts several workflows if and when this transaction commits."""
    if not starts:
        return
    for start in starts:
        row = {
            "library_id": start.library_id,
            "workflow": start.workflow,
            "workflow_id": start.workflow_id,
            "queue": start.queue.value,
            "argument": dict(start.argument),
            "is_job": start.is_job,
            "trace_context": start.trace_context or current_trace_context(),
        }
        await insert(connection, "outbox", row)
    await connection.execute(f"NOTIFY {CHANNEL}")


async def discard_job_start(connection: Connection, library_id: str, job_id: str) -> None:
    """Forgets the start of a job that was set aside."""
    await connection.execute(
        """DELETE FROM outbox WHERE library_id = $1 AND is_job AND argument ->> 'job_id' = $2
           AND set_aside_at IS NOT NULL""",
        library_id,
        job_id,
    )


async def discard_library_starts(connection: Connection, library_id: str) -> None:
    """Forgets every start that is not relayed yet, for an erasure: nothing writes to the library any more."""
    await connection.execute("DELETE FROM outbox WHERE library_id = $1", library_id)


async def started_workflows(connection: Connection, library_id: str) -> list[str]:
    """Ids of every workflow that was started for a library."""
    rows = await connection.fetch(
        "SELECT workflow_id FROM started_workflows WHERE library_id = $1 ORDER BY workflow_id", library_id
    )
    return [row["workflow_id"] for row in rows]


async def copy_starts(source: Connection, target: Connection, library_id: str) -> None:
    """Copies what is not relayed yet to another database, in its order; that database assigns the ids."""
    await target.execute("DELETE FROM outbox WHERE library_id = $1", library_id)
    rows = await source.fetch(
        """SELECT library_id, workflow, workflow_id, queue, argument, is_job, trace_context, created_at, refusals,
                  retry_at, set_aside_at
           FROM outbox WHERE library_id = $1 ORDER BY id""",
        library_id,
    )
    await target.executemany(
        """INSERT INTO outbox (library_id, workflow, workflow_id, queue, argument, is_job, trace_context, created_at,
               refusals, retry_at, set_aside_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)""",
        [tuple(row) for row in rows],
    )


async def add_running_start(connection: Connection, library_id: str, start: Mapping[str, str]) -> None:
    """Starts a workflow again that was running elsewhere; `argument` is JSON.

    Its job, if it has one, is already counted as running: the cap of the library must not hold it back.
    """
    await connection.execute(
        """INSERT INTO outbox (library_id, workflow, workflow_id, queue, argument, is_job)
           VALUES ($1, $2, $3, $4, $5::jsonb, false)""",
        library_id,
        start["workflow"],
        start["workflow_id"],
        start["queue"],
        start["argument"],
    )
