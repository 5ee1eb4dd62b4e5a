"""Dubs, for the worker."""

from cutroom.jobs.work import Activities, Parts, Work
from cutroom.platform.temporal import Queue
from cutroom.products.dubs.activities import DubActivities
from cutroom.products.dubs.shelf import Shelf
from cutroom.products.dubs.workflow import MakeDub, RemakeDub


def _activities(parts: Parts) -> Activities:
    dubs = DubActivities(
        database=parts.database,
        shelf=Shelf(parts.storage, parts.workbench, parts.sandbox),
        engines=parts.engines,
        clock=parts.clock,
    )
    return {
        Queue.SPEECH: [
            dubs.plan_dub,
            dubs.part_dub_piece,
            dubs.cast_dub,
            dubs.speak_dub_line,
            dubs.lay_out_dub,
            dubs.mix_dub_piece,
            dubs.hear_dub_piece,
            dubs.publish_dub_preview,
            dubs.publish_dub,
        ],
    }


WORK = Work(workflows=[MakeDub, RemakeDub], activities=_activities)
