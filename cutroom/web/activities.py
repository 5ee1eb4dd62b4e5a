"""What the envelope leaves for later: forgetting answers that are past their time."""

from dataclasses import dataclass

from temporalio import activity

from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.web.idempotency import RETENTION

FORGET_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class IdempotencyActivities:
    """Activities on retained answers."""

    database: Database
    clock: Clock

    @activity.defn(name="purge_idempotency_records")
    async def purge_idempotency_records(self) -> int:
        """Delete expired answers in small batches, so that no lock is held for long; how many went."""
        before, forgotten = self.clock() - RETENTION, 0
        while True:
            async with self.database.connection() as connection:
                batch: int = await connection.fetchval("SELECT purge_idempotency_records($1, $2)", before, FORGET_BATCH)
            forgotten += batch
            activity.heartbeat(forgotten)
            if batch < FORGET_BATCH:
                return forgotten
