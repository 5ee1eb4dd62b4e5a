"""The outbox relay: starts the workflows of committed outbox rows in Temporal."""

import asyncio
import logging
from contextlib import suppress

import asyncpg
from temporalio.client import Client
from temporalio.common import (
    MetricMeter,
    Priority,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from cutroom.platform.data_keys import SYSTEM
from cutroom.platform.db import Database
from cutroom.platform.outbox import CHANNEL
from cutroom.platform.payload_codec import payloads_of
from cutroom.platform.process.worker_metrics import OutboxMetrics
from cutroom.platform.telemetry import continued_trace
from cutroom.platform.temporal_setup import LIBRARY_ID
from cutroom.platform.transient import is_transient

BATCH = 50
POLL_SECONDS = 1.0  # fallback for lost notifications, and for libraries that are below their cap again
RETRY_SECONDS = 2.0
MAX_REFUSALS = 5  # within about half a minute
MEASURE_SECONDS = 5.0
# These delete their library's data key, and go on.
OUTLIVE_LIBRARY = frozenset({"erase-library"})

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
        sets_library_attribute: bool = False,
    ) -> None:
        self._database = database
        self._metrics = OutboxMetrics(meter)
        self._client = client
        self._cap = running_jobs_per_library
        self._sets_library_attribute = sets_library_attribute  # Temporal refuses attributes that are not registered
        self._notified = asyncio.Event()

    async def run(self) -> None:
        """Relays until cancelled; starts again after any error."""
        while True:
            try:
                await self._listen_and_relay()
            except Exception as error:  # noqa: BLE001 (without a relay, accepted work would wait for ever)
                level = logging.WARNING if is_transient(error) else logging.ERROR
                _log.log(level, "outbox relay failed", exc_info=level == logging.ERROR, extra={"error": repr(error)})
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
                self._metrics.observe(
                    waiting=row["waiting"], lag_seconds=row["oldest_seconds"], set_aside=row["set_aside"]
                )
            except Exception as error:  # noqa: BLE001 (as above)
                _log.warning("outbox backlog not measured", extra={"error": repr(error)})
            await asyncio.sleep(MEASURE_SECONDS)

    async def relay_once(self) -> int:
        """Starts one batch and returns how many were started.

        After a crash, Temporal rejects repeated starts by workflow id. What it refuses while it accepts others is tried
        again later, and then set aside.
        """
        async with self._database.connection() as connection, connection.transaction():
            rows = await connection.fetch("SELECT * FROM claim_outbox_rows($1, $2)", BATCH, self._cap)
            errors = await asyncio.gather(*(self._try_start(row) for row in rows))
            refused = {row["id"]: error for row, error in zip(rows, errors, strict=True) if error is not None}
            if refused and len(refused) == len(rows) and all(_is_outage(each) for each in refused.values()):
                raise next(iter(refused.values()))
            started = [row["id"] for row in rows if row["id"] not in refused]
            await connection.execute("SELECT delete_outbox_rows($1)", started)
            if refused:
                await connection.execute("SELECT defer_outbox_rows($1, $2)", list(refused), MAX_REFUSALS)
        return len(started)

    async def _try_start(self, row: asyncpg.Record) -> Exception | None:
        try:
            await self._start(row)
        except Exception as error:  # noqa: BLE001 (returned)
            extra = {"workflow": row["workflow"], "workflow_id": row["workflow_id"], "error": repr(error)}
            _log.warning("workflow start refused", extra=extra)
            return error
        return None

    async def _start(self, row: asyncpg.Record) -> None:
        owner = SYSTEM if row["workflow"] in OUTLIVE_LIBRARY else row["library_id"]
        attributes = [SearchAttributePair(LIBRARY_ID, row["library_id"])] if self._sets_library_attribute else []
        with suppress(WorkflowAlreadyStartedError), continued_trace(row["trace_context"]), payloads_of(owner):
            await self._client.start_workflow(
                row["workflow"],
                row["argument"],
                id=row["workflow_id"],
                task_queue=row["queue"],
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                priority=Priority(fairness_key=row["library_id"]),
                search_attributes=TypedSearchAttributes(attributes),
            )


def _is_outage(error: Exception) -> bool:
    """Whether an error says something about Temporal, and nothing about the workflow."""
    if isinstance(error, RPCError):
        return error.status is not RPCStatusCode.INVALID_ARGUMENT
    return is_transient(error)
