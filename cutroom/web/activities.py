"""Activities that purge expired idempotency records."""

from dataclasses import dataclass

from temporalio import activity

from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.web.idempotency import RETENTION

PURGE_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class IdempotencyActivities:
    """Purges idempotency records."""

    database: Database
    clock: Clock

    @activity.defn(name="purge_idempotency_records")
    async def purge_idempotency_records(self) -> int:
        """Delete expired records in batches, to keep locks short; return how many."""
        before, deleted = self.clock() - RETENTION, 0
        while True:
            async with self.database.connection() as connection:
                batch: int = await connection.fetchval("SELECT purge_idempotency_records($1, $2)", before, PURGE_BATCH)
            deleted += batch
            activity.heartbeat(deleted)
            if batch < PURGE_BATCH:
                return deleted
