"""The audit log through the API: what is recorded, who may read it, filters, export and append-only storage."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import asyncpg
import httpx
import pytest

from cutroom.accounts.keys import TOKEN_PREFIX, generate_credential
from cutroom.accounts.principals import CREDENTIAL_PURPOSE, PrincipalKind, Role
from cutroom.audit import service
from cutroom.audit.rules import ChainHead
from cutroom.audit.service import AuditActor, AuditEvent
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring, Person

PATH = "/audit-log"


async def entries(api: httpx.AsyncClient, **query: str) -> list[dict[str, Any]]:
    response = await api.get(PATH, params={"limit": "100", **query})
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["entries"]
    return found


async def create_folder(api: httpx.AsyncClient, name: str = "Talks", **headers: str) -> httpx.Response:
    return await api.post("/folders", json={"name": name}, headers=headers)


async def test_operation_is_recorded_with_actor_target_origin_and_settings(
    api: httpx.AsyncClient, key: Keyring, person: Person
) -> None:
    created = await create_folder(api)
    page = (await api.get(PATH)).json()
    (entry,) = page["entries"]
    assert entry == {
        "sequence": 1,
        "at": entry["at"],
        "action": "createFolder",
        "actor": {"kind": "key", "id": key.id, "userId": person.user_id},
        "targets": {"id": created.json()["id"]},
        "clientAddress": "127.0.0.1",
        "requestId": created.headers["X-Request-Id"],
        "after": {"name": "Talks", "parentId": None},
        "hash": entry["hash"],
    }
    assert page["head"] == {"sequence": 1, "hash": entry["hash"]}
    assert "nextPageToken" not in page


async def test_empty_log_has_an_empty_head(api: httpx.AsyncClient) -> None:
    assert (await api.get(PATH)).json() == {"entries": [], "head": {"sequence": 0, "hash": "0" * 64}}


async def test_operation_by_oauth_token_is_recorded_as_such(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    secret, token_id = generate_credential(TOKEN_PREFIX), new_id()
    token = {
        "id": token_id,
        "library_id": person.library_id,
        "user_id": person.user_id,
        "client_id": "test",
        "hash": runtime.secret_box.keyed_hash(CREDENTIAL_PURPOSE, secret),
        "scopes": ["tts:write"],
        "created_at": system_clock(),
        "expires_at": system_clock() + timedelta(hours=1),
    }
    await insert(accounts.connection, "oauth_tokens", token)
    voice = {"name": "Ana", "sample_url": "https://media.example.com/ana.wav?signature=hidden"}
    added = await anonymous.post("/voices/add", json=voice, headers={"Authorization": f"Bearer {secret}"})
    assert added.status_code == 200, added.text
    anonymous.headers.update((await accounts.key(person)).headers)
    (entry,) = await entries(anonymous)
    assert (entry["action"], entry["after"]) == ("addVoice", {"name": "Ana"})
    assert entry["actor"] == {"kind": "token", "id": token_id, "userId": person.user_id}
    assert entry["targets"] == {"voiceId": added.json()["voice_id"]}


async def test_secrets_are_not_recorded(api: httpx.AsyncClient) -> None:
    created = (await api.post("/webhook-endpoints", json={"url": "https://hooks.example.com/a?token=hidden"})).json()
    assert (await api.delete(f"/webhook-endpoints/{created['id']}")).status_code == 204
    deleted, registered = await entries(api)
    assert registered["after"] == {"url": "https://hooks.example.com/a", "events": created["events"]}
    assert deleted["before"] == {"url": "https://hooks.example.com/a"}
    assert deleted["targets"] == {"endpointId": created["id"]}
    assert created["secret"] not in json.dumps([deleted, registered])


async def test_reads_and_failed_requests_leave_no_entry(api: httpx.AsyncClient) -> None:
    assert (await api.get("/folders")).status_code == 200
    assert (await create_folder(api, "")).status_code == 400
    assert (await api.delete(f"/webhook-endpoints/{new_id()}")).status_code == 404
    assert (await api.post("/folders", json={"name": "a", "parentId": new_id()})).status_code == 404
    assert (await api.post("/folders", json={"name": ""}, headers={"Idempotency-Key": new_id()})).status_code == 400
    assert await entries(api) == []


async def test_replayed_request_leaves_one_entry(api: httpx.AsyncClient) -> None:
    key = new_id()
    responses = [await create_folder(api, **{"Idempotency-Key": key}) for _ in range(3)]
    assert {response.status_code for response in responses} == {201}
    assert [response.headers.get("Idempotency-Replayed") for response in responses] == [None, "true", "true"]
    assert len(await entries(api)) == 1


async def test_concurrent_requests_leave_a_log_without_gaps(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    responses = await asyncio.gather(*(create_folder(api, f"Folder {n}") for n in range(24)))
    assert [response.status_code for response in responses] == [201] * 24
    found = await entries(api)
    assert [entry["sequence"] for entry in found] == list(range(24, 0, -1))
    assert {entry["targets"]["id"] for entry in found} == {response.json()["id"] for response in responses}
    verified = await service.verify(accounts.connection, person.library_id, secret_box=runtime.secret_box)
    assert (verified.last.sequence, verified.faults) == (24, [])


async def test_rolled_back_append_leaves_no_gap(runtime: Runtime, person: Person, accounts: Accounts) -> None:
    async def append(*, fails: bool) -> None:
        async with runtime.database.transaction(person.library_id) as connection:
            await service.append(connection, event(person), secret_box=runtime.secret_box)
            if fails:
                raise LookupError

    outcomes = await asyncio.gather(*(append(fails=n % 3 == 0) for n in range(12)), return_exceptions=True)
    assert sum(isinstance(each, LookupError) for each in outcomes) == 4
    assert sum(each is None for each in outcomes) == 8
    verified = await service.verify(accounts.connection, person.library_id, secret_box=runtime.secret_box)
    assert (verified.last.sequence, verified.faults) == (8, [])


def event(person: Person, action: str = "folder.rename") -> AuditEvent:
    actor = AuditActor(PrincipalKind.PERSON, new_id(), person.user_id)
    details = {"name": "Ünïcode \u2028 \U0001f39e", "ratio": 0.1, "big": 10**15, "none": None}
    return AuditEvent(person.library_id, action, actor, at=system_clock(), before=details)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.ADMIN])
async def test_only_owners_and_admins_may_read(anonymous: httpx.AsyncClient, accounts: Accounts, role: Role) -> None:
    owner, member = await accounts.person(), await accounts.person()
    workspace_id = await accounts.workspace(owner)
    await accounts.member(workspace_id, member, role=role)
    anonymous.headers.update((await accounts.key(member, library_id=workspace_id)).headers)
    for path in (PATH, f"{PATH}/export"):
        response = await anonymous.get(path)
        if role is Role.ADMIN:
            assert response.status_code == 200
        else:
            assert (response.status_code, response.json()["error"]["code"]) == (403, "PERMISSION_DENIED")


async def test_log_of_another_library_is_invisible(
    api: httpx.AsyncClient, accounts: Accounts, runtime: Runtime, person: Person
) -> None:
    await create_folder(api)
    other = await accounts.person()
    async with runtime.database.transaction(other.library_id) as connection:
        for table in ("audit_entries", "audit_heads"):
            assert await connection.fetchval(f"SELECT count(*) FROM {table}") == 0  # noqa: S608
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service.append(connection, event(person), secret_box=runtime.secret_box)
    api.headers.update((await accounts.key(other)).headers)
    assert await entries(api) == []
    assert (await api.get(f"{PATH}/export")).text == ""


@pytest.mark.parametrize("statement", ["UPDATE audit_entries SET action = 'x'", "DELETE FROM audit_entries"])
async def test_entries_cannot_be_changed_by_the_application_or_the_schema_owner(
    api: httpx.AsyncClient, accounts: Accounts, runtime: Runtime, person: Person, statement: str
) -> None:
    await create_folder(api)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
        await accounts.connection.execute(statement)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
        await accounts.connection.execute("TRUNCATE audit_entries")
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied"):
        async with runtime.database.transaction(person.library_id) as connection:
            await connection.execute(statement)
    assert len(await entries(api)) == 1


async def test_pages_cover_the_log_once(api: httpx.AsyncClient) -> None:
    for n in range(5):
        await create_folder(api, f"Folder {n}")
    seen, token = [], None
    while True:
        page = (await api.get(PATH, params={"limit": 2, **({"pageToken": token} if token else {})})).json()
        seen += [entry["sequence"] for entry in page["entries"]]
        token = page.get("nextPageToken")
        if token is None:
            break
    assert seen == [5, 4, 3, 2, 1]


async def test_filters(api: httpx.AsyncClient, person: Person, key: Keyring, runtime: Runtime) -> None:
    await create_folder(api)
    async with runtime.database.transaction(person.library_id) as connection:
        await service.append(connection, event(person), secret_box=runtime.secret_box)
    at = system_clock()

    async def found(**query: str) -> list[int]:
        return [entry["sequence"] for entry in await entries(api, **query)]

    assert await found(action="createFolder") == [1]
    assert await found(action="folder.rename") == [2]
    assert await found(actor=key.id) == [1]
    assert await found(actor=person.user_id) == [2, 1]
    assert await found(actor=new_id()) == []
    assert await found(since=(at - timedelta(hours=1)).isoformat(), until=at.isoformat()) == [2, 1]
    assert await found(since=at.isoformat()) == []
    assert await found(until=(at - timedelta(hours=1)).isoformat()) == []


@pytest.mark.parametrize(
    "query",
    [
        {"action": "\x00"},
        {"action": "a'b"},
        {"actor": "\x00"},
        {"since": "yesterday"},
        {"since": "0"},
        {"since": "2026-01-01"},
        {"until": "2026-01-01T00:00:00"},
        {"until": "0001-01-01T00:00:00+23:59"},
        {"pageToken": "x"},
        {"limit": "0"},
    ],
)
async def test_invalid_queries_are_refused(api: httpx.AsyncClient, query: dict[str, str]) -> None:
    response = await api.get(PATH, params=query)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT"), response.text


async def test_export_is_the_whole_log_as_json_lines(
    api: httpx.AsyncClient, runtime: Runtime, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PAGE_ENTRIES", 2)
    for n in range(5):
        await create_folder(api, f"Folder {n}")
    exported = await api.get(f"{PATH}/export")
    assert exported.headers["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in exported.text.splitlines()]
    assert lines == list(reversed(await entries(api)))
    async with runtime.database.transaction(person.library_id) as connection:
        head = await service.read_head(connection, person.library_id)
    assert exported.headers["Cutroom-Audit-Head"] == str(head) == str(ChainHead(5, bytes.fromhex(lines[-1]["hash"])))
    filtered = await api.get(f"{PATH}/export", params={"action": "folder.rename"})
    assert filtered.text == ""
