"""Tidying up behind uploads, and noticing those that went past us."""

from dataclasses import dataclass

from temporalio import activity

from cutroom.products.uploads.service import Gateway
from cutroom.products.uploads.sweep import SWEEP_BATCH, expire_sessions
from cutroom.products.uploads.targets import collect


@dataclass(frozen=True, slots=True)
class UploadActivities:
    """Activities on upload sessions."""

    gateway: Gateway
    past_us: bool  # whether the store is Google's, whose sessions do not tell us when they end

    @activity.defn(name="tend_uploads")
    async def tend_uploads(self) -> int:
        """End sessions whose time is over, and release the imports of files that are there; how many."""
        done = 0
        while (batch := await expire_sessions(self.gateway)) == SWEEP_BATCH:
            activity.heartbeat(done := done + batch)
        return done + batch + (await self._collect() if self.past_us else 0)

    async def _collect(self) -> int:
        gateway, found = self.gateway, 0
        async with gateway.database.connection() as connection:
            rows = await connection.fetch("SELECT library_id, video_id FROM pending_uploads($1)", SWEEP_BATCH)
        for row in rows:
            activity.heartbeat(found)
            found += await collect(
                gateway.database,
                gateway.storage,
                library_id=row["library_id"],
                video_id=row["video_id"],
                now=gateway.clock(),
            )
        return found
