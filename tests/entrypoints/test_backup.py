"""Backup and restore: erased libraries do not come back, whichever copy of the erasure log names them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest
from pydantic import SecretStr

from cutroom.accounts.principals import Role
from cutroom.entrypoints.backup import ROWS, NotEmptyError, backup, restore
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Signer, bucket_url
from cutroom.platform.storage.objects import Storage
from cutroom.platform.storage.versions import ObjectVersions
from cutroom.retention.erasure.log import ErasureLog, InvalidLogError
from cutroom.retention.erasure.rules import ErasureRequest
from cutroom.retention.revocations.log import Revocation, RevocationLog, RevokedKind
from dev.scratch import Accounts, Person, drop_scratch, scratch


@dataclass(frozen=True)
class Source:
    """An installation with two libraries, and the folder of its backup."""

    settings: Settings
    accounts: Accounts
    erased: Person
    kept: Person
    folder: Path

    def entry(self, library_id: str) -> ErasureRequest:
        return ErasureRequest(new_id(), library_id, [], system_clock().isoformat())


async def create_bucket(settings: Settings) -> None:
    """Create the bucket, or empty it: a new one for each test would need new volumes."""
    url = f"{bucket_url(settings)}/"
    headers = Signer.of(settings).headers("PUT", url, signed={}, now=system_clock())
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.put(url, headers=headers)
    assert response.status_code in {200, 409}, response.text
    versions = ObjectVersions.connect(settings)
    await versions.delete_under("")
    await versions.close()


@asynccontextmanager
async def installation(name: str, tmp_path: Path) -> AsyncIterator[Settings]:
    """A database and a bucket of its own, with the erasure log in a directory."""
    changes = {"s3_bucket": name.replace("_", "-"), "erasure_log": str(tmp_path / name)}
    settings = (await scratch(name)).model_copy(update=changes)
    await create_bucket(settings)
    yield settings
    await drop_scratch(name)


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[Source]:
    async with installation("backup_source", tmp_path) as settings:
        accounts = await Accounts.open(settings)
        try:
            erased, kept = await accounts.person(), await accounts.person()
            storage = Storage.connect(settings)
            for person in (erased, kept):
                await storage.put(f"libraries/{person.library_id}/video", b"media")
            yield Source(settings, accounts, erased, kept, tmp_path / "backup")
        finally:
            await accounts.close()


@pytest.fixture
async def target(tmp_path: Path) -> AsyncIterator[Settings]:
    """An installation with an empty database and bucket."""
    async with installation("backup_target", tmp_path) as settings:
        assert settings.owner_database_url is not None
        url = settings.owner_database_url.get_secret_value()
        name = urlsplit(url).path.lstrip("/")
        connection = await asyncpg.connect(url.replace(f"/{name}", "/cutroom"))
        await connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        await connection.execute(f'CREATE DATABASE "{name}"')
        await connection.close()
        yield settings


async def libraries(settings: Settings) -> set[str]:
    assert settings.owner_database_url is not None
    connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
    try:
        return {row["id"] for row in await connection.fetch("SELECT id FROM libraries")}
    finally:
        await connection.close()


async def stored(settings: Settings) -> set[str]:
    return {path.split("/")[1] for path in await Storage.connect(settings).names("libraries/")}


async def test_restore_applies_every_erasure_log(source: Source, target: Settings, tmp_path: Path) -> None:
    others = [await source.accounts.person() for _ in range(2)]
    erased = [source.erased.library_id, *(each.library_id for each in others)]
    await ErasureLog.of(source.settings).append(source.entry(erased[0]))
    await backup(source.settings, source.folder)
    copy = str(tmp_path / "copy")
    await ErasureLog.of(target).append(source.entry(erased[1]))
    await ErasureLog.of(target, copy).append(source.entry(erased[2]))
    stats = await restore(target, source.folder, erasure_log=copy)
    assert await libraries(target) == await stored(target) == {source.kept.library_id}
    assert stats.erased_libraries == len(erased)
    assert await ErasureLog.of(target).library_ids() == set(erased)


async def test_restore_without_erasures_restores_everything(source: Source, target: Settings) -> None:
    await backup(source.settings, source.folder)
    await restore(target, source.folder)
    assert await libraries(target) == await stored(target) == {source.erased.library_id, source.kept.library_id}


async def test_library_that_was_being_erased_is_left_out(source: Source, target: Settings) -> None:
    await source.accounts.connection.execute(
        "UPDATE libraries SET erased_at = now() WHERE id = $1", source.erased.library_id
    )
    await backup(source.settings, source.folder)
    await restore(target, source.folder)
    assert await libraries(target) == await stored(target) == {source.kept.library_id}


async def test_entry_with_another_signature_stops_the_restore(source: Source, target: Settings) -> None:
    await backup(source.settings, source.folder)
    other = target.model_copy(update={"secret_key": SecretStr("another secret key of sufficient length")})
    await ErasureLog.of(other, target.erasure_log).append(source.entry(source.kept.library_id))
    with pytest.raises(InvalidLogError):
        await restore(target, source.folder)
    await assert_empty(target)


async def test_truncated_dump_leaves_nothing(source: Source, target: Settings) -> None:
    await backup(source.settings, source.folder)
    dump = source.folder / ROWS
    dump.write_bytes(dump.read_bytes()[: dump.stat().st_size * 9 // 10])
    with pytest.raises(RuntimeError, match="pg_restore failed"):
        await restore(target, source.folder)
    await assert_empty(target)


async def test_restore_refuses_an_installation_with_data(source: Source) -> None:
    await backup(source.settings, source.folder)
    with pytest.raises(NotEmptyError):
        await restore(source.settings, source.folder)


async def assert_empty(settings: Settings) -> None:
    assert settings.owner_database_url is not None
    connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
    tables = await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
    await connection.close()
    assert tables == 0
    assert not await stored(settings)


def revocation(kind: RevokedKind, library_id: str, revoked: str = "", *, after: float = 0) -> Revocation:
    return Revocation(kind, library_id, revoked, (system_clock() + timedelta(seconds=after)).isoformat())


async def restored(settings: Settings, sql: str, *arguments: str) -> object:
    assert settings.owner_database_url is not None
    connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
    try:
        return await connection.fetchval(sql, *arguments)
    finally:
        await connection.close()


async def test_key_that_was_revoked_after_the_backup_stays_revoked(
    source: Source, target: Settings, tmp_path: Path
) -> None:
    library_id = source.kept.library_id
    keys = [await source.accounts.key(source.kept) for _ in range(4)]
    await RevocationLog.of(source.settings).append(revocation(RevokedKind.KEY, library_id, keys[0].id))
    await backup(source.settings, source.folder)
    await RevocationLog.of(target).append(revocation(RevokedKind.KEY, library_id, keys[1].id))
    copy = str(tmp_path / "revocations")
    await RevocationLog.of(target, copy).append(revocation(RevokedKind.KEY, library_id, keys[2].id))
    stats = await restore(target, source.folder, revocation_log=copy)
    assert stats.revocations == 3
    sql = "SELECT array_agg(id) FROM api_keys WHERE library_id = $1 AND revoked_at IS NULL"
    assert await restored(target, sql, library_id) == [keys[3].id]
    assert len(await RevocationLog.of(target).entries()) == 3


async def test_removed_members_and_suspensions_are_restored_as_they_were_last(source: Source, target: Settings) -> None:
    accounts, owner = source.accounts, source.kept
    workspace = await accounts.workspace(owner)
    left, returned = await accounts.person(), await accounts.person()
    early = revocation(RevokedKind.MEMBER, workspace, returned.user_id, after=-60)
    for person in (left, returned):
        await accounts.member(workspace, person, role=Role.EDITOR)
    await accounts.connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", workspace)
    await backup(source.settings, source.folder)
    log = RevocationLog.of(target)
    for each in (
        early,
        revocation(RevokedKind.MEMBER, workspace, left.user_id, after=1),
        revocation(RevokedKind.SUSPENSION, owner.library_id, after=1),
        revocation(RevokedKind.SUSPENSION, workspace),
        revocation(RevokedKind.RESUMPTION, workspace, after=1),
    ):
        await log.append(each)
    await restore(target, source.folder)
    members = "SELECT array_agg(user_id ORDER BY user_id) FROM members WHERE library_id = $1"
    assert await restored(target, members, workspace) == sorted([owner.user_id, returned.user_id])
    suspended = "SELECT array_agg(id) FROM libraries WHERE suspended_at IS NOT NULL"
    assert await restored(target, suspended) == [owner.library_id]


async def test_revocation_with_another_signature_stops_the_restore(source: Source, target: Settings) -> None:
    await backup(source.settings, source.folder)
    other = target.model_copy(update={"secret_key": SecretStr("another secret key of sufficient length")})
    entry = revocation(RevokedKind.KEY, source.kept.library_id, new_id())
    await RevocationLog.of(other, target.revocation_log).append(entry)
    with pytest.raises(InvalidLogError):
        await restore(target, source.folder)
    assert await restored(target, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
