"""The outbox relay: starts the workflows of committed outbox rows in Temporal."""

import asyncio
import logging
from contextlib import suppress

import asyncpg
from temporalio.client import Client
from temporalio.common import MetricMeter, Priority, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from cutroom.platform.db import Database
from cutroom.platform.outbox import CHANNEL
from cutroom.platform.telemetry import continued_trace
from cutroom.platform.worker_metrics import OutboxMetrics

BATCH = 50
POLL_SECONDS = 1.0  # fallback for lost notifications, and for libraries that are below their cap again
RETRY_SECONDS = 2.0
MEASURE_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Relay:
    """Safe to run concurrently: rows are claimed with SKIP LOCKED."""

    def __init__(
        self,
        database: Database,
        client: Client,
        *,
        running_jobs_per_library: int,
        meter: MetricMeter = MetricMeter.noop,
    ) -> None:
        self._database = database
        self._metrics = OutboxMetrics(meter)
        self._client = client
        self._cap = running_jobs_per_library
        self._notified = asyncio.Event()

    async def run(self) -> None:
        """Relays until cancelled; reconnects after errors."""
        while True:
            try:
                await self._listen_and_relay()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, RPCError, TimeoutError) as error:
                _log.warning("outbox relay failed", extra={"error": repr(error)})
                await asyncio.sleep(RETRY_SECONDS)

    async def _listen_and_relay(self) -> None:
        async with self._database.connection() as listener:
            await listener.add_listener(CHANNEL, self._notify)
            try:
                while True:
                    self._notified.clear()
                    while await self.relay_once():
                        pass
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._notified.wait(), POLL_SECONDS)
            finally:
                with suppress(asyncpg.InterfaceError, OSError):
                    await listener.remove_listener(CHANNEL, self._notify)

    def _notify(self, *_notification: object) -> None:
        self._notified.set()

    async def measure_backlog(self) -> None:
        """Records how much is waiting until cancelled, also while nothing can be relayed."""
        while True:
            try:
                async with self._database.connection() as connection:
                    [row] = await connection.fetch("SELECT * FROM outbox_backlog($1)", self._cap)
                self._metrics.observe(waiting=row["waiting"], oldest_seconds=row["oldest_seconds"])
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError) as error:
                _log.warning("outbox backlog not measured", extra={"error": repr(error)})
            await asyncio.sleep(MEASURE_SECONDS)

    async def relay_once(self) -> int:
        """Starts one batch and returns its size; after a crash, Temporal rejects repeated starts by workflow id."""
        async with self._database.connection() as connection, connection.transaction():
            rows = await connection.fetch("SELECT * FROM claim_outbox_rows($1, $2)", BATCH, self._cap)
            await asyncio.gather(*(self._start(row) for row in rows))
            await connection.execute("SELECT delete_outbox_rows($1)", [row["id"] for row in rows])
        return len(rows)

    async def _start(self, row: asyncpg.Record) -> None:
        with suppress(WorkflowAlreadyStartedError), continued_trace(row["trace_context"]):
            await self._client.start_workflow(
                row["workflow"],
                row["argument"],
                id=row["workflow_id"],
                task_queue=row["queue"],
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                priority=Priority(fairness_key=row["library_id"]),
            )
