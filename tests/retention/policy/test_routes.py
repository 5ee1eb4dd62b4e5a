"""The retention policy through HTTP: settings, dry run and report."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.library.rules import source_path
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock

URL = "/library/retention"
DEFAULTS = {"originalsDays": None, "intermediatesDays": 30, "outputsDays": None}
NOTHING = {"objects": 0, "bytes": 0}


async def test_defaults_keep_all_but_intermediates(api: httpx.AsyncClient) -> None:
    response = await api.get(URL)
    assert (response.status_code, response.json(), response.headers["etag"]) == (200, DEFAULTS, '"1"')


async def test_change_keeps_other_fields_and_null_keeps_for_ever(api: httpx.AsyncClient) -> None:
    changed = await api.patch(URL, json={"originalsDays": 365}, headers={"If-Match": '"1"'})
    assert (changed.status_code, changed.json()) == (200, {**DEFAULTS, "originalsDays": 365})
    assert changed.headers["etag"] == '"2"' == (await api.get(URL)).headers["etag"]
    cleared = await api.patch(URL, json={"intermediatesDays": None, "originalsDays": None})
    assert cleared.json() == {**DEFAULTS, "intermediatesDays": None} == (await api.get(URL)).json()
    again = await api.patch(URL, json={"intermediatesDays": None})
    assert again.headers["etag"] == cleared.headers["etag"] == '"3"'


async def test_stale_change_is_refused_with_the_current_revision(api: httpx.AsyncClient) -> None:
    await api.patch(URL, json={"outputsDays": 10})
    refused = await api.patch(URL, json={"outputsDays": 20}, headers={"If-Match": '"1"'})
    assert refused.status_code == 409
    assert refused.json()["error"]["details"] == {"revision": 2}
    assert (await api.get(URL)).json()["outputsDays"] == 10


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"originalsDays": 0},
        {"originalsDays": 3651},
        {"intermediatesDays": "soon"},
        {"outputsDays": 1.5},
        {"outputDays": 7},
    ],
)
async def test_invalid_changes_are_refused(api: httpx.AsyncClient, body: dict[str, Any]) -> None:
    refused = await api.patch(URL, json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
    assert (await api.get(URL)).json() == DEFAULTS


async def test_only_admins_change_it_and_everyone_reads_it(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    workspace_id = await accounts.workspace(person)
    statuses = {}
    for role in (Role.VIEWER, Role.EDITOR, Role.ADMIN):
        member = await accounts.person()
        await accounts.member(workspace_id, member, role=role)
        headers = (await accounts.key(member, library_id=workspace_id)).headers
        assert (await api.get(URL, headers=headers)).status_code == 200
        changed = await api.patch(URL, json={"outputsDays": 7}, headers=headers)
        statuses[role] = (changed.status_code, changed.json().get("error", {}).get("code"))
    denied = (403, "PERMISSION_DENIED")
    assert statuses == {Role.VIEWER: denied, Role.EDITOR: denied, Role.ADMIN: (200, None)}
    reader = await accounts.key(person, scopes=ALL_SCOPES - {Scope.VIDEOS_WRITE})
    refused = await api.patch(URL, json={"outputsDays": 7}, headers=reader.headers)
    assert refused.json()["error"]["code"] == "INSUFFICIENT_SCOPE"
    assert (await api.get(URL)).json() == DEFAULTS  # of the personal library


async def test_changes_are_in_the_audit_log(api: httpx.AsyncClient) -> None:
    await api.patch(URL, json={"outputsDays": 7})
    entries = (await api.get("/audit-log")).json()["entries"]
    [entry] = [each for each in entries if each["action"] == "updateRetention"]
    assert (entry["before"], entry["after"]) == ({"outputsDays": None}, {"outputsDays": 7})


async def add_usage(
    accounts: Accounts, library_id: str, video_id: str, kind: str, *, days: int, size: int = 10
) -> None:
    row = {"video_id": video_id, "kind": kind, "changed_on": (system_clock() - timedelta(days=days)).date()}
    await insert(accounts.connection, "storage_usage", {"library_id": library_id, **row, "objects": 1, "bytes": size})


async def add_video(accounts: Accounts, library_id: str, *, days: int, title: str) -> str:
    video_id, created_at = new_id(), system_clock() - timedelta(days=days)
    row = {"library_id": library_id, "id": video_id, "status": "ready", "title": title, "created_at": created_at}
    await insert(accounts.connection, "videos", row)
    return video_id


async def test_preview_names_what_would_go(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    library_id = person.library_id
    old, new = [
        await add_video(accounts, library_id, days=days, title=title) for days, title in ((100, "Old"), (5, "New"))
    ]
    for kind, size in (("original", 1000), ("intermediate", 100), ("output", 10), ("document", 1), ("download", 5)):
        await add_usage(accounts, library_id, old, kind, days=95, size=size)
        await add_usage(accounts, library_id, new, kind, days=4, size=size)
    found = (await api.get(f"{URL}/preview")).json()
    assert found["originals"] == found["outputs"] == NOTHING
    assert found["intermediates"] == {"objects": 2, "bytes": 105}
    amounts = {"originalsBytes": 0, "intermediatesBytes": 105, "outputsBytes": 0}
    assert found["videos"] == [{"videoId": old, "title": "Old", **amounts}]
    assert "measuredAt" not in found
    tried = (await api.get(f"{URL}/preview", params={"originalsDays": 3, "outputsDays": 90})).json()
    assert (tried["originals"]["bytes"], tried["outputs"]["bytes"]) == (2000, 10)
    assert [each["videoId"] for each in tried["videos"]] == [old, new]
    await add_usage(accounts, library_id, old, "output", days=2)
    later = (await api.get(f"{URL}/preview", params={"outputsDays": 90})).json()
    assert later["outputs"] == NOTHING  # one of them has changed since
    await accounts.connection.execute("UPDATE videos SET deleted_at = now() WHERE id = $1", old)
    assert (await api.get(f"{URL}/preview")).json()["videos"] == []
    assert (await api.get(URL)).json() == DEFAULTS


async def test_preview_checks_its_times(api: httpx.AsyncClient) -> None:
    refused = await api.get(f"{URL}/preview", params={"originalsDays": 0})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")


async def test_report_is_empty_before_anything_is_deleted(api: httpx.AsyncClient) -> None:
    empty = {"originals": NOTHING, "intermediates": NOTHING, "outputs": NOTHING, "videos": []}
    assert (await api.get(f"{URL}/report")).json() == empty


async def test_other_libraries_see_nothing(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    video_id = await add_video(accounts, person.library_id, days=100, title="Old")
    await add_usage(accounts, person.library_id, video_id, "intermediate", days=95)
    other = (await accounts.key(await accounts.person())).headers
    assert (await api.get(f"{URL}/preview", headers=other)).json()["intermediates"] == NOTHING


async def add_transcribed(accounts: Accounts, library_id: str) -> str:
    """A video with a ready transcript job, whose original has been deleted."""
    video_id, now = new_id(), system_clock()
    ready = {"status": "ready", "import_status": "ready", "transcript_status": "ready", "duration_seconds": 600.0}
    row = {"library_id": library_id, "id": video_id, "created_at": now, **ready, "original_deleted_at": now}
    await insert(accounts.connection, "videos", row)
    job = {"id": f"transcript_{video_id}", "type": "transcript", "status": "ready", "video_id": video_id}
    state = {"attempt": 1, "plan": {}, "depends_on": [], "progress": 100, "finished_at": now}
    times = {"created_at": now, "updated_at": now}
    await insert(accounts.connection, "jobs", {"library_id": library_id, **job, **state, **times})
    return video_id


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("dubs", {"languages": ["pt"]}),
        ("shorts", {"kind": "shorts"}),
        ("downloads", {"artifact": "source"}),
        ("downloads", {"artifact": "language_video", "language": "pt"}),
        ("quote", {"dubs": [{"languages": ["pt"]}]}),
        ("packaging", {"zeroPromptThumbnail": {"enabled": True}}),
    ],
    ids=str,
)
async def test_requests_that_need_a_deleted_original_are_refused(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, path: str, body: dict[str, Any]
) -> None:
    video_id = await add_transcribed(accounts, person.library_id)
    refused = await api.post(f"/videos/{video_id}/{path}", json=body)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (409, "FAILED_PRECONDITION"), refused.text
    assert error["details"]["reason"] == "original_deleted"
    assert "original file" in error["message"]


async def test_a_bundle_is_prepared_without_the_original(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    video_id = await add_transcribed(accounts, person.library_id)
    assert (await api.post(f"/videos/{video_id}/downloads", json={"artifact": "bundle"})).status_code == 202


@pytest.mark.parametrize(("days", "status", "reason"), [(6, "ready", None), (8, "failed", "expired")])
async def test_prepared_downloads_expire(
    api: httpx.AsyncClient,
    accounts: Accounts,
    person: Person,
    clock: MovableClock,
    days: int,
    status: str,
    reason: str | None,
) -> None:
    video_id = await add_transcribed(accounts, person.library_id)
    request_id = (await api.post(f"/videos/{video_id}/downloads", json={"artifact": "bundle"})).json()[
        "downloadRequestId"
    ]
    await finish_download(accounts, request_id, path=f"libraries/{person.library_id}/videos/{video_id}/downloads/x")
    clock.shift = timedelta(days=days)
    found = (await api.get(f"/downloads/{request_id}")).json()
    assert found["status"] == status
    error = found["error"] or {"details": {}}
    assert error["details"].get("reason") == reason
    assert (found["url"] is not None) == (reason is None)


async def test_a_download_of_a_deleted_original_says_so(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    video_id = await add_transcribed(accounts, person.library_id)
    request_id = (await api.post(f"/videos/{video_id}/downloads", json={"artifact": "bundle"})).json()[
        "downloadRequestId"
    ]
    await finish_download(accounts, request_id, path=source_path(person.library_id, video_id))
    found = (await api.get(f"/downloads/{request_id}")).json()
    assert (found["status"], found["error"]["details"]["reason"]) == ("failed", "original_deleted")


async def finish_download(accounts: Accounts, request_id: str, *, path: str) -> None:
    await accounts.connection.execute(
        "UPDATE jobs SET status = 'ready', progress = 100, finished_at = now(), result = $2 WHERE id = $1",
        f"download_{request_id}",
        {"storagePath": path, "fileName": "bundle.zip"},
    )
