"""Users, workspaces, members and API keys."""

import pytest

from cutroom.accounts import service
from cutroom.accounts.keys import KEY_PREFIX, is_well_formed
from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import CREDENTIAL_PURPOSE, Role
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.accounts.conftest import NOON


@pytest.fixture
def issuer(runtime: Runtime) -> service.KeyIssuer:
    return service.KeyIssuer(secret_box=runtime.secret_box, plans=runtime.authenticator.plans)


async def roles(accounts: Accounts, library_id: str) -> dict[str, str]:
    rows = await accounts.connection.fetch("SELECT user_id, role FROM members WHERE library_id = $1", library_id)
    return {row["user_id"]: row["role"] for row in rows}


async def test_new_user_has_personal_library(accounts: Accounts) -> None:
    created = await service.create_user(
        accounts.connection, f"{new_id()}@example.com", name="Ada", plan=PlanName.PRO, now=NOON
    )
    library = await accounts.connection.fetchrow("SELECT * FROM libraries WHERE id = $1", created.library_id)
    assert library is not None
    assert (library["kind"], library["plan"], library["suspended_at"]) == ("personal", "pro", None)
    assert library["created_at"] == NOON
    assert await roles(accounts, created.library_id) == {created.user_id: "owner"}


@pytest.mark.parametrize("spelling", ["{}@example.com", "{}@EXAMPLE.com", "  {}@example.com ", "{}@Example.Com\n"])
async def test_email_is_unique_ignoring_case(accounts: Accounts, spelling: str) -> None:
    name = f"a{new_id()}"
    await service.create_user(
        accounts.connection, f"{name.upper()}@example.com", name="Ada", plan=PlanName.FREE, now=NOON
    )
    with pytest.raises(CutroomError) as refused:
        await service.create_user(accounts.connection, spelling.format(name), name="Eve", plan=PlanName.FREE, now=NOON)
    assert refused.value.code is Code.ALREADY_EXISTS
    stored = await accounts.connection.fetch("SELECT name FROM users WHERE email = $1", f"{name}@example.com")
    assert [row["name"] for row in stored] == ["Ada"]


async def test_workspace_creator_is_owner(accounts: Accounts, person: Person) -> None:
    workspace_id = await service.create_workspace(
        accounts.connection, "Team", owner_id=person.user_id, plan=PlanName.BUSINESS, now=NOON
    )
    kind = await accounts.connection.fetchval("SELECT kind FROM libraries WHERE id = $1", workspace_id)
    assert kind == "workspace"
    assert await roles(accounts, workspace_id) == {person.user_id: "owner"}


async def test_upsert_member_adds_and_updates(accounts: Accounts, person: Person) -> None:
    guest, workspace_id = await accounts.person(), await accounts.workspace(person)
    for role in (Role.VIEWER, Role.ADMIN, Role.ADMIN, Role.EDITOR):
        await service.upsert_member(accounts.connection, workspace_id, user_id=guest.user_id, role=role, now=NOON)
        assert await roles(accounts, workspace_id) == {person.user_id: "owner", guest.user_id: role.value}


async def test_removing_member_twice_is_not_found(accounts: Accounts, person: Person) -> None:
    guest, workspace_id = await accounts.person(), await accounts.workspace(person)
    await accounts.member(workspace_id, guest, role=Role.EDITOR)
    await service.remove_member(accounts.connection, workspace_id, user_id=guest.user_id)
    assert await roles(accounts, workspace_id) == {person.user_id: "owner"}
    with pytest.raises(CutroomError) as refused:
        await service.remove_member(accounts.connection, workspace_id, user_id=guest.user_id)
    assert refused.value.code is Code.NOT_FOUND


async def test_personal_library_rejects_members(accounts: Accounts, person: Person) -> None:
    guest = await accounts.person()
    with pytest.raises(CutroomError) as refused:
        await service.upsert_member(
            accounts.connection, person.library_id, user_id=guest.user_id, role=Role.EDITOR, now=NOON
        )
    assert refused.value.code is Code.NOT_FOUND
    assert await roles(accounts, person.library_id) == {person.user_id: "owner"}


async def test_key_for_foreign_library_is_not_found(
    accounts: Accounts, person: Person, issuer: service.KeyIssuer
) -> None:
    other_user = await accounts.person()
    for library_id in (other_user.library_id, await accounts.workspace(other_user), new_id()):
        with pytest.raises(CutroomError) as refused:
            await issuer.create_key(
                accounts.connection, library_id, user_id=person.user_id, name="k", scopes=[], now=NOON
            )
        assert refused.value.code is Code.NOT_FOUND
    assert await accounts.connection.fetchval("SELECT count(*) FROM api_keys WHERE user_id = $1", person.user_id) == 0


async def test_new_key_stores_hash_hint_and_scopes(
    accounts: Accounts, runtime: Runtime, person: Person, issuer: service.KeyIssuer
) -> None:
    created = await issuer.create_key(
        accounts.connection,
        person.library_id,
        user_id=person.user_id,
        name="laptop",
        scopes=[Scope.VIDEOS_READ, Scope.JOBS_READ],
        now=NOON,
    )
    assert is_well_formed(created.secret, KEY_PREFIX)
    assert created.scopes == {"videos:read", "jobs:read"}
    stored = await accounts.connection.fetchrow("SELECT * FROM api_keys WHERE id = $1", created.key_id)
    assert stored is not None
    assert dict(stored) == {
        "id": created.key_id,
        "library_id": person.library_id,
        "user_id": person.user_id,
        "name": "laptop",
        "hash": runtime.secret_box.keyed_hash(CREDENTIAL_PURPOSE, created.secret),
        "hint": created.secret[-4:],
        "scopes": ["jobs:read", "videos:read"],
        "legacy_speech": False,
        "created_at": NOON,
        "last_used_at": None,
        "revoked_at": None,
    }


async def test_key_without_requested_scopes_gets_all_on_free_plan(
    accounts: Accounts, issuer: service.KeyIssuer
) -> None:
    free = await accounts.person(PlanName.FREE)
    created = await issuer.create_key(
        accounts.connection, free.library_id, user_id=free.user_id, name="k", scopes=[], now=NOON
    )
    assert created.scopes == ALL_SCOPES
    stored = await accounts.connection.fetchval("SELECT scopes FROM api_keys WHERE id = $1", created.key_id)
    assert set(stored) == set(ALL_SCOPES)


async def test_speech_key_is_refused_on_free_plan(accounts: Accounts, issuer: service.KeyIssuer) -> None:
    free = await accounts.person(PlanName.FREE)
    with pytest.raises(CutroomError) as refused:
        await issuer.create_key(
            accounts.connection,
            free.library_id,
            user_id=free.user_id,
            name="k",
            scopes=[Scope.TTS_SYNTHESIZE],
            now=NOON,
        )
    assert refused.value.code is Code.PERMISSION_DENIED
    assert await accounts.connection.fetchval("SELECT count(*) FROM api_keys WHERE user_id = $1", free.user_id) == 0


async def test_key_secret_is_not_stored(accounts: Accounts, person: Person, issuer: service.KeyIssuer) -> None:
    created = await issuer.create_key(
        accounts.connection, person.library_id, user_id=person.user_id, name="k", scopes=[], now=NOON
    )
    tables = await accounts.connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    assert "api_keys" in {table["tablename"] for table in tables}
    secret = created.secret.removeprefix(KEY_PREFIX)
    for table in tables:
        # Casting a row to text shows bytea as hexadecimal.
        holding = await accounts.connection.fetchval(
            f"SELECT count(*) FROM {table['tablename']} t WHERE t::text LIKE ANY ($1::text[])",  # noqa: S608
            [f"%{secret[:12]}%", f"%{secret.encode().hex()[:24]}%"],
        )
        assert holding == 0, table["tablename"]
    found = await accounts.connection.fetchval("SELECT t::text FROM api_keys t WHERE id = $1", created.key_id)
    assert created.secret[-4:] in found  # proves that the search works


async def test_key_cannot_be_revoked_twice(accounts: Accounts, person: Person) -> None:
    key = await accounts.key(person)
    await service.revoke_key(accounts.connection, key.id, now=NOON)
    for key_id in (key.id, new_id()):
        with pytest.raises(CutroomError) as refused:
            await service.revoke_key(accounts.connection, key_id, now=system_clock())
        assert refused.value.code is Code.NOT_FOUND
    assert await accounts.connection.fetchval("SELECT revoked_at FROM api_keys WHERE id = $1", key.id) == NOON
