"""The steps of an erasure on real PostgreSQL, Redis, Temporal and object store."""

import base64
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from redis.asyncio import Redis
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from cutroom.accounts.principals import Role
from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.clock import system_clock
from cutroom.platform.data_keys import ErasedKeyError
from cutroom.platform.db import enter_library
from cutroom.platform.ids import new_id
from cutroom.platform.payload_codec import payloads_of
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import data_converter
from cutroom.retention.erasure.caches import sweep
from cutroom.retention.erasure.log import is_valid_certificate
from cutroom.web.limits import RateLimit
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring, Person
from tests.retention.erasure.conftest import Eraser, request_of


async def row_counts(accounts: Accounts, library_id: str) -> dict[str, int]:
    """Rows of every table that the function lists, counted by the owner."""
    rows = await accounts.connection.fetch("SELECT * FROM count_library_rows($1)", library_id)
    return {row["table_name"]: row["row_count"] for row in rows if row["row_count"]}


async def fill(client: httpx.AsyncClient, storage: Storage, library_id: str, headers: dict[str, str]) -> str:
    """Rows of several kinds and two objects; returns the video's id."""
    await client.post("/folders", json={"name": "Canary"}, headers=headers)
    made = await client.post("/videos", json={"source": {"type": "upload"}}, headers=headers)
    assert made.status_code < 300, made.text
    endpoint = {"url": "https://hooks.example.com/canary", "events": ["job.ready"]}
    assert (await client.post("/webhook-endpoints", json=endpoint, headers=headers)).status_code < 300
    for name in ("a", "b c"):
        await storage.put(f"libraries/{library_id}/{name}", b"canary")
    video_id: str = made.json()["videoId"]
    return video_id


async def request_erasure(client: httpx.AsyncClient, library_id: str, headers: dict[str, str]) -> dict[str, Any]:
    response = await client.delete("/library", params={"confirm": library_id}, headers=headers)
    assert response.status_code == 202, response.text
    body: dict[str, Any] = response.json()
    return body


async def test_function_lists_every_table_with_a_library_id(accounts: Accounts) -> None:
    rows = await accounts.connection.fetch(
        """SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
           WHERE c.table_schema = 'public' AND t.table_schema = 'public' AND c.column_name = 'library_id'
             AND t.table_type = 'BASE TABLE'
             AND NOT (SELECT p.relispartition FROM pg_class p WHERE p.oid = c.table_name::text::regclass)"""
    )
    listed = await accounts.connection.fetchval("SELECT erasure_tables()")
    assert sorted(listed) == sorted(row["table_name"] for row in rows)


async def test_everything_of_the_library_goes_and_nothing_else(
    anonymous: httpx.AsyncClient, accounts: Accounts, runtime: Runtime, eraser: Eraser
) -> None:
    erased, kept = await accounts.person(), await accounts.person()
    for person in (erased, kept):
        await fill(anonymous, runtime.storage, person.library_id, (await accounts.key(person)).headers)
    before = await row_counts(accounts, kept.library_id)
    made = await request_erasure(anonymous, erased.library_id, (await accounts.key(erased)).headers)
    signed = await eraser.erase(request_of(made, user_ids=[erased.user_id]))
    assert await row_counts(accounts, erased.library_id) == {}
    assert await row_counts(accounts, kept.library_id) == before
    assert await accounts.connection.fetchval("SELECT count(*) FROM users WHERE id = $1", erased.user_id) == 0
    assert await accounts.connection.fetchval("SELECT count(*) FROM libraries WHERE id = $1", erased.library_id) == 0
    assert await runtime.storage.names(f"libraries/{erased.library_id}/") == []
    assert len(await runtime.storage.names(f"libraries/{kept.library_id}/")) == 2
    certificate = signed["certificate"]
    assert certificate["objects"] == {"versions": 2, "bytes": 12, "unfinishedUploads": 0}
    assert {"videos": 1, "folders": 1, "webhook_endpoints": 1, "users": 1}.items() <= certificate["rows"].items()
    assert await eraser.log.library_ids() == {erased.library_id}


async def test_erasing_the_data_key_erases_payloads_that_are_left(
    api: httpx.AsyncClient, key: Keyring, person: Person, eraser: Eraser, runtime: Runtime
) -> None:
    def new_process() -> PayloadCodec:
        codec = data_converter(runtime.settings, database=runtime.database).payload_codec
        assert codec is not None
        return codec

    plain = Payload(metadata={"encoding": b"json/plain"}, data=b'"canary"')
    with payloads_of(person.library_id):
        kept = await new_process().encode([plain])  # such as in a backup of Temporal
    assert await new_process().decode(kept) == [plain]
    request = request_of(await request_erasure(api, person.library_id, key.headers), user_ids=[person.user_id])
    assert (await eraser.erase(request))["certificate"]["rows"]["data_keys"] == 1
    with pytest.raises(ErasedKeyError):
        await new_process().decode(kept)
    with payloads_of(person.library_id):
        [later] = await new_process().encode([plain])  # of an activity that did not notice
    assert later.metadata["library"] == b"system"
    with pytest.raises(ErasedKeyError):
        await new_process().decode(kept)


async def test_steps_can_be_repeated(
    api: httpx.AsyncClient, key: Keyring, person: Person, eraser: Eraser, runtime: Runtime
) -> None:
    await fill(api, runtime.storage, person.library_id, key.headers)
    request = request_of(await request_erasure(api, person.library_id, key.headers), user_ids=[person.user_id])
    await eraser.erase(request)
    again = await eraser.erase(request)
    assert again["certificate"]["rows"] == {}


async def test_certificate_is_signed_and_states_the_last_backup(
    api: httpx.AsyncClient, key: Keyring, person: Person, eraser: Eraser
) -> None:
    made = await request_erasure(api, person.library_id, key.headers)
    signed = await eraser.erase(request_of(made, user_ids=[person.user_id]))
    public_key = base64.b64decode(signed["publicKey"])
    assert public_key == eraser.log.public_key
    assert is_valid_certificate(signed, public_key)
    certificate = signed["certificate"]
    assert certificate["backups"]["retentionDays"] == 30
    assert certificate["backups"]["lastExpiresAt"] > certificate["finishedAt"]
    changed = {**signed, "certificate": {**certificate, "rows": {}}}
    assert not is_valid_certificate(changed, public_key)
    assert not is_valid_certificate(signed, b"\0" * 32)
    assert not is_valid_certificate({}, public_key)


async def test_certificate_waits_until_nothing_remains(
    api: httpx.AsyncClient, key: Keyring, person: Person, eraser: Eraser, runtime: Runtime
) -> None:
    made = await request_erasure(api, person.library_id, key.headers)
    request = request_of(made, user_ids=[person.user_id])
    await eraser.erase(request)
    survey = await eraser.run(eraser.activities.survey_library, request)
    await runtime.storage.put(f"libraries/{person.library_id}/late", b"canary")
    with pytest.raises(Exception, match="1 objects"):
        await eraser.run(eraser.activities.issue_certificate, request, survey)


async def test_workspace_goes_and_its_members_stay(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person, eraser: Eraser
) -> None:
    workspace, member = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace, member, role=Role.EDITOR)
    headers = (await accounts.key(person, library_id=workspace)).headers
    made = await request_erasure(anonymous, workspace, headers)
    await eraser.erase(request_of(made, user_ids=[]))
    users = [person.user_id, member.user_id]
    assert await accounts.connection.fetchval("SELECT count(*) FROM users WHERE id = ANY ($1)", users) == 2
    assert await accounts.connection.fetchval("SELECT count(*) FROM libraries WHERE id = $1", workspace) == 0


async def test_account_leaves_its_workspaces(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person, eraser: Eraser
) -> None:
    workspace, member = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace, member, role=Role.EDITOR)
    team_key = await accounts.key(member, library_id=workspace)
    made = await request_erasure(anonymous, member.library_id, (await accounts.key(member)).headers)
    assert (await anonymous.get("/videos", headers=team_key.headers)).status_code == 401
    await eraser.erase(request_of(made, user_ids=[member.user_id]))
    remaining = await accounts.connection.fetch("SELECT user_id FROM members WHERE library_id = $1", workspace)
    assert [row["user_id"] for row in remaining] == [person.user_id]


async def test_rate_limits_are_forgotten(
    api: httpx.AsyncClient, key: Keyring, person: Person, eraser: Eraser, runtime: Runtime
) -> None:
    made = await request_erasure(api, person.library_id, key.headers)
    redis = Redis.from_url(runtime.settings.redis_url.get_secret_value())
    counted = [person.library_id, person.user_id]  # by the request itself, too
    for subject in (key.id, f"sign-in:{person.email}", f"free-work:library:{counted[0]}", f"account:{counted[1]}"):
        await runtime.limits.count(subject, RateLimit(1))  # kept for a minute
    try:
        assert await redis.keys(f"*{key.id}*")
        assert await redis.keys(f"*{person.email}*")
        assert all([await redis.keys(f"limits:*{each}*") for each in counted])
        await eraser.erase(request_of(made, user_ids=[person.user_id]))
        assert not await redis.keys(f"*{key.id}*")
        assert not await redis.keys(f"*{person.email}*")
        assert not any([await redis.keys(f"limits:*{each}*") for each in counted])
    finally:
        await redis.aclose()


async def test_application_erases_only_what_was_requested(accounts: Accounts, person: Person, runtime: Runtime) -> None:
    async with runtime.database.connection() as connection, connection.transaction():
        await enter_library(connection, person.library_id)
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="not requested"):
            await connection.execute("SELECT erase_library_rows($1)", person.library_id)
    other = await accounts.person()
    await accounts.connection.execute("UPDATE libraries SET erased_at = now() WHERE id = $1", other.library_id)
    for sql in ("SELECT erase_library_rows($1)", "SELECT begin_erasure($1, now())"):
        async with runtime.database.connection() as connection, connection.transaction():
            await enter_library(connection, person.library_id)
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(sql, other.library_id)
    assert await accounts.connection.fetchval("SELECT count(*) FROM libraries WHERE id = $1", person.library_id) == 1


async def test_setting_does_not_open_the_audit_log_to_the_application(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    await api.post("/folders", json={"name": "Recorded"})
    async with runtime.database.connection() as connection, connection.transaction():
        await enter_library(connection, person.library_id)
        await connection.execute("SELECT set_config('cutroom.erased_library', $1, true)", person.library_id)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("DELETE FROM audit_entries WHERE library_id = $1", person.library_id)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
        await accounts.connection.execute("DELETE FROM audit_entries WHERE library_id = $1", person.library_id)


async def test_workers_drop_local_copies_of_erased_libraries(
    accounts: Accounts, runtime: Runtime, tmp_path: Path
) -> None:
    erased, kept = await accounts.person(), await accounts.person()
    cache = LocalMediaCache(runtime.storage, tmp_path, max_bytes=1_000_000)
    paths = [f"libraries/{each.library_id}/{new_id()}" for each in (erased, kept)]
    for path in paths:
        await runtime.storage.put(path, b"canary")
        async with cache.fetch(path):
            pass
    assert await sweep(runtime.database, cache) == 0
    await accounts.connection.execute(
        "UPDATE libraries SET erased_at = $2 WHERE id = $1", erased.library_id, system_clock()
    )
    async with cache.fetch(paths[0]) as copy:
        assert await sweep(runtime.database, cache) == 0  # in use
    assert await sweep(runtime.database, cache) == 1
    assert (cache.paths(), copy.path.exists()) == ([paths[1]], False)
