"""POST /videos/{videoId}/uploads."""

import httpx
import pytest

from dev.scratch import Accounts, Keyring, Person
from tests.products.uploads.conftest import Reserved, Uploader, reserve

BODY = {"fileName": "talk.mp4", "contentType": "video/quicktime"}


@pytest.fixture
def api(client: httpx.AsyncClient, key: Keyring) -> httpx.AsyncClient:
    client.headers.update(key.headers)
    return client


async def test_url_starts_an_upload(api: httpx.AsyncClient, uploader: Uploader, reserved: Reserved) -> None:
    response = await api.post(f"/v1/videos/{reserved.video_id}/uploads", json=BODY)
    assert response.status_code == 200
    given = response.json()
    assert (given["videoId"], given["storagePath"]) == (reserved.video_id, reserved.storage_path)
    assert given["jobId"] == f"import_{reserved.video_id}"
    path = httpx.URL(given["url"]).raw_path.decode()
    started = await api.post(path, headers={"x-goog-resumable": "start"})
    assert started.status_code == 201
    done = await api.put(httpx.URL(started.headers["location"]).raw_path.decode(), content=b"bytes")
    assert (done.status_code, done.json()["contentType"]) == (200, "video/quicktime")
    assert await uploader.stored() == b"bytes"
    again = await api.post(f"/v1/videos/{reserved.video_id}/uploads", json=BODY)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "CONFLICT")


@pytest.mark.parametrize("name", ["", "a/b", "a\\b", "x" * 256, None])
async def test_file_name_cannot_be_a_path(api: httpx.AsyncClient, reserved: Reserved, name: str | None) -> None:
    response = await api.post(f"/v1/videos/{reserved.video_id}/uploads", json={"fileName": name})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")


async def test_video_of_another_library_is_not_found(api: httpx.AsyncClient, accounts: Accounts) -> None:
    other: Person = await accounts.person()
    foreign = await reserve(accounts, other.library_id)
    for video_id in (foreign.video_id, "none"):
        response = await api.post(f"/v1/videos/{video_id}/uploads", json=BODY)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_video_without_upload_conflicts(api: httpx.AsyncClient, accounts: Accounts, reserved: Reserved) -> None:
    await accounts.connection.execute("UPDATE sources SET type = 'https' WHERE video_id = $1", reserved.video_id)
    response = await api.post(f"/v1/videos/{reserved.video_id}/uploads", json=BODY)
    assert (response.status_code, response.json()["error"]["code"]) == (409, "CONFLICT")
