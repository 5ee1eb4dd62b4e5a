"""Tests for processing uploaded character images."""

from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.jobs.lifecycle import JobRef
from cutroom.library.branding import CharacterImageStore, add_character, delete_character
from cutroom.library.rules import character_path, uploaded_image_path
from cutroom.media.images import sniff_image
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.characters.activities import CharacterActivities
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.pages.test_characters import png

METADATA = b"GPS 52.52 13.40"


@pytest.fixture
def activities(runtime: Runtime, tmp_path: Path) -> CharacterActivities:
    media_cache = LocalMediaCache(runtime.storage, tmp_path / "work", max_bytes=10_000_000)
    return CharacterActivities(
        runtime.database, media_cache, CharacterImageStore(runtime.storage, Sandbox()), system_clock
    )


@pytest.fixture
async def character_id(accounts: Accounts, person: Person) -> str:
    return await add_character(accounts.connection, person.library_id, name="Ada", images=[], now=system_clock())


async def process(activities: CharacterActivities, person: Person, character_id: str, data: bytes) -> str:
    image_id = new_id()
    await activities.image_store.storage.put(uploaded_image_path(person.library_id, image_id), data)
    job = JobRef(person.library_id, f"character_{image_id}", 1)
    await ActivityEnvironment().run(activities.store_character_image, job, character_id, image_id)
    await ActivityEnvironment().run(activities.delete_character_upload, job, image_id)
    return image_id


async def test_image_is_stored_without_metadata_and_upload_is_deleted(
    activities: CharacterActivities, accounts: Accounts, person: Person, character_id: str
) -> None:
    image_id = await process(activities, person, character_id, png() + METADATA)
    storage = activities.image_store.storage
    stored = b"".join([chunk async for chunk in storage.read(character_path(person.library_id, image_id))])
    header = sniff_image(stored)
    assert header is not None
    assert (header.width, header.height) == (32, 32)
    assert METADATA not in stored
    assert await storage.size(uploaded_image_path(person.library_id, image_id)) is None
    query = "SELECT id FROM character_images WHERE character_id = $1"
    assert await accounts.connection.fetchval(query, character_id) == image_id


async def test_truncated_image_is_rejected(
    activities: CharacterActivities, accounts: Accounts, person: Person, character_id: str
) -> None:
    with pytest.raises(ApplicationError) as caught:
        await process(activities, person, character_id, png(200)[:120])
    assert (caught.value.type, caught.value.non_retryable) == ("UNSUPPORTED_SOURCE", True)
    query = "SELECT count(*) FROM character_images WHERE character_id = $1"
    assert await accounts.connection.fetchval(query, character_id) == 0


async def test_image_of_a_deleted_character_is_discarded(
    activities: CharacterActivities, accounts: Accounts, person: Person, character_id: str
) -> None:
    await delete_character(accounts.connection, person.library_id, character_id)
    image_id = await process(activities, person, character_id, png())
    assert await activities.image_store.storage.size(character_path(person.library_id, image_id)) is None
