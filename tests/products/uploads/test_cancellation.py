"""Uploads that end without their file: DELETE /videos/{videoId}/uploads, and expiry after a day."""

import os
from datetime import timedelta
from typing import Any

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from cutroom.platform.storage.multipart import Multipart
from cutroom.products.uploads.activities import UploadActivities
from cutroom.products.uploads.rules import CHUNK_BYTES, PART_BYTES
from cutroom.products.uploads.service import Gateway
from dev.scratch import Accounts, Keyring, Person
from tests.conftest import MovableClock
from tests.products.uploads.conftest import Reserved, Uploader

DATA = os.urandom(PART_BYTES + CHUNK_BYTES)


@pytest.fixture
def api(client: httpx.AsyncClient, key: Keyring) -> httpx.AsyncClient:
    client.headers.update(key.headers)
    return client


async def announce(api: httpx.AsyncClient) -> str:
    response = await api.post("/v1/videos", json={"source": {"type": "upload"}})
    assert response.status_code == 202, response.text
    video_id: str = response.json()["videoId"]
    return video_id


async def start(api: httpx.AsyncClient, gateway: Gateway, video_id: str) -> Uploader:
    """Requests an upload URL and starts its session, as a caller does."""
    given = (await api.post(f"/v1/videos/{video_id}/uploads", json={"fileName": "talk.mp4"})).json()
    started = await api.post(httpx.URL(given["url"]).raw_path.decode(), headers={"x-goog-resumable": "start"})
    assert started.status_code == 201, started.text
    library_id = given["storagePath"].split("/")[1]
    uploader = Uploader(api, gateway, Reserved(library_id, video_id, given["storagePath"]))
    uploader.url = httpx.URL(started.headers["location"]).raw_path.decode()
    return uploader


async def cancel(api: httpx.AsyncClient, video_id: str, **options: Any) -> httpx.Response:  # noqa: ANN401
    return await api.delete(f"/v1/videos/{video_id}/uploads", **options)


async def job(api: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await api.get(f"/v1/jobs/{job_id}")).json()
    return found


async def sweep(gateway: Gateway) -> int:
    activities = UploadActivities(gateway, uploads_go_to_gcs=False)
    swept: int = await ActivityEnvironment().run(activities.sweep_uploads)
    return swept


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def test_canceled_import_fails_with_its_dependents(api: httpx.AsyncClient) -> None:
    video_id = await announce(api)
    response = await cancel(api, video_id)
    assert (response.status_code, response.content) == (204, b"")
    canceled = await job(api, f"import_{video_id}")
    assert (canceled["status"], canceled["error"]["code"]) == ("failed", "CANCELLED")
    transcript = await job(api, f"transcript_{video_id}")
    assert (transcript["status"], transcript["error"]["code"]) == ("failed", "FAILED_PRECONDITION")
    assert transcript["error"]["details"] == {"jobId": f"import_{video_id}"}
    assert (await api.get(f"/v1/videos/{video_id}")).json()["status"] == "failed"


async def test_canceling_again_has_no_effect(api: httpx.AsyncClient) -> None:
    video_id = await announce(api)
    assert (await cancel(api, video_id)).status_code == 204
    first = await job(api, f"import_{video_id}")
    assert (await cancel(api, video_id)).status_code == 204
    assert await job(api, f"import_{video_id}") == first


async def test_cancellation_ends_the_session_and_deletes_what_was_received(
    api: httpx.AsyncClient, gateway: Gateway
) -> None:
    video_id = await announce(api)
    uploader = await start(api, gateway, video_id)
    await uploader.put(DATA, f"0-{len(DATA) - 1}/*")
    multipart_id = (await uploader.row())["multipart_id"]
    assert (await cancel(api, video_id)).status_code == 204
    assert (await uploader.query()).status_code == 410
    assert (await uploader.put(DATA)).status_code == 410
    assert await sweep(gateway) >= 1
    assert (await uploader.row())["multipart_id"] is None
    assert await uploader.partial_part_count() == 0
    with pytest.raises(Exception, match="NoSuchUpload"):
        await gateway.multipart.put_part(uploader.reserved.storage_path, multipart_id, number=1, buffers=[b"x"])


async def test_canceled_upload_cannot_start_again(api: httpx.AsyncClient) -> None:
    video_id = await announce(api)
    given = (await api.post(f"/v1/videos/{video_id}/uploads", json={"fileName": "talk.mp4"})).json()
    await cancel(api, video_id)
    restarted = await api.post(httpx.URL(given["url"]).raw_path.decode(), headers={"x-goog-resumable": "start"})
    assert restarted.status_code == 412
    response = await api.post(f"/v1/videos/{video_id}/uploads", json={"fileName": "talk.mp4"})
    assert code(response) == (409, "CONFLICT")
    assert response.json()["error"]["message"] == "The upload of this video was canceled or has expired."


async def test_received_file_cannot_be_canceled(api: httpx.AsyncClient, gateway: Gateway) -> None:
    video_id = await announce(api)
    uploader = await start(api, gateway, video_id)
    assert (await uploader.put(b"the whole file")).status_code == 200
    assert code(await cancel(api, video_id)) == (409, "FAILED_PRECONDITION")
    assert await uploader.stored() == b"the whole file"
    assert (await job(api, f"import_{video_id}"))["status"] == "queued"


async def test_cancellation_is_only_for_uploads_of_the_library(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    imported = await api.post(
        "/v1/videos", json={"source": {"type": "https", "url": "https://media.example.com/talk.mp4"}}
    )
    assert code(await cancel(api, imported.json()["videoId"])) == (409, "FAILED_PRECONDITION")
    video_id = await announce(api)
    other = await accounts.key(await accounts.person())
    reader = await accounts.key(person, scopes=[Scope.VIDEOS_READ])
    assert code(await cancel(api, video_id, headers=other.headers)) == (404, "NOT_FOUND")
    assert code(await cancel(api, "none")) == (404, "NOT_FOUND")
    assert code(await cancel(api, video_id, headers=reader.headers)) == (403, "INSUFFICIENT_SCOPE")
    assert (await job(api, f"import_{video_id}"))["status"] == "queued"


async def test_viewer_cannot_cancel(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    workspace_id = await accounts.workspace(person)
    viewer = await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    key = await accounts.key(viewer, library_id=workspace_id)
    assert code(await cancel(api, "any", headers=key.headers)) == (403, "PERMISSION_DENIED")


async def test_cancellation_refunds_products(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    await ledger.grant(
        accounts.connection, person.library_id, millicredits=100_000, reference="test", now=system_clock()
    )
    video_id = await announce(api)
    bundle = {"durationSeconds": 600, "shorts": {"kind": "shorts", "numClips": 3}}
    reserved = await api.post(f"/v1/videos/{video_id}/reservations", json=bundle)
    body = {"kind": "shorts", "numClips": 3, "reservationId": reserved.json()["reservationId"]}
    assert (await api.post(f"/v1/videos/{video_id}/shorts", json=body)).status_code == 202
    balances = "SELECT wallet, escrow FROM ledger_balances WHERE library_id = $1"
    held = await accounts.connection.fetchrow(balances, person.library_id)
    await cancel(api, video_id)
    returned = await accounts.connection.fetchrow(balances, person.library_id)
    assert held is not None
    assert held["escrow"] > 0
    assert returned is not None
    assert tuple(returned) == (100_000, 0)


async def test_upload_without_a_byte_expires_after_a_day(
    api: httpx.AsyncClient, gateway: Gateway, clock: MovableClock
) -> None:
    announced = await announce(api)
    started = await announce(api)
    uploader = await start(api, gateway, started)
    clock.shift = timedelta(hours=23, minutes=59)
    await sweep(gateway)
    assert [(await job(api, f"import_{each}"))["status"] for each in (announced, started)] == ["queued"] * 2
    clock.shift = timedelta(hours=24, minutes=1)
    await sweep(gateway)
    for each in (announced, started):
        expired = await job(api, f"import_{each}")
        assert (expired["status"], expired["error"]["code"]) == ("failed", "FAILED_PRECONDITION")
        assert expired["error"]["details"] == {"reason": "expired"}
        assert (await job(api, f"transcript_{each}"))["status"] == "failed"
        assert (await cancel(api, each)).status_code == 204
    assert (await uploader.put(DATA)).status_code == 410
    assert (await uploader.row())["multipart_id"] is None


async def test_ended_uploads_free_their_slots(api: httpx.AsyncClient, gateway: Gateway, clock: MovableClock) -> None:
    async def unfinished() -> int:
        count: int = (await api.get("/v1/library")).json()["usage"]["unfinishedJobs"]
        return count

    canceled = await announce(api)
    await announce(api)
    assert await unfinished() == 4
    await cancel(api, canceled)
    assert await unfinished() == 2
    clock.shift = timedelta(hours=25)
    await sweep(gateway)
    assert await unfinished() == 0


async def test_upload_with_bytes_lasts_as_long_as_its_session(
    api: httpx.AsyncClient, gateway: Gateway, clock: MovableClock
) -> None:
    video_id = await announce(api)
    uploader = await start(api, gateway, video_id)
    await uploader.put(DATA, f"0-{len(DATA) - 1}/*")
    clock.shift = timedelta(days=6, hours=23)
    await sweep(gateway)
    assert (await uploader.query()).headers["range"] == f"bytes=0-{len(DATA) - 1}"
    clock.shift = timedelta(days=7, minutes=1)
    await sweep(gateway)
    assert (await job(api, f"import_{video_id}"))["error"]["details"] == {"reason": "expired"}
    assert await uploader.partial_part_count() == 0


async def test_canceled_session_leaves_a_day_to_start_another(
    api: httpx.AsyncClient, gateway: Gateway, clock: MovableClock
) -> None:
    video_id = await announce(api)
    uploader = await start(api, gateway, video_id)
    await uploader.put(DATA, f"0-{len(DATA) - 1}/*")
    clock.shift = timedelta(hours=30)
    assert (await api.delete(uploader.url)).status_code == 499
    clock.shift = timedelta(hours=53)
    await sweep(gateway)
    assert (await job(api, f"import_{video_id}"))["status"] == "queued"
    clock.shift = timedelta(hours=55)
    await sweep(gateway)
    assert (await job(api, f"import_{video_id}"))["status"] == "failed"


async def test_failed_deletion_is_retried_by_the_sweep(
    api: httpx.AsyncClient, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_: object, **__: object) -> None:
        raise httpx.ConnectError("unavailable")

    video_id = await announce(api)
    uploader = await start(api, gateway, video_id)
    await uploader.put(DATA, f"0-{len(DATA) - 1}/*")
    await cancel(api, video_id)
    with monkeypatch.context() as patch:
        patch.setattr(Multipart, "abort", unavailable)
        await sweep(gateway)
    assert (await uploader.row())["multipart_id"] is not None
    await sweep(gateway)
    assert (await uploader.row())["multipart_id"] is None


async def test_canceled_import_job_ends_its_upload(api: httpx.AsyncClient, gateway: Gateway) -> None:
    video_id = await announce(api)
    uploader = await start(api, gateway, video_id)
    for _ in range(2):
        canceled = await api.post(f"/v1/jobs/import_{video_id}/cancel")
        assert (canceled.status_code, canceled.json()["error"]["code"]) == (200, "CANCELLED")
    again = await api.post(f"/v1/videos/{video_id}/uploads", json={"fileName": "talk.mp4"})
    assert code(again) == (409, "CONFLICT")
    sent = await api.put(
        uploader.url, content=DATA[:CHUNK_BYTES], headers={"Content-Range": f"bytes 0-{CHUNK_BYTES - 1}/*"}
    )
    assert sent.status_code == 410
    assert (await api.delete(f"/v1/videos/{video_id}/uploads")).status_code == 204
