"""Exports through the API: creation, reading, deletion, access and expiry."""

import hashlib
from datetime import timedelta
from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.errors import Code
from cutroom.jobs.lifecycle import Failure
from cutroom.platform.ids import new_id
from cutroom.retention.exports.rules import LIFETIME, MAX_READY, ExportRef
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.retention.exports.conftest import Exporter, SeededLibrary

PATH = "/library/exports"


async def create(api: httpx.AsyncClient, **headers: str) -> dict[str, Any]:
    response = await api.post(PATH, headers=headers)
    assert response.status_code == 202, response.text
    created: dict[str, Any] = response.json()
    return created


async def test_created_export_is_queued_and_its_workflow_starts(
    api: httpx.AsyncClient, person: Person, accounts: Accounts
) -> None:
    created = await create(api)
    assert (created["status"], created["progress"], created["downloadUrl"]) == ("queued", 0, None)
    assert (await api.get(f"{PATH}/{created['id']}")).json() == created
    rows = await accounts.connection.fetch(
        "SELECT workflow, workflow_id, argument FROM outbox WHERE library_id = $1", person.library_id
    )
    ref = {"library_id": person.library_id, "export_id": created["id"]}
    assert [tuple(row) for row in rows] == [("export-library", f"export_{created['id']}", ref)]


async def test_second_export_conflicts_with_the_unfinished_one(api: httpx.AsyncClient) -> None:
    created = await create(api)
    response = await api.post(PATH)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["details"]) == (409, "CONFLICT", {"exportId": created["id"]})
    assert (await api.delete(f"{PATH}/{created['id']}")).status_code == 204
    assert (await create(api))["id"] != created["id"]


async def test_same_idempotency_key_returns_the_same_export(api: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": new_id()}
    assert await create(api, **key) == await create(api, **key)


async def test_ready_export_is_downloaded_in_ranges(
    api: httpx.AsyncClient, exporter: Exporter, library: SeededLibrary, viewer: httpx.AsyncClient
) -> None:
    ref = await exporter.export(library.library_id)
    found = (await api.get(f"{PATH}/{ref.export_id}")).json()
    assert (found["status"], found["progress"]) == ("ready", 100)
    first = await viewer.get(found["downloadUrl"], headers={"Range": "bytes=0-999999"})
    again = (await api.get(f"{PATH}/{ref.export_id}")).json()["downloadUrl"]
    rest = await viewer.get(again, headers={"Range": "bytes=1000000-"})
    assert (first.status_code, rest.status_code) == (206, 206)
    archive = first.content + rest.content
    assert found["sha256"] == hashlib.sha256(archive).hexdigest()
    assert found["archiveBytes"] == len(archive)
    assert found["contentBytes"] < found["archiveBytes"]
    summary = found["summary"]
    assert (summary["videos"], summary["trashedVideos"], summary["missingFiles"]) == (2, 1, 0)
    assert summary["kinds"]["dub"]["files"] == 1
    assert found["fileCount"] == 1 + sum(kind["files"] for kind in summary["kinds"].values())
    name = f'filename="library-export-{found["createdAt"][:10]}.zip"'
    assert name in rest.headers["content-disposition"]


async def test_failed_export_has_an_error_and_no_file(
    api: httpx.AsyncClient, exporter: Exporter, library: SeededLibrary
) -> None:
    ref = await exporter.request(library.library_id)
    await exporter.prepare(ref)
    await exporter.run("fail_export", ref, Failure(Code.FAILED_PRECONDITION, "Too large.", {"reason": "size"}))
    await exporter.run("delete_export_work", ref)
    found = (await api.get(f"{PATH}/{ref.export_id}")).json()
    assert found["status"] == "failed"
    assert found["error"] == {"code": "FAILED_PRECONDITION", "message": "Too large.", "details": {"reason": "size"}}
    assert found["downloadUrl"] is None
    assert await library.storage.names(ref.prefix) == []
    await create(api)


async def test_list_is_newest_first(api: httpx.AsyncClient, exporter: Exporter, library: SeededLibrary) -> None:
    ref = await exporter.export(library.library_id)
    created = await create(api)
    listed = (await api.get(PATH)).json()["exports"]
    assert [each["id"] for each in listed] == [created["id"], ref.export_id]
    assert listed[1]["downloadUrl"] is not None


async def test_library_keeps_a_limited_number_of_archives(
    api: httpx.AsyncClient, exporter: Exporter, person: Person, clock: MovableClock
) -> None:
    now = clock()
    ready = {"status": "ready", "sha256": "00", "archive_bytes": 1, "finished_at": now}
    refs = [
        await exporter.request(person.library_id, **ready, created_at=now, expires_at=now + LIFETIME)
        for _ in range(MAX_READY)
    ]
    error = (await api.post(PATH)).json()["error"]
    assert (error["code"], error["details"]) == ("FAILED_PRECONDITION", {"reason": "quota", "limit": MAX_READY})
    await api.delete(f"{PATH}/{refs[0].export_id}")
    await create(api)


async def test_deleted_export_is_gone_at_once_and_then_removed(
    api: httpx.AsyncClient, exporter: Exporter, library: SeededLibrary, accounts: Accounts
) -> None:
    ref = await exporter.export(library.library_id)
    assert (await api.delete(f"{PATH}/{ref.export_id}")).status_code == 204
    assert (await api.get(f"{PATH}/{ref.export_id}")).status_code == 404
    assert (await api.delete(f"{PATH}/{ref.export_id}")).status_code == 404
    assert (await api.get(PATH)).json() == {"exports": []}
    workflow = await accounts.connection.fetchval(
        "SELECT workflow FROM outbox WHERE library_id = $1", library.library_id
    )
    assert workflow == "delete-export"
    await exporter.run("stop_export", ref)
    await exporter.run("remove_export", ref)
    await exporter.run("remove_export", ref)
    assert await library.storage.names(ref.prefix) == []
    assert await accounts.connection.fetchval("SELECT count(*) FROM exports WHERE id = $1", ref.export_id) == 0
    assert await library.storage.size(library.path("source")) is not None


async def test_removing_an_unfinished_export_aborts_its_upload(exporter: Exporter, library: SeededLibrary) -> None:
    ref = await exporter.request(library.library_id)
    await exporter.prepare(ref)
    stepwise = exporter.with_multipart(exporter.activities.writer.multipart, run_bytes=1)
    await stepwise.run("write_export_archive", ref)
    upload_id = (await exporter.state(ref))["multipart_id"]
    await exporter.run("remove_export", ref)
    assert await library.storage.names(ref.prefix) == []
    with pytest.raises(Exception, match="NoSuchUpload"):
        await exporter.activities.writer.multipart.complete(ref.archive_path, upload_id, etags=['"0"'])


async def test_deleted_export_does_not_start(exporter: Exporter, person: Person, clock: MovableClock) -> None:
    ref = await exporter.request(person.library_id, deleted_at=clock())
    assert await exporter.run("start_export", ref) is False


async def test_expired_exports_are_hidden_and_removed(
    api: httpx.AsyncClient, exporter: Exporter, library: SeededLibrary, clock: MovableClock, accounts: Accounts
) -> None:
    old = await exporter.export(library.library_id)
    clock.shift = LIFETIME - timedelta(minutes=1)
    assert (await api.get(f"{PATH}/{old.export_id}")).status_code == 200
    new = await exporter.export(library.library_id)
    await exporter.run("purge_exports")
    assert await library.storage.names(old.prefix) == [old.archive_path]
    clock.shift = LIFETIME + timedelta(minutes=1)
    assert (await api.get(f"{PATH}/{old.export_id}")).status_code == 404
    assert await exporter.run("purge_exports") >= 1
    assert await library.storage.names(old.prefix) == []
    assert await library.storage.names(new.prefix) == [new.archive_path]
    remaining = await accounts.connection.fetch("SELECT id FROM exports WHERE library_id = $1", library.library_id)
    assert [row["id"] for row in remaining] == [new.export_id]


async def test_export_of_another_library_is_not_found(
    anonymous: httpx.AsyncClient, exporter: Exporter, person: Person, accounts: Accounts
) -> None:
    ref: ExportRef = await exporter.request(person.library_id)
    anonymous.headers.update((await accounts.key(await accounts.person())).headers)
    for method in ("GET", "DELETE"):
        assert (await anonymous.request(method, f"{PATH}/{ref.export_id}")).status_code == 404
    assert (await anonymous.get(PATH)).json() == {"exports": []}


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
async def test_only_owners_and_admins_may_export(
    anonymous: httpx.AsyncClient, accounts: Accounts, exporter: Exporter, role: Role
) -> None:
    workspace = await accounts.workspace(await accounts.person())
    ref = await exporter.request(workspace)
    member, admin = await accounts.person(), await accounts.person()
    await accounts.member(workspace, member, role=role)
    await accounts.member(workspace, admin, role=Role.ADMIN)
    refused = (await accounts.key(member, library_id=workspace)).headers
    for method, path in (("POST", PATH), ("GET", PATH), ("GET", f"{PATH}/{ref.export_id}"), ("DELETE", f"{PATH}/x")):
        response = await anonymous.request(method, path, headers=refused)
        assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    permitted = (await accounts.key(admin, library_id=workspace)).headers
    assert (await anonymous.get(f"{PATH}/{ref.export_id}", headers=permitted)).status_code == 200


@pytest.mark.parametrize("missing", [Scope.DOWNLOADS_WRITE, Scope.WEBHOOKS_WRITE])
async def test_both_scopes_are_required(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person, missing: Scope
) -> None:
    key = await accounts.key(person, scopes=ALL_SCOPES - {missing})
    for method in ("POST", "GET"):
        response = await anonymous.request(method, PATH, headers=key.headers)
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (403, "INSUFFICIENT_SCOPE")
        assert error["details"] == {"required": [missing.value]}
    both = await accounts.key(person, scopes={Scope.DOWNLOADS_WRITE, Scope.WEBHOOKS_WRITE})
    assert (await anonymous.get(PATH, headers=both.headers)).status_code == 200


async def test_changes_are_in_the_audit_log(api: httpx.AsyncClient) -> None:
    created = await create(api)
    await api.delete(f"{PATH}/{created['id']}")
    deleted, requested = (await api.get("/audit-log")).json()["entries"]
    assert (requested["action"], requested["targets"]) == ("createLibraryExport", {"id": created["id"]})
    assert requested["after"] == {"status": "queued"}
    assert (deleted["action"], deleted["targets"]) == ("deleteLibraryExport", {"exportId": created["id"]})
    assert deleted["before"] == {"status": "queued"}
