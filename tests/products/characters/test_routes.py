"""Deleting a character over the API, with its images in storage."""

import asyncio
from pathlib import Path

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.library.branding import CharacterImageStore, add_character, require_character_images
from cutroom.library.rules import character_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.characters.activities import CharacterActivities
from cutroom.products.characters.service import DELETE_WORKFLOW, ImageDeletion
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.library.test_editing import add_job

IMAGES = 3


@pytest.fixture
async def image_ids(runtime: Runtime, person: Person) -> list[str]:
    ids = [new_id() for _ in range(IMAGES)]
    for each in ids:
        await runtime.storage.put(character_path(person.library_id, each), b"image")
    return ids


@pytest.fixture
async def character_id(accounts: Accounts, person: Person, image_ids: list[str]) -> str:
    images = [(each, character_path(person.library_id, each)) for each in image_ids]
    return await add_character(accounts.connection, person.library_id, name="Ada", images=images, now=system_clock())


async def deletions(accounts: Accounts, character_id: str) -> list[ImageDeletion]:
    """What the outbox starts for a character."""
    rows = await accounts.connection.fetch(
        "SELECT argument FROM outbox WHERE workflow = $1 AND workflow_id = $2",
        DELETE_WORKFLOW,
        f"{DELETE_WORKFLOW}_{character_id}",
    )
    return [ImageDeletion(tuple(row["argument"]["paths"])) for row in rows]


async def test_images_are_deleted_from_storage_by_a_workflow_of_the_same_transaction(
    api: httpx.AsyncClient,
    runtime: Runtime,
    accounts: Accounts,
    person: Person,
    character_id: str,
    image_ids: list[str],
    tmp_path: Path,
) -> None:
    url = f"/characters/{character_id}"
    assert [each["id"] for each in (await api.get(url)).json()["referenceImages"]] == sorted(image_ids)
    assert (await api.delete(url)).status_code == 204
    assert (await api.get("/characters")).json() == {"characters": []}
    assert (
        await accounts.connection.fetchval(
            "SELECT count(*) FROM character_images WHERE library_id = $1", person.library_id
        )
        == 0
    )
    paths = {character_path(person.library_id, each) for each in image_ids}
    [deletion] = await deletions(accounts, character_id)
    assert set(deletion.paths) == paths
    activities = CharacterActivities(
        runtime.database,
        LocalMediaCache(runtime.storage, tmp_path, max_bytes=1_000),
        CharacterImageStore(runtime.storage, Sandbox()),
        system_clock,
    )
    for _ in range(2):  # an attempt may be repeated
        await ActivityEnvironment().run(activities.delete_character_images, deletion)
        assert [await runtime.storage.size(path) for path in paths] == [None] * IMAGES


@pytest.mark.parametrize("names_image", [False, True])
async def test_character_in_use_is_kept_until_the_job_has_finished(
    api: httpx.AsyncClient,
    accounts: Accounts,
    person: Person,
    character_id: str,
    image_ids: list[str],
    names_image: bool,  # noqa: FBT001 (a test parameter)
) -> None:
    reference = {"referenceImageIds": [image_ids[1]]} if names_image else {"characterId": character_id}
    job_id = await add_job(accounts, person, {"characters": [{"name": "Ada"}, reference]})
    refused = await api.delete(f"/characters/{character_id}")
    assert (refused.status_code, refused.json()["error"]["details"]) == (
        409,
        {"reason": "in_use", "jobIds": [job_id]},
    )
    assert await deletions(accounts, character_id) == []
    await accounts.connection.execute("UPDATE jobs SET status = 'ready', finished_at = now() WHERE id = $1", job_id)
    assert (await api.delete(f"/characters/{character_id}")).status_code == 204


async def test_deletion_starts_after_a_request_that_uses_an_image(
    api: httpx.AsyncClient,
    runtime: Runtime,
    accounts: Accounts,
    person: Person,
    character_id: str,
    image_ids: list[str],
) -> None:
    async with runtime.database.transaction(person.library_id) as connection:
        await require_character_images(connection, person.library_id, image_ids[:1], character_id=None)
        deleting = asyncio.create_task(api.delete(f"/characters/{character_id}"))
        await asyncio.sleep(0.3)
        assert not deleting.done()
        await add_job(accounts, person, {"characters": [{"referenceImageIds": image_ids[:1]}]})
    assert (await deleting).status_code == 409


async def test_stale_or_refused_deletion_starts_no_workflow(
    api: httpx.AsyncClient, accounts: Accounts, character_id: str
) -> None:
    other = await accounts.key(await accounts.person())
    assert (await api.delete(f"/characters/{character_id}", headers={"If-Match": '"9"'})).status_code == 409
    assert (await api.delete(f"/characters/{character_id}", headers=other.headers)).status_code == 404
    assert await deletions(accounts, character_id) == []


async def test_character_without_images_is_deleted(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    bare = await add_character(accounts.connection, person.library_id, name="Bob", images=[], now=system_clock())
    assert (await api.delete(f"/characters/{bare}")).status_code == 204
    assert await deletions(accounts, bare) == []
