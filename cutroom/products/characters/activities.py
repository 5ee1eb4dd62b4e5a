"""Activities of the character image workflows."""

from dataclasses import dataclass

from temporalio import activity

from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import job_step
from cutroom.library.branding import CharacterImageStore, add_image
from cutroom.library.rules import uploaded_image_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.products.characters.service import ImageDeletion


@dataclass(frozen=True, slots=True)
class CharacterActivities:
    """Activities that store and delete character images; idempotent."""

    database: Database
    media_cache: LocalMediaCache
    image_store: CharacterImageStore
    clock: Clock

    @activity.defn(name="store_character_image")
    async def store_character_image(self, job: JobRef, character_id: str, image_id: str) -> None:
        """Decodes the upload in the sandbox, stores the image, and adds it to the character."""
        upload_path = uploaded_image_path(job.library_id, image_id)
        async with job_step(self.database, self.clock, job, "processing image", progress=90):
            async with self.media_cache.fetch(upload_path) as copy:
                path = await self.image_store.store(copy.path, job.library_id, image_id)
            async with self.database.transaction(job.library_id) as connection:
                is_added = await add_image(connection, job.library_id, character_id, image_id=image_id, path=path)
        if not is_added:  # the character was deleted meanwhile
            await self.image_store.storage.delete(path)

    @activity.defn(name="delete_character_images")
    async def delete_character_images(self, deletion: ImageDeletion) -> None:
        """Deletes images from storage; those that are gone already are skipped."""
        for path in deletion.paths:
            await self.image_store.storage.delete(path)

    @activity.defn(name="delete_character_upload")
    async def delete_character_upload(self, job: JobRef, image_id: str) -> None:
        """Deletes the uploaded file."""
        await self.image_store.storage.delete(uploaded_image_path(job.library_id, image_id))
