"""Activities that empty the trash and purge videos."""

import asyncio
import logging
from dataclasses import dataclass

from temporalio import activity

from cutroom.jobs.worker import WorkerContext
from cutroom.library import trash
from cutroom.library.rules import video_path
from cutroom.products.catalog import PRODUCTS
from cutroom.retention.trash import service
from cutroom.retention.trash.purge import delete_video_rows
from cutroom.retention.trash.rules import TRASH_PERIOD

BATCH = 100

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class VideoRef:
    """A video that is being purged."""

    library_id: str
    video_id: str


@dataclass(frozen=True, slots=True)
class TrashActivities:
    """Activities of the empty-trash and purge-video workflows; each may run any number of times."""

    context: WorkerContext

    @activity.defn(name="start_purges")
    async def start_purges(self) -> int:
        """Start the purge of videos that have been in the trash for the whole period; return how many were due."""
        now, started = self.context.clock(), 0
        while True:
            async with self.context.database.connection() as connection:
                due = await trash.list_expired(connection, before=now - TRASH_PERIOD, limit=BATCH)
            for row in due:
                async with self.context.database.transaction(row["library_id"]) as connection:
                    started += await service.purge_video(connection, row["library_id"], row["id"], now=now)
                activity.heartbeat(started)
            if len(due) < BATCH:
                return started

    @activity.defn(name="release_external_copies")
    async def release_external_copies(self, video: VideoRef) -> None:
        """Let products remove what they keep outside the bucket's folder of the video, or at other services."""
        for product in PRODUCTS:
            if product.before_purge is not None:
                await product.before_purge(self.context, video.library_id, video.video_id)
                activity.heartbeat(product.name)

    @activity.defn(name="delete_video_objects")
    async def delete_video_objects(self, video: VideoRef) -> None:
        """Delete every object of the video."""
        prefix = video_path(video.library_id, video.video_id, "")
        deletion = asyncio.ensure_future(self.context.storage.delete_under(prefix))
        while not (await asyncio.wait([deletion], timeout=1))[0]:
            activity.heartbeat()
        await deletion

    @activity.defn(name="delete_video_rows")
    async def delete_video_rows(self, video: VideoRef) -> None:
        async with self.context.database.transaction(video.library_id) as connection:
            await delete_video_rows(connection, video.library_id, video.video_id)
        _log.info("video purged", extra={"library_id": video.library_id, "video_id": video.video_id})
