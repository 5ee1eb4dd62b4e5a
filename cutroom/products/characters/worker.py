"""Characters, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.library.branding import CharacterImageStore
from cutroom.platform.temporal import Queue
from cutroom.products.characters.activities import CharacterActivities
from cutroom.products.characters.workflow import CharacterImageWorkflow


def _activities(parts: WorkerContext) -> Activities:
    characters = CharacterActivities(
        database=parts.database,
        workbench=parts.workbench,
        darkroom=CharacterImageStore(parts.storage, parts.sandbox),
        clock=parts.clock,
    )
    return {
        Queue.VISION: [characters.keep_character_picture, characters.clear_character_picture],
    }


WORK = WorkerRegistration(workflows=[CharacterImageWorkflow], activities=_activities)
