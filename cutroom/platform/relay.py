"""The outbox relay: hands committed workflow starts to Temporal, and forgets them once it has them."""

import asyncio
import logging
from contextlib import suppress

import asyncpg
from temporalio.client import Client
from temporalio.common import Priority, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from cutroom.platform.db import Database
from cutroom.platform.outbox import CHANNEL

BATCH = 50
POLL_SECONDS = 1.0  # when no notification came: one may have been lost, or a library may be under its cap again
PAUSE_SECONDS = 2.0  # after an error

_log = logging.getLogger(__name__)


class Relay:
    """Any number of relays may run at once: rows are locked while they are relayed."""

    def __init__(self, database: Database, client: Client, *, running_jobs_per_library: int) -> None:
        self._database = database
        self._client = client
        self._cap = running_jobs_per_library
        self._woken = asyncio.Event()

    async def run(self) -> None:
        """Relay for ever."""
        while True:
            try:
                await self._listen_and_relay()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, RPCError, TimeoutError) as error:
                _log.warning("the outbox is not being relayed", extra={"error": repr(error)})
                await asyncio.sleep(PAUSE_SECONDS)

    async def _listen_and_relay(self) -> None:
        async with self._database.connection() as listener:
            await listener.add_listener(CHANNEL, self._wake)
            try:
                while True:
                    self._woken.clear()
                    while await self.relay_once():
                        pass
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._woken.wait(), POLL_SECONDS)
            finally:
                with suppress(asyncpg.InterfaceError, OSError):
                    await listener.remove_listener(CHANNEL, self._wake)

    def _wake(self, *_notification: object) -> None:
        self._woken.set()

    async def relay_once(self) -> int:
        """Start a batch of workflows; how many. A crash in between starts some twice, which Temporal refuses."""
        async with self._database.connection() as connection, connection.transaction():
            rows = await connection.fetch("SELECT * FROM claim_outbox_rows($1, $2)", BATCH, self._cap)
            await asyncio.gather(*(self._start(row) for row in rows))
            await connection.execute("SELECT delete_outbox_rows($1)", [row["id"] for row in rows])
        return len(rows)

    async def _start(self, row: asyncpg.Record) -> None:
        with suppress(WorkflowAlreadyStartedError):
            await self._client.start_workflow(
                row["workflow"],
                row["argument"],
                id=row["workflow_id"],
                task_queue=row["queue"],
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                priority=Priority(fairness_key=row["library_id"]),
            )
