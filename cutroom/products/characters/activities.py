"""Looking at a picture that somebody sent, walled in."""

from dataclasses import dataclass

from temporalio import activity

from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import job_step
from cutroom.library.branding import CharacterImageStore, put_image
from cutroom.library.rules import sent_picture_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database


@dataclass(frozen=True, slots=True)
class CharacterActivities:
    """A repeat writes the same picture to the same place."""

    database: Database
    workbench: LocalMediaCache
    darkroom: CharacterImageStore
    clock: Clock

    @activity.defn(name="keep_character_picture")
    async def keep_character_picture(self, ref: JobRef, character_id: str, image_id: str) -> None:
        """Decode what was sent, keep what is seen in it, and show it with the character."""
        sent = sent_picture_path(ref.library_id, image_id)
        async with job_step(self.database, self.clock, ref, "looking", progress=90):
            async with self.workbench.fetch(sent) as copy:
                path = await self.darkroom.keep(copy.path, ref.library_id, image_id)
            async with self.database.transaction(ref.library_id) as connection:
                is_shown = await put_image(connection, ref.library_id, character_id, image_id=image_id, path=path)
        if not is_shown:  # the character was deleted meanwhile
            await self.darkroom.storage.delete(path)

    @activity.defn(name="clear_character_picture")
    async def clear_character_picture(self, ref: JobRef, image_id: str) -> None:
        """What was sent is not needed any more, whether it could be used or not."""
        await self.darkroom.storage.delete(sent_picture_path(ref.library_id, image_id))
