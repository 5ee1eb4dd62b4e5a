"""The periodic sweep of upload sessions."""

from dataclasses import dataclass

from temporalio import activity

from cutroom.products.uploads.service import Gateway
from cutroom.products.uploads.sweep import SWEEP_BATCH, expire_sessions, expire_uploads, finish_abandoned
from cutroom.products.uploads.targets import release_if_stored


@dataclass(frozen=True, slots=True)
class UploadActivities:
    """Activities on upload sessions."""

    gateway: Gateway
    uploads_go_to_gcs: bool  # clients upload to GCS directly, so finished uploads must be detected

    @activity.defn(name="sweep_uploads")
    async def sweep_uploads(self) -> int:
        """Releases the imports of files that arrived in GCS, finishes abandoned uploads, then expires uploads and
        sessions; returns how many."""
        swept = await self._release_stored() if self.uploads_go_to_gcs else 0
        for sweep in (finish_abandoned, expire_uploads, expire_sessions):
            while (batch := await sweep(self.gateway)) == SWEEP_BATCH:
                activity.heartbeat(swept := swept + batch)
            swept += batch
        return swept

    async def _release_stored(self) -> int:
        gateway, released = self.gateway, 0
        async with gateway.database.connection() as connection:
            rows = await connection.fetch("SELECT library_id, video_id FROM pending_uploads($1)", SWEEP_BATCH)
        for row in rows:
            activity.heartbeat(released)
            released += await release_if_stored(
                gateway.database,
                gateway.storage,
                library_id=row["library_id"],
                video_id=row["video_id"],
                now=gateway.clock(),
            )
        return released
