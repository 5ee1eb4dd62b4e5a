"""The routes of the library's own bucket, with a real one."""

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.retention.copies.conftest import CustomerStore

PATH = "/library/destination"
COPIES = f"{PATH}/copies"


async def test_bucket_is_tested_and_stored_without_showing_its_secret(
    api: httpx.AsyncClient, store: CustomerStore, accounts: Accounts, person: Person
) -> None:
    assert (await api.get(PATH)).status_code == 404
    saved = await api.put(PATH, json=store.body())
    assert saved.status_code == 200, saved.text
    shown = {**store.body(), "enabled": True}
    del shown["secretAccessKey"]
    assert saved.json() == shown
    assert [line.split("?")[0].rpartition("-")[0] for line in store.requests] == [
        f"{method} /{store.bucket}/from/cutroom/cutroom-test" for method in ("PUT", "DELETE")
    ]
    assert await store.content() == {}
    found = await api.get(PATH)
    assert (found.json(), found.headers["etag"]) == (shown, '"1"')
    disabled = await api.put(PATH, json={**shown, "enabled": False}, headers={"If-Match": '"1"'})
    assert (disabled.status_code, disabled.headers["etag"]) == (200, '"2"')
    outdated = await api.put(PATH, json={**shown, "enabled": False}, headers={"If-Match": '"1"'})
    assert (outdated.status_code, outdated.json()["error"]["code"]) == (409, "CONFLICT")
    assert (await api.put(PATH, json=shown)).status_code == 200  # the stored secret is still right
    assert (await api.delete(PATH)).status_code == 204
    assert (await api.get(PATH)).status_code == (await api.delete(PATH)).status_code == 404
    log = (await api.get("/audit-log")).json()["entries"]
    assert [entry["action"] for entry in log] == ["deleteDestination", *["setDestination"] * 3]
    assert log[-1]["after"] == {**shown, "endpoint": log[-1]["after"]["endpoint"], "secretAccessKey": "redacted"}
    rows = await accounts.connection.fetch(
        "SELECT to_jsonb(a)::text AS row FROM audit_entries a WHERE library_id = $1", person.library_id
    )
    responses = (saved, found, disabled, outdated)
    assert store.secret_key not in " ".join([*(row["row"] for row in rows), *(each.text for each in responses)])


@pytest.mark.parametrize(
    ("changes", "code", "word"),
    [
        ({"secretAccessKey": "wrong"}, "SignatureDoesNotMatch", "secret access key"),
        ({"accessKeyId": "nobody"}, "InvalidAccessKeyId", "does not know"),
        ({"bucket": "cutroom"}, "AccessDenied", "may not write"),
        ({"endpoint": "https://nowhere.example.com"}, "unreachable", "could not be reached"),
    ],
)
async def test_bucket_that_cannot_be_written_is_refused(
    api: httpx.AsyncClient, store: CustomerStore, changes: dict[str, str], code: str, word: str
) -> None:
    response = await api.put(PATH, json=store.body(**changes))
    error = response.json()["error"]
    assert (response.status_code, error["details"]) == (409, {"reason": "bucket", "storeCode": code})
    assert word in error["message"]
    assert (await api.get(PATH)).status_code == 404


@pytest.mark.parametrize("endpoint", ["https://127.0.0.1:9000", "https://10.0.0.1", "http://s3.amazonaws.com"])
async def test_private_address_is_refused(api: httpx.AsyncClient, store: CustomerStore, endpoint: str) -> None:
    response = await api.put(PATH, json=store.body(endpoint=endpoint))
    assert response.status_code == 400
    assert response.json()["error"]["details"]["fields"][0]["path"] == "endpoint"
    assert store.secret_key not in response.text
    assert store.requests == []


async def test_first_bucket_needs_a_secret(api: httpx.AsyncClient, store: CustomerStore) -> None:
    response = await api.put(PATH, json=store.body(secretAccessKey=None))
    assert response.json()["error"]["details"]["fields"][0]["path"] == "secretAccessKey"


@pytest.mark.parametrize("change", [{"endpoint": "https://nowhere.example.com"}, {"accessKeyId": "another"}])
async def test_stored_secret_is_not_used_elsewhere(
    api: httpx.AsyncClient, store: CustomerStore, change: dict[str, str]
) -> None:
    (await api.put(PATH, json=store.body(enabled=False))).raise_for_status()
    response = await api.put(PATH, json=store.body(secretAccessKey=None, enabled=False, **change))
    assert response.json()["error"]["details"]["fields"][0]["path"] == "secretAccessKey"
    (await api.put(PATH, json=store.body(secretAccessKey=None, bucket="another", enabled=False))).raise_for_status()


async def test_copies_are_listed_in_pages_and_by_status(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    base = {"library_id": person.library_id, "video_id": new_id(), "created_at": system_clock()}
    states = [
        {"status": "pending"},
        {"status": "failed", "error_message": "No."},
        {"status": "failed", "error_message": "No."},
    ]
    ids = sorted(new_id() for _ in states)
    for copy_id, state in zip(ids, states, strict=True):
        await insert(accounts.connection, "output_copies", {**base, **state, "id": copy_id, "job_id": f"dub_{copy_id}"})
    first = (await api.get(COPIES, params={"status": "failed", "limit": 1})).json()
    token = {"status": "failed", "limit": 1, "pageToken": first["nextPageToken"]}
    second = (await api.get(COPIES, params=token)).json()
    assert [each["id"] for each in (*first["copies"], *second["copies"])] == [ids[2], ids[1]]
    assert "nextPageToken" not in second
    assert (await api.post(f"{COPIES}/{ids[0]}/retry")).status_code == 409
    retried = await api.post(f"{COPIES}/{ids[1]}/retry")
    assert (retried.status_code, retried.json()["status"]) == (202, "pending")
    assert (await api.post(f"{COPIES}/{new_id()}/retry")).status_code == 404


async def test_only_owners_and_admins_may_see_it(anonymous: httpx.AsyncClient, accounts: Accounts) -> None:
    workspace = await accounts.workspace(await accounts.person())
    editor = await accounts.person()
    await accounts.member(workspace, editor, role=Role.EDITOR)
    headers = (await accounts.key(editor, library_id=workspace)).headers
    for method, path in (("GET", PATH), ("DELETE", PATH), ("GET", COPIES), ("POST", f"{COPIES}/x/retry")):
        response = await anonymous.request(method, path, headers=headers)
        assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
