"""Characters, for the worker."""

from cutroom.jobs.work import Activities, Parts, Work
from cutroom.library.branding import Darkroom
from cutroom.platform.temporal import Queue
from cutroom.products.characters.activities import CharacterActivities
from cutroom.products.characters.workflow import KeepPicture


def _activities(parts: Parts) -> Activities:
    characters = CharacterActivities(
        database=parts.database,
        workbench=parts.workbench,
        darkroom=Darkroom(parts.storage, parts.sandbox),
        clock=parts.clock,
    )
    return {
        Queue.VISION: [characters.keep_character_picture, characters.clear_character_picture],
    }


WORK = Work(workflows=[KeepPicture], activities=_activities)
