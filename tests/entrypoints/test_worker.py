"""Tests the worker as a process: schedules, execution, graceful shutdown."""

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio.client import Client, ScheduleActionStartWorkflow

from cutroom.entrypoints.worker import RECURRING
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person

START_SECONDS = 60  # generous for a loaded machine
STOP_SECONDS = 45


@asynccontextmanager
async def worker(environment: dict[str, str]) -> AsyncIterator[Process]:
    """Runs a worker process; kills it if the test has not stopped it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cutroom.entrypoints.worker"), env=environment, stdout=PIPE, stderr=PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def lines_until(process: Process, message: str) -> list[dict[str, Any]]:
    assert process.stdout is not None
    lines: list[dict[str, Any]] = []
    async with asyncio.timeout(START_SECONDS):
        while not lines or lines[-1]["message"] != message:
            line = await process.stdout.readline()
            assert line, f"the worker exited after {lines}"
            lines.append(json.loads(line))
    return lines


async def put_record(accounts: Accounts, person: Person, age: timedelta) -> str:
    """Inserts an idempotency record of the given age."""
    key = new_id()
    row = {
        "user_id": person.user_id,
        "key": key,
        "library_id": person.library_id,
        "path": "/folders",
        "body_hash": b"",
        "status": 201,
        "sealed_body": b"",
        "created_at": system_clock() - age,
    }
    await insert(accounts.connection, "idempotency_records", row)
    return key


async def record_exists(accounts: Accounts, key: str) -> bool:
    sql = "SELECT EXISTS (SELECT FROM idempotency_records WHERE key = $1)"
    return bool(await accounts.connection.fetchval(sql, key))


async def test_worker_registers_schedules_runs_workflows_and_stops_on_sigterm(
    environment: dict[str, str], temporal: Client, accounts: Accounts, person: Person
) -> None:
    old = await put_record(accounts, person, timedelta(hours=24, minutes=1))
    recent = await put_record(accounts, person, timedelta(hours=23, minutes=59))
    isolated = {
        "CUTROOM_TEMPORAL_NAMESPACE": temporal.namespace,
        "CUTROOM_WORKER_QUEUES": "control",
    }  # no outgoing requests
    async with worker(environment | isolated) as process:
        (*_, ready) = await lines_until(process, "worker ready")
        assert "control" in ready["queues"]

        assert "purge-idempotency-records" in {each.workflow for each in RECURRING}
        for each in RECURRING:
            scheduled = (await temporal.get_schedule_handle(each.workflow).describe()).schedule
            assert isinstance(scheduled.action, ScheduleActionStartWorkflow)
            assert (scheduled.action.workflow, scheduled.action.task_queue) == (each.workflow, each.queue)
            assert [interval.every for interval in scheduled.spec.intervals] == [each.every]

        await temporal.get_schedule_handle("purge-idempotency-records").trigger()
        async with asyncio.timeout(START_SECONDS):
            while await record_exists(accounts, old):
                await asyncio.sleep(0.05)
        assert await record_exists(accounts, recent)

        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(STOP_SECONDS):
            rest, errors = await process.communicate()
        assert (process.returncode, errors) == (0, b"")
        lines = [json.loads(line) for line in rest.splitlines()]
        # Temporal's own loggers may report workflows that other tests left behind.
        assert not {line["level"] for line in lines if line["logger"].startswith("cutroom")} & {"ERROR", "CRITICAL"}
