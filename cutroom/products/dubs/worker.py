"""Dubs, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.temporal import Queue
from cutroom.products.dubs.activities import DubActivities
from cutroom.products.dubs.artifacts import DubArtifacts
from cutroom.products.dubs.workflow import DubWorkflow, RedubWorkflow


def _activities(parts: WorkerContext) -> Activities:
    dubs = DubActivities(
        database=parts.database,
        shelf=DubArtifacts(parts.storage, parts.workbench, parts.sandbox),
        engines=parts.engines,
        clock=parts.clock,
    )
    return {
        Queue.SPEECH: [
            dubs.plan_dub,
            dubs.separate_chunk,
            dubs.assign_voices,
            dubs.synthesize_line,
            dubs.schedule_lines,
            dubs.mix_chunk,
            dubs.transcribe_chunk,
            dubs.publish_dub_preview,
            dubs.publish_dub,
        ],
    }


WORK = WorkerRegistration(workflows=[DubWorkflow, RedubWorkflow], activities=_activities)
