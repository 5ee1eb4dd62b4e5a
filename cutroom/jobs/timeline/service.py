"""Loads what PostgreSQL has recorded of a job: its row, credits, and deliveries of its events."""

from datetime import datetime
from typing import Any

import asyncpg

from cutroom.credits.receipts import HeldCredits, list_held
from cutroom.errors import not_found
from cutroom.jobs.cancellation import public_job_key
from cutroom.jobs.estimates import whole_percent
from cutroom.jobs.ids import JobType, workflow_id
from cutroom.jobs.states import JobState
from cutroom.jobs.timeline.entries import (
    AttemptFact,
    DeliveryFact,
    StepFact,
    TimelineFacts,
    build_entries,
    summarize,
    total_charged,
)
from cutroom.jobs.timeline.schemas import JobTimeline
from cutroom.platform.db import Connection
from cutroom.webhooks.log import list_job_deliveries

_GET_JOB = """SELECT status, attempt, depends_on, progress, error_code, error_message, output_deleted_at, created_at,
    requested_at, queued_at, started_at, finished_at, steps, earlier_attempts
    FROM jobs WHERE library_id = $1 AND id = $2"""
_TIMES = ("requested_at", "queued_at", "started_at", "finished_at", "output_deleted_at")


async def get_timeline(connection: Connection, library_id: str, job_id: str, *, now: datetime) -> JobTimeline:
    key = public_job_key(job_id)
    row = await connection.fetchrow(_GET_JOB, library_id, key.id)
    if row is None:
        raise not_found()
    attempts = [_attempt(_parse_times(each), created_at=row["created_at"]) for each in row["earlier_attempts"] or []]
    attempts.append(_attempt(dict(row), created_at=row["created_at"]))
    accounts = await _load_credits(connection, library_id, key.id, attempts)
    facts = TimelineFacts(
        key=key,
        attempts=attempts,
        credits=accounts,
        deliveries=await _load_deliveries(connection, library_id, key.id, attempts),
        depends_on=row["depends_on"],
        now=now,
    )
    return JobTimeline(
        job_id=key.id,
        type=JobType(key.type),
        status=JobState(row["status"]),
        summary=summarize(facts, progress=whole_percent(row["progress"])),
        attempts=row["attempt"],
        charged=total_charged(accounts.values()),
        entries=build_entries(facts),
    )


def _parse_times(stored: dict[str, Any]) -> dict[str, Any]:
    return {
        name: datetime.fromisoformat(value) if name in _TIMES and value is not None else value
        for name, value in stored.items()
    }


def _attempt(row: dict[str, Any], *, created_at: datetime) -> AttemptFact:
    """0.1.0 recorded neither steps nor when a later attempt was requested."""
    number = row["attempt"]
    return AttemptFact(
        number=number,
        status=JobState(row["status"]),
        requested_at=row["requested_at"] or (created_at if number == 1 else row["queued_at"]),
        queued_at=row["queued_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        error_code=row["error_code"],
        error_message=row["error_message"],
        output_deleted_at=row["output_deleted_at"],
        steps=tuple(_step(each) for each in row["steps"] or []),
    )


def _step(stored: dict[str, Any]) -> StepFact:
    ended_at = stored.get("ended_at")
    return StepFact(
        stage=stored["stage"],
        started_at=datetime.fromisoformat(stored["started_at"]),
        ended_at=datetime.fromisoformat(ended_at) if ended_at is not None else None,
        runs=stored["runs"],
        ended=stored.get("ended", 0),
        retries=stored["retries"],
        error=stored.get("error"),
    )


async def _load_credits(
    connection: Connection, library_id: str, job_id: str, attempts: list[AttemptFact]
) -> dict[int, HeldCredits]:
    by_holder = {workflow_id(job_id, each.number): each.number for each in attempts}
    return {by_holder[each.holder]: each for each in await list_held(connection, library_id, list(by_holder))}


async def _load_deliveries(
    connection: Connection, library_id: str, job_id: str, attempts: list[AttemptFact]
) -> list[DeliveryFact]:
    """Events are recorded in the transaction that ends an attempt, with its time."""
    ends = [each.finished_at for each in attempts if each.finished_at is not None]
    return [_delivery(row) for row in await list_job_deliveries(connection, library_id, job_id, ended_at=ends)]


def _delivery(row: asyncpg.Record) -> DeliveryFact:
    return DeliveryFact(**dict(row))
