"""Authentication of credentials on PostgreSQL."""

from datetime import timedelta

import pytest

from cutroom.accounts.keys import KEY_PREFIX, TOKEN_PREFIX, generate_credential
from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Principal, Role, UnknownCredentialError
from cutroom.accounts.scopes import ALL_SCOPES, SPEECH_SCOPES, Scope
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring, Person
from tests.accounts.conftest import NOON, MakeToken

LIBRARY = "SELECT coalesce(current_setting('cutroom.library_id', true), '')"


async def authenticate(runtime: Runtime, credential: str, *, speech: bool = False) -> Principal:
    async with runtime.database.connection() as connection:
        return await runtime.authenticator.authenticate(connection, credential, now=NOON, speech=speech)


async def authentication_error(runtime: Runtime, credential: str, *, speech: bool = False) -> CutroomError:
    """Return the authentication error and check that the connection was not scoped to a library."""
    async with runtime.database.connection() as connection:
        with pytest.raises(CutroomError) as error:
            await runtime.authenticator.authenticate(connection, credential, now=NOON, speech=speech)
        assert await connection.fetchval(LIBRARY) == ""
    return error.value


async def test_personal_key_authenticates_owner(runtime: Runtime, accounts: Accounts) -> None:
    person = await accounts.person(PlanName.CREATOR)
    key = await accounts.key(person)
    assert await authenticate(runtime, key.secret) == Principal(
        id=key.id,
        user_id=person.user_id,
        library_id=person.library_id,
        workspace_id=None,
        role=Role.OWNER,
        plan=runtime.authenticator.plans["creator"],
        suspended=False,
        scopes=ALL_SCOPES,
    )


@pytest.mark.parametrize("role", Role)
async def test_workspace_key_carries_member_role(
    runtime: Runtime, accounts: Accounts, person: Person, role: Role
) -> None:
    workspace_id = await accounts.workspace(await accounts.person(), PlanName.PRO)
    await accounts.member(workspace_id, person, role=role)
    key = await accounts.key(person, library_id=workspace_id, scopes=[Scope.VIDEOS_READ])
    principal = await authenticate(runtime, key.secret)
    assert (principal.library_id, principal.workspace_id) == (workspace_id, workspace_id)
    assert (principal.role, principal.may_write) == (role, role is not Role.VIEWER)
    assert principal.plan == runtime.authenticator.plans["pro"]
    assert principal.scopes == {"videos:read"}


async def test_authentication_scopes_connection_to_library(runtime: Runtime, person: Person, key: Keyring) -> None:
    async with runtime.database.connection() as connection:
        await runtime.authenticator.authenticate(connection, key.secret, now=NOON, speech=False)
        assert await connection.fetchval(LIBRARY) == person.library_id
        assert [row["id"] for row in await connection.fetch("SELECT id FROM libraries")] == [person.library_id]
        assert [row["id"] for row in await connection.fetch("SELECT id FROM users")] == [person.user_id]


async def test_role_change_applies_to_next_request(runtime: Runtime, accounts: Accounts, person: Person) -> None:
    workspace_id = await accounts.workspace(person)
    key = await accounts.key(person, library_id=workspace_id)
    await accounts.member(workspace_id, person, role=Role.VIEWER)
    assert (await authenticate(runtime, key.secret)).role is Role.VIEWER


async def test_legacy_speech_key_has_only_speech_scopes(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    await accounts.connection.execute("UPDATE api_keys SET legacy_speech = true, scopes = '{}' WHERE id = $1", key.id)
    assert (await authenticate(runtime, key.secret)).scopes == SPEECH_SCOPES
    assert (await authenticate(runtime, key.secret, speech=True)).scopes == SPEECH_SCOPES


async def test_key_without_scopes_has_none(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    await accounts.connection.execute("UPDATE api_keys SET scopes = '{}' WHERE id = $1", key.id)
    assert (await authenticate(runtime, key.secret)).scopes == frozenset()


async def test_suspended_library_is_flagged(runtime: Runtime, accounts: Accounts, person: Person, key: Keyring) -> None:
    await accounts.connection.execute(
        "UPDATE libraries SET suspended_at = $2 WHERE id = $1", person.library_id, system_clock()
    )
    assert (await authenticate(runtime, key.secret)).suspended is True


async def test_revoked_key_is_unknown(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    await accounts.connection.execute("UPDATE api_keys SET revoked_at = $2 WHERE id = $1", key.id, NOON)
    error = await authentication_error(runtime, key.secret)
    assert isinstance(error, UnknownCredentialError)
    assert error.code is Code.INVALID_API_KEY


async def test_key_of_removed_member_is_denied(
    runtime: Runtime, accounts: Accounts, person: Person, key: Keyring
) -> None:
    await accounts.connection.execute("DELETE FROM members WHERE user_id = $1", person.user_id)
    error = await authentication_error(runtime, key.secret)
    assert error.code is Code.PERMISSION_DENIED


async def test_nonexistent_key_is_unknown(runtime: Runtime) -> None:
    error = await authentication_error(runtime, generate_credential(KEY_PREFIX))
    assert isinstance(error, UnknownCredentialError)


@pytest.mark.parametrize("speech", [False, True])
@pytest.mark.parametrize("credential", ["", "cr_", "secret", "cr_" + "0" * 46, "oat_" + "0" * 46, "é" * 49])
async def test_malformed_credential_is_not_counted_as_guess(runtime: Runtime, credential: str, *, speech: bool) -> None:
    error = await authentication_error(runtime, credential, speech=speech)
    assert error.code is Code.INVALID_API_KEY
    assert not isinstance(error, UnknownCredentialError)


async def test_key_hashed_with_other_secret_is_unknown(runtime: Runtime, accounts: Accounts, person: Person) -> None:
    elsewhere = accounts.settings.model_copy(update={"secret_key": type(accounts.settings.secret_key)("z" * 32)})
    key = await Accounts(elsewhere, accounts.connection).key(person)
    assert isinstance(await authentication_error(runtime, key.secret), UnknownCredentialError)


async def test_token_authenticates_speech(runtime: Runtime, person: Person, make_token: MakeToken) -> None:
    token = await make_token(expires_at=NOON + timedelta(hours=1))
    principal = await authenticate(runtime, token.secret, speech=True)
    assert (principal.id, principal.user_id, principal.library_id) == (token.id, person.user_id, person.library_id)
    assert principal.scopes == {"tts:read"}


async def test_token_is_rejected_outside_speech(runtime: Runtime, make_token: MakeToken) -> None:
    token = await make_token(expires_at=NOON + timedelta(hours=1))
    error = await authentication_error(runtime, token.secret, speech=False)
    assert error.code is Code.INVALID_API_KEY
    assert not isinstance(error, UnknownCredentialError)


@pytest.mark.parametrize(
    ("seconds", "good"), [(-3600, False), (-1, False), (0, False), (0.001, True), (1, True), (3600, True)]
)
async def test_token_expires(runtime: Runtime, make_token: MakeToken, seconds: float, *, good: bool) -> None:
    token = await make_token(expires_at=NOON + timedelta(seconds=seconds))
    if good:
        assert (await authenticate(runtime, token.secret, speech=True)).id == token.id
    else:
        assert isinstance(await authentication_error(runtime, token.secret, speech=True), UnknownCredentialError)


async def test_revoked_token_is_unknown(runtime: Runtime, make_token: MakeToken) -> None:
    token = await make_token(expires_at=NOON + timedelta(hours=1), revoked_at=NOON)
    assert isinstance(await authentication_error(runtime, token.secret, speech=True), UnknownCredentialError)


async def test_nonexistent_token_is_unknown(runtime: Runtime) -> None:
    assert isinstance(
        await authentication_error(runtime, generate_credential(TOKEN_PREFIX), speech=True), UnknownCredentialError
    )


async def test_token_of_former_member_is_denied(runtime: Runtime, accounts: Accounts, make_token: MakeToken) -> None:
    workspace_id = await accounts.workspace(await accounts.person())
    token = await make_token(library_id=workspace_id, expires_at=NOON + timedelta(hours=1))
    assert (await authentication_error(runtime, token.secret, speech=True)).code is Code.PERMISSION_DENIED
