"""Activities that apply the retention policy of a library and measure what it stores."""

import logging
from dataclasses import dataclass
from datetime import datetime

from temporalio import activity

from cutroom.jobs.service import has_unfinished_jobs
from cutroom.library.videos import lock_retained_video
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.products.catalog import PRODUCTS
from cutroom.products.ingest.service import forget_original
from cutroom.products.uploads.sweep import LiveUploads, live_uploads
from cutroom.retention.policy import stored_files, usage
from cutroom.retention.policy.rules import (
    ABANDONED_AFTER,
    Cutoffs,
    StoredFile,
    UsageKind,
    count_by_day,
    count_by_kind,
    expired_files,
)
from cutroom.retention.policy.service import get_times
from cutroom.retention.policy.stored_files import VideoFiles

PAGE_OBJECTS = 20_000  # scanned by one activity, which ends with a whole video
LIBRARY_PAGE = 100
HEARTBEAT_OBJECTS = 500
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetentionRun:
    """One run for one library."""

    library_id: str
    run_at: datetime


@dataclass(frozen=True, slots=True)
class RetentionActivities:
    """Activities of ApplyRetentionWorkflow; each can be repeated, and finds less to delete."""

    database: Database
    storage: Storage
    multipart: Multipart
    clock: Clock

    @activity.defn(name="list_retained_libraries")
    async def list_libraries(self, after: str) -> list[str]:
        async with self.database.connection() as connection:
            rows = await connection.fetch("SELECT library_id FROM libraries_after($1, $2)", after, LIBRARY_PAGE)
        return [row["library_id"] for row in rows]

    @activity.defn(name="apply_retention")
    async def apply_retention(self, run: RetentionRun, after: str | None) -> str | None:
        """Applies the policy to the videos after an id; returns the last id of this page, or None at the end."""
        library_id, seen, objects = run.library_id, list[str](), 0
        async with self.database.transaction(library_id) as connection:
            cutoffs = Cutoffs.at(await get_times(connection, library_id), run.run_at)
        async for video in stored_files.list_videos(self.storage, library_id, after=after):
            await self._apply_to_video(run, await self._without_replaced(run, video), cutoffs)
            seen.append(video.video_id)
            objects += len(video.files)
            activity.heartbeat(objects)
            if objects >= PAGE_OBJECTS:
                break
        last = seen[-1] if objects >= PAGE_OBJECTS else None
        async with self.database.transaction(library_id) as connection:
            await usage.forget_missing(connection, library_id, after=after, until=last, seen=seen)
        return last

    async def _without_replaced(self, run: RetentionRun, video: VideoFiles) -> VideoFiles:
        """The files of a video after its products have deleted those that nothing refers to."""
        changed, deleted = {each.path: each.changed_at for each in video.files}, frozenset[str]()
        for product in PRODUCTS:
            if product.delete_replaced is not None:
                deleted |= await product.delete_replaced(
                    self.database, self.storage, run.library_id, video.video_id, changed, run.run_at
                )
        return VideoFiles(video.video_id, [each for each in video.files if each.path not in deleted])

    async def _apply_to_video(self, run: RetentionRun, video: VideoFiles, cutoffs: Cutoffs) -> None:
        """Decides and records in one transaction, then deletes the objects, so that no row names a missing one."""
        library_id, video_id = run.library_id, video.video_id
        async with self.database.transaction(library_id) as connection:
            expired = await self._expired(connection, run, video, cutoffs)
            kinds = {each.kind for each in expired}
            if UsageKind.ORIGINAL in kinds:
                await forget_original(connection, library_id, video_id, now=run.run_at)
            if UsageKind.OUTPUT in kinds:
                for product in PRODUCTS:
                    if product.delete_outputs is not None:
                        await product.delete_outputs(connection, library_id, video_id, run.run_at)
            deleted = {each.path for each in expired}
            kept = [each for each in video.files if each.path not in deleted]
            await usage.save_usage(connection, library_id, video_id, count_by_day(kept))
            counts = count_by_kind(expired)
            await usage.save_deletions(connection, library_id, video_id, run_at=run.run_at, counts=counts)
        await self._delete(expired)

    async def _expired(
        self, connection: Connection, run: RetentionRun, video: VideoFiles, cutoffs: Cutoffs
    ) -> list[StoredFile]:
        """Nothing of a video that is in the trash or has an unfinished job."""
        created_at = await lock_retained_video(connection, run.library_id, video.video_id)
        if created_at is None or await has_unfinished_jobs(connection, run.library_id, video.video_id):
            return []
        return expired_files(video.files, cutoffs, created_at=created_at)

    async def _delete(self, files: list[StoredFile]) -> None:
        for number, each in enumerate(files):
            await self.storage.delete(each.path)
            if number % HEARTBEAT_OBJECTS == 0:
                activity.heartbeat(number)

    @activity.defn(name="finish_retention")
    async def finish_retention(self, run: RetentionRun) -> None:
        """Deletes abandoned uploads, counts the objects of the library itself, and sums everything up."""
        library_id, cutoff = run.library_id, run.run_at - ABANDONED_AFTER
        async with self.database.transaction(library_id) as connection:
            live = await live_uploads(connection, library_id)
        abandoned, kept = list[StoredFile](), dict(count_by_day([]))
        number = 0
        async for file in stored_files.list_library_files(self.storage, library_id):
            number += 1
            if number % HEARTBEAT_OBJECTS == 0:
                activity.heartbeat(number)
            if _is_abandoned(file, live, cutoff):
                abandoned.append(file)
                continue
            for key, count in count_by_day([file]).items():
                kept[key] = kept[key] + count if key in kept else count
        async with self.database.transaction(library_id) as connection:
            await usage.save_usage(connection, library_id, usage.LIBRARY, kept)
            counts = count_by_kind(abandoned)
            await usage.save_deletions(connection, library_id, usage.LIBRARY, run_at=run.run_at, counts=counts)
            await usage.finish_scan(connection, library_id, now=self.clock())
        await self._delete(abandoned)
        await self._abort_uploads(library_id, live, cutoff)

    async def _abort_uploads(self, library_id: str, live: LiveUploads, cutoff: datetime) -> None:
        """Aborts multipart uploads of sessions, or of workers, that ended without completing them."""
        for upload in await self.multipart.list_uploads(stored_files.library_prefix(library_id)):
            if upload.upload_id not in live.multipart_ids and upload.started_at < cutoff:
                activity.heartbeat()
                await self.multipart.abort(upload.path, upload.upload_id)
                _log.info("abandoned upload aborted", extra={"library_id": library_id, "path": upload.path})


def _is_abandoned(file: StoredFile, live: LiveUploads, cutoff: datetime) -> bool:
    session_id = stored_files.upload_session_of(file.path)
    return session_id is not None and session_id not in live.session_ids and file.changed_at < cutoff
