"""Copies on real PostgreSQL, SeaweedFS and Temporal."""

import random
from typing import Any

import httpx

from tests.retention.copies.conftest import Copier, CustomerStore
from tests.retention.exports.conftest import SeededLibrary

PATH = "/library/destination"
COPIES = f"{PATH}/copies"
TRACK = random.Random(11).randbytes(20 * 2**20)  # three parts


async def only_copy(api: httpx.AsyncClient) -> dict[str, Any]:
    copies: list[dict[str, Any]] = (await api.get(COPIES)).json()["copies"]
    (found,) = copies
    return found


async def ready_dub(api: httpx.AsyncClient, store: CustomerStore, copier: Copier, library: SeededLibrary) -> str:
    """Sets the bucket, completes a dub, and returns the folder of its copy."""
    await library.storage.put(library.path("dubs/pt-plus/track.m4a"), TRACK)
    (await api.put(PATH, json=store.body())).raise_for_status()
    store.requests.clear()
    job_id = f"dub_{library.video_id}_pt_plus"
    await copier.complete(library, job_id)
    return f"from/cutroom/{library.video_id}/dubs/{job_id}"


async def test_files_of_a_ready_job_arrive_once(
    api: httpx.AsyncClient, store: CustomerStore, copier: Copier, library: SeededLibrary
) -> None:
    folder = await ready_dub(api, store, copier, library)
    copy = await only_copy(api)
    assert copy["status"] == "pending"
    await copier.wait(copy["id"], 1)
    content = await store.content()
    assert set(content) == {f"{folder}/pt-plus.m4a", f"{folder}/pt-plus.json"}
    assert content[f"{folder}/pt-plus.m4a"] == TRACK
    assert library.marker.encode() in content[f"{folder}/pt-plus.json"]
    copied = await only_copy(api)
    assert (copied["status"], copied["objects"]) == ("copied", 2)
    assert copied["bytes"] == sum(map(len, content.values()))
    assert len(store.writes()) == 6  # the script; then three parts between the start and the end of an upload
    store.requests.clear()
    assert (await api.post(f"{COPIES}/{copy['id']}/retry")).status_code == 202
    await copier.relay()
    await copier.wait(copy["id"], 2)
    assert store.writes() == []
    assert (await only_copy(api))["status"] == "copied"


async def test_other_jobs_and_disabled_buckets_copy_nothing(
    api: httpx.AsyncClient, store: CustomerStore, copier: Copier, library: SeededLibrary
) -> None:
    await copier.complete(library, f"captions_{library.video_id}_pt")
    (await api.put(PATH, json=store.body())).raise_for_status()
    await copier.complete(library, f"import_{library.video_id}")
    (await api.put(PATH, json=store.body(enabled=False))).raise_for_status()
    await copier.complete(library, f"transcript_{library.video_id}")
    assert (await api.get(COPIES)).json() == {"copies": []}


async def test_wrong_secret_fails_the_copy_until_it_is_corrected(
    api: httpx.AsyncClient, store: CustomerStore, copier: Copier, library: SeededLibrary
) -> None:
    await ready_dub(api, store, copier, library)
    (await api.put(PATH, json=store.body(secretAccessKey="rotated", enabled=False))).raise_for_status()
    await library.accounts.connection.execute(
        "UPDATE destinations SET enabled = true WHERE library_id = $1", library.library_id
    )
    copy_id = (await only_copy(api))["id"]
    await copier.wait(copy_id, 1)
    failed = await only_copy(api)
    assert (failed["status"], failed["objects"]) == ("failed", 0)
    assert failed["error"] == "The secret access key does not belong to this access key."
    (await api.put(PATH, json=store.body())).raise_for_status()
    await api.post(f"{COPIES}/{copy_id}/retry")
    await copier.relay()
    await copier.wait(copy_id, 2)
    copied = await only_copy(api)
    assert (copied["status"], copied["objects"], "error" in copied) == ("copied", 2, False)


async def test_interrupted_file_continues_at_its_next_part(
    api: httpx.AsyncClient, store: CustomerStore, copier: Copier, library: SeededLibrary
) -> None:
    folder = await ready_dub(api, store, copier, library)
    copy_id = (await only_copy(api))["id"]
    store.hangs_at = lambda line: "partNumber=3" in line
    async with copier.worker():
        await store.hanging.wait()
    store.hangs_at = lambda _line: False
    await copier.wait(copy_id, 1)
    assert (await store.content())[f"{folder}/pt-plus.m4a"] == TRACK
    parts = [line.partition("partNumber=")[2][0] for line in store.requests if "partNumber=" in line]
    assert parts == ["1", "2", "3", "3"]
    assert sum("uploads=" in line for line in store.requests) == 1


async def test_line_changed_in_a_dub_is_copied_again(
    api: httpx.AsyncClient, store: CustomerStore, copier: Copier, library: SeededLibrary
) -> None:
    folder = await ready_dub(api, store, copier, library)
    copy_id = (await only_copy(api))["id"]
    await copier.wait(copy_id, 1)
    await library.storage.put(library.path("dubs/pt-plus/track.m4a"), b"changed")
    plan = {"dubbed_video_id": library.video_id, "language": "pt", "product": "plus"}
    await copier.complete(library, f"redub_{library.image_id}", video_id=None, plan=plan)
    await copier.wait(copy_id, 2)
    assert (await store.content())[f"{folder}/pt-plus.m4a"] == b"changed"
    assert (await only_copy(api))["status"] == "copied"
