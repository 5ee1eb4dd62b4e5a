"""The activity that drops old events and prepares partitions for new ones."""

from dataclasses import dataclass

from temporalio import activity

from cutroom.events.rules import RETENTION
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database

PURGE_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class EventActivities:
    """Maintains the partitions of the event log."""

    database: Database
    clock: Clock

    @activity.defn(name="purge_events")
    async def purge_events(self) -> int:
        """Drop expired partitions, delete other expired events and deliveries, and create the partitions of next weeks.

        Returns how many partitions were dropped, and rows deleted.
        """
        now = self.clock()
        before = now - RETENTION
        async with self.database.connection() as connection:
            await connection.execute("SELECT create_event_partitions($1)", now)
            await connection.execute("SELECT mark_expired_events($1)", before)
            deleted: int = await connection.fetchval("SELECT drop_expired_events($1)", before)
        for function in ("purge_events", "purge_deliveries", "purge_delivery_attempts"):
            batch = PURGE_BATCH
            while batch == PURGE_BATCH:
                async with self.database.connection() as connection:
                    query = f"SELECT {function}($1, $2)"
                    batch = await connection.fetchval(query, before, PURGE_BATCH)
                deleted += batch
                activity.heartbeat(deleted)
        return deleted
