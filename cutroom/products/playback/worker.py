"""Builds the playback activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.playback.activities import PlaybackActivities


def register(context: WorkerContext) -> Activities:
    playback = PlaybackActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        clock=context.clock,
        is_enabled=context.settings.playback == "on",
    )
    return {
        TaskQueue.CONTROL: [playback.acquire_playback_lease, playback.publish_playback, playback.fail_playback],
        TaskQueue.MEDIA: [
            playback.plan_playback,
            playback.encode_ladder_chunk,
            playback.package_ladder,
            playback.package_rendition,
            playback.delete_ladder_chunks,
            playback.package_track,
            playback.delete_obsolete_tracks,
        ],
    }
