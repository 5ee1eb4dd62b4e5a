"""Playback, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue
from cutroom.products.playback.activities import PlaybackActivities
from cutroom.products.playback.workflow import PlaybackWorkflow


def _activities(parts: WorkerContext) -> Activities:
    playback = PlaybackActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=parts.workbench,
        sandbox=parts.sandbox,
        clock=parts.clock,
        is_on=parts.settings.playback == "on",
    )
    return {
        Queue.CONTROL: [playback.claim_playback, playback.publish_playback, playback.give_up_playback],
        Queue.MEDIA: [
            playback.plan_playback,
            playback.encode_ladder_piece,
            playback.package_rung,
            playback.package_track,
            playback.clear_ladder_pieces,
        ],
    }


WORK = WorkerRegistration(workflows=[PlaybackWorkflow], activities=_activities)
