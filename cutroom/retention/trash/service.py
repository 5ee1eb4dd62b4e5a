"""Deletes videos to the trash, restores them, and starts their purge."""

from collections.abc import Collection
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import not_found
from cutroom.jobs.cancellation import cancel_video_jobs
from cutroom.library import trash
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.products.ingest.service import release_source
from cutroom.retention.trash.rules import purge_time
from cutroom.retention.trash.schemas import TrashedVideo
from cutroom.web.products import JobHooks

PURGE_WORKFLOW = "purge-video"


async def delete_video(
    connection: Connection,
    library_id: str,
    video_id: str,
    *,
    permanently: bool,
    if_match: str | None,
    hooks: JobHooks,
    now: datetime,
) -> None:
    """Move a video to the trash, or purge it from there or at once; its unfinished jobs are canceled and refunded."""
    await trash.lock_for_deletion(connection, library_id, video_id, if_match=if_match)
    if not permanently and await trash.is_trashed(connection, library_id, video_id):
        raise not_found()
    await cancel_video_jobs(connection, library_id, [video_id], hooks=hooks, now=now)
    await trash.move_to_trash(connection, library_id, video_id, now=now)
    if permanently:
        await purge_video(connection, library_id, video_id, now=now)


async def delete_videos(
    connection: Connection, library_id: str, video_ids: Collection[str], *, hooks: JobHooks, now: datetime
) -> None:
    """Move several videos to the trash, or none if one of them is not in the library.

    Each kind of lock is taken for all videos, in the order of their ids, before the next kind.
    """
    ordered = sorted(set(video_ids))
    for video_id in ordered:
        await trash.lock_for_deletion(connection, library_id, video_id, if_match=None)
    for video_id in ordered:
        if await trash.is_trashed(connection, library_id, video_id):
            raise not_found()
    await cancel_video_jobs(connection, library_id, ordered, hooks=hooks, now=now)
    for video_id in ordered:
        await trash.move_to_trash(connection, library_id, video_id, now=now)


async def purge_video(connection: Connection, library_id: str, video_id: str, *, now: datetime) -> bool:
    """Start the purge of a video in the trash; return False if it was restored or is being purged."""
    if not await trash.start_purge(connection, library_id, video_id, now=now):
        return False
    await release_source(connection, library_id, video_id)  # the same source can be imported again
    await enqueue(
        connection,
        WorkflowStart(
            library_id=library_id,
            workflow=PURGE_WORKFLOW,
            workflow_id=f"purge_{video_id}",
            argument={"library_id": library_id, "video_id": video_id},
        ),
    )
    return True


async def restore_video(connection: Connection, library_id: str, video_id: str) -> None:
    """Take a video out of the trash; do nothing if it is not there."""
    await trash.take_from_trash(connection, library_id, video_id)


async def get_trashed_video(connection: Connection, library_id: str, video_id: str) -> TrashedVideo | None:
    """A video in the trash; None if it is not there."""
    found = await trash.get_trashed(connection, library_id, video_id)
    return _to_schema(found) if found is not None else None


async def list_trash(
    connection: Connection, principal: Principal, *, before: str | None, limit: int
) -> tuple[list[TrashedVideo], bool]:
    found, more = await trash.list_trash(connection, principal.library_id, before=before, limit=limit)
    return [_to_schema(each) for each in found], more


def _to_schema(video: trash.TrashedVideo) -> TrashedVideo:
    return TrashedVideo(
        id=video.id,
        title=video.title,
        duration=video.duration_seconds,
        media_type=video.media_type,
        deleted_at=video.deleted_at,
        purge_at=purge_time(video.deleted_at),
    )
