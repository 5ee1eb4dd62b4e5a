"""The outbox has one meaning: start this workflow. It is written with the rest of a transaction, and relayed after."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, Identity, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from cutroom.platform.db import Connection, insert
from cutroom.platform.tables import Id, Instant, Table
from cutroom.platform.temporal import TaskQueue

CHANNEL = "outbox"


class OutboxRow(Table):
    """A workflow to start; the row is gone once Temporal has it."""

    __tablename__ = "outbox"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    library_id: Mapped[Id]
    workflow: Mapped[str] = mapped_column(Text)
    workflow_id: Mapped[str] = mapped_column(Text)
    queue: Mapped[str] = mapped_column(Text)
    argument: Mapped[dict[str, Any]] = mapped_column(JSONB)
    is_job: Mapped[bool]  # counts against the library's running jobs
    created_at: Mapped[Instant] = mapped_column(server_default=text("now()"))


@dataclass(frozen=True, slots=True)
class WorkflowStart:
    """A workflow to start once: its id makes a second start no start at all."""

    library_id: str
    workflow: str
    workflow_id: str
    argument: Mapping[str, Any]
    queue: TaskQueue = TaskQueue.CONTROL
    is_job: bool = False


async def enqueue(connection: Connection, start: WorkflowStart) -> None:
    """WorkflowStart a workflow when this transaction commits, and not if it does not."""
    row = {
        "library_id": start.library_id,
        "workflow": start.workflow,
        "workflow_id": start.workflow_id,
        "queue": start.queue.value,
        "argument": dict(start.argument),
        "is_job": start.is_job,
    }
    await insert(connection, "outbox", row)
    await connection.execute(f"NOTIFY {CHANNEL}")
