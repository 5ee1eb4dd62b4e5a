"""A worker looks at a picture that was sent: what it keeps, and what it refuses."""

from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.jobs.lifecycle import JobRef
from cutroom.library.branding import CharacterImageStore, delete_character, put_character
from cutroom.library.rules import character_path, sent_picture_path
from cutroom.media.images import sniff_picture
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.characters.activities import CharacterActivities
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.console.pages.test_characters import png

SECRET = b"GPS 52.52 13.40"


@pytest.fixture
def activities(runtime: Runtime, tmp_path: Path) -> CharacterActivities:
    bench = LocalMediaCache(runtime.storage, tmp_path / "work", max_bytes=10_000_000)
    return CharacterActivities(runtime.database, bench, CharacterImageStore(runtime.storage, Sandbox()), system_clock)


@pytest.fixture
async def character_id(accounts: Accounts, person: Person) -> str:
    return await put_character(accounts.connection, person.library_id, name="Ada", images=[], now=system_clock())


async def look(activities: CharacterActivities, person: Person, character_id: str, data: bytes) -> str:
    image_id = new_id()
    await activities.darkroom.storage.put(sent_picture_path(person.library_id, image_id), data)
    ref = JobRef(person.library_id, f"character_{image_id}", 1)
    await ActivityEnvironment().run(activities.keep_character_picture, ref, character_id, image_id)
    await ActivityEnvironment().run(activities.clear_character_picture, ref, image_id)
    return image_id


async def test_what_is_seen_is_kept_and_what_was_sent_is_gone(
    activities: CharacterActivities, accounts: Accounts, person: Person, character_id: str
) -> None:
    image_id = await look(activities, person, character_id, png() + SECRET)
    storage = activities.darkroom.storage
    kept = b"".join([chunk async for chunk in storage.read(character_path(person.library_id, image_id))])
    head = sniff_picture(kept)
    assert head is not None
    assert (head.width, head.height) == (32, 32)
    assert SECRET not in kept
    assert await storage.size(sent_picture_path(person.library_id, image_id)) is None
    shown = "SELECT id FROM character_images WHERE character_id = $1"
    assert await accounts.connection.fetchval(shown, character_id) == image_id


async def test_a_picture_that_is_cut_off_ends_with_a_sentence(
    activities: CharacterActivities, accounts: Accounts, person: Person, character_id: str
) -> None:
    with pytest.raises(ApplicationError) as caught:
        await look(activities, person, character_id, png(200)[:120])
    assert (caught.value.type, caught.value.non_retryable) == ("UNSUPPORTED_SOURCE", True)
    shown = "SELECT count(*) FROM character_images WHERE character_id = $1"
    assert await accounts.connection.fetchval(shown, character_id) == 0


async def test_a_character_that_was_deleted_meanwhile_gets_no_picture(
    activities: CharacterActivities, accounts: Accounts, person: Person, character_id: str
) -> None:
    await delete_character(accounts.connection, person.library_id, character_id)
    image_id = await look(activities, person, character_id, png())
    assert await activities.darkroom.storage.size(character_path(person.library_id, image_id)) is None
