"""From a credential to a principal, on the real database."""

from datetime import timedelta

import pytest

from cutroom.accounts.keys import KEY_PREFIX, TOKEN_PREFIX, mint_credential
from cutroom.accounts.plans import PlanName
from cutroom.accounts.principals import Principal, Role, UnknownCredentialError
from cutroom.accounts.scopes import ALL_SCOPES, SPEECH_SCOPES, Scope
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring, Person
from tests.accounts.conftest import NOON, MakeToken

LIBRARY = "SELECT coalesce(current_setting('cutroom.library_id', true), '')"


async def admit(runtime: Runtime, credential: str, *, speech: bool = False) -> Principal:
    async with runtime.database.connection() as connection:
        return await runtime.doorkeeper.admit(connection, credential, now=NOON, speech=speech)


async def refusal(runtime: Runtime, credential: str, *, speech: bool = False) -> CutroomError:
    """The error with which a credential is refused; whatever it was, the connection must have entered nothing."""
    async with runtime.database.connection() as connection:
        with pytest.raises(CutroomError) as refused:
            await runtime.doorkeeper.admit(connection, credential, now=NOON, speech=speech)
        assert await connection.fetchval(LIBRARY) == ""
    return refused.value


async def test_a_key_of_a_personal_library_makes_its_owner_the_principal(runtime: Runtime, accounts: Accounts) -> None:
    person = await accounts.person(PlanName.CREATOR)
    key = await accounts.key(person)
    assert await admit(runtime, key.secret) == Principal(
        id=key.id,
        user_id=person.user_id,
        library_id=person.library_id,
        workspace_id=None,
        role=Role.OWNER,
        plan=runtime.doorkeeper.plans["creator"],
        suspended=False,
        scopes=ALL_SCOPES,
    )


@pytest.mark.parametrize("role", Role)
async def test_a_key_of_a_workspace_carries_the_members_role(
    runtime: Runtime, accounts: Accounts, person: Person, role: Role
) -> None:
    workspace_id = await accounts.workspace(await accounts.person(), PlanName.PRO)
    await accounts.member(workspace_id, person, role=role)
    key = await accounts.key(person, library_id=workspace_id, scopes=[Scope.VIDEOS_READ])
    principal = await admit(runtime, key.secret)
    assert (principal.library_id, principal.workspace_id) == (workspace_id, workspace_id)
    assert (principal.role, principal.may_write) == (role, role is not Role.VIEWER)
    assert principal.plan == runtime.doorkeeper.plans["pro"]
    assert principal.scopes == {"videos:read"}


async def test_an_admitted_connection_is_confined_to_the_keys_library(
    runtime: Runtime, person: Person, key: Keyring
) -> None:
    async with runtime.database.connection() as connection:
        await runtime.doorkeeper.admit(connection, key.secret, now=NOON, speech=False)
        assert await connection.fetchval(LIBRARY) == person.library_id
        assert [row["id"] for row in await connection.fetch("SELECT id FROM libraries")] == [person.library_id]
        assert [row["id"] for row in await connection.fetch("SELECT id FROM users")] == [person.user_id]


async def test_a_changed_role_counts_from_the_next_request(
    runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    workspace_id = await accounts.workspace(person)
    key = await accounts.key(person, library_id=workspace_id)
    await accounts.member(workspace_id, person, role=Role.VIEWER)
    assert (await admit(runtime, key.secret)).role is Role.VIEWER


async def test_a_legacy_speech_key_has_full_speech_access_and_nothing_else(
    runtime: Runtime, accounts: Accounts, key: Keyring
) -> None:
    await accounts.connection.execute("UPDATE api_keys SET legacy_speech = true, scopes = '{}' WHERE id = $1", key.id)
    assert (await admit(runtime, key.secret)).scopes == SPEECH_SCOPES
    assert (await admit(runtime, key.secret, speech=True)).scopes == SPEECH_SCOPES


async def test_a_key_without_scopes_that_is_not_legacy_allows_nothing(
    runtime: Runtime, accounts: Accounts, key: Keyring
) -> None:
    await accounts.connection.execute("UPDATE api_keys SET scopes = '{}' WHERE id = $1", key.id)
    assert (await admit(runtime, key.secret)).scopes == frozenset()


async def test_a_key_of_a_suspended_library_is_admitted_and_marked(
    runtime: Runtime, accounts: Accounts, person: Person, key: Keyring
) -> None:
    await accounts.connection.execute(
        "UPDATE libraries SET suspended_at = $2 WHERE id = $1", person.library_id, system_clock()
    )
    assert (await admit(runtime, key.secret)).suspended is True


async def test_a_revoked_key_is_unknown(runtime: Runtime, accounts: Accounts, key: Keyring) -> None:
    await accounts.connection.execute("UPDATE api_keys SET revoked_at = $2 WHERE id = $1", key.id, NOON)
    refused = await refusal(runtime, key.secret)
    assert isinstance(refused, UnknownCredentialError)
    assert refused.code is Code.INVALID_API_KEY


async def test_a_key_of_a_removed_member_is_known_but_not_permitted(
    runtime: Runtime, accounts: Accounts, person: Person, key: Keyring
) -> None:
    await accounts.connection.execute("DELETE FROM members WHERE user_id = $1", person.user_id)
    refused = await refusal(runtime, key.secret)
    assert refused.code is Code.PERMISSION_DENIED


async def test_a_key_that_was_never_made_is_unknown(runtime: Runtime) -> None:
    refused = await refusal(runtime, mint_credential(KEY_PREFIX))
    assert isinstance(refused, UnknownCredentialError)


@pytest.mark.parametrize("speech", [False, True])
@pytest.mark.parametrize("credential", ["", "cr_", "secret", "cr_" + "0" * 46, "oat_" + "0" * 46, "é" * 49])
async def test_what_is_not_well_formed_is_refused_without_counting_as_a_guess(
    runtime: Runtime, credential: str, *, speech: bool
) -> None:
    refused = await refusal(runtime, credential, speech=speech)
    assert refused.code is Code.INVALID_API_KEY
    assert not isinstance(refused, UnknownCredentialError)


async def test_a_key_made_with_another_installations_secret_is_unknown(
    runtime: Runtime, accounts: Accounts, person: Person
) -> None:
    elsewhere = accounts.settings.model_copy(update={"secret_key": type(accounts.settings.secret_key)("z" * 32)})
    key = await Accounts(elsewhere, accounts.connection).key(person)
    assert isinstance(await refusal(runtime, key.secret), UnknownCredentialError)


async def test_a_token_opens_speech(runtime: Runtime, person: Person, make_token: MakeToken) -> None:
    token = await make_token(expires_at=NOON + timedelta(hours=1))
    principal = await admit(runtime, token.secret, speech=True)
    assert (principal.id, principal.user_id, principal.library_id) == (token.id, person.user_id, person.library_id)
    assert principal.scopes == {"tts:read"}


async def test_a_token_opens_nothing_but_speech(runtime: Runtime, make_token: MakeToken) -> None:
    token = await make_token(expires_at=NOON + timedelta(hours=1))
    refused = await refusal(runtime, token.secret, speech=False)
    assert refused.code is Code.INVALID_API_KEY
    assert not isinstance(refused, UnknownCredentialError)


@pytest.mark.parametrize(
    ("seconds", "good"), [(-3600, False), (-1, False), (0, False), (0.001, True), (1, True), (3600, True)]
)
async def test_a_token_is_good_until_it_expires(
    runtime: Runtime, make_token: MakeToken, seconds: float, *, good: bool
) -> None:
    token = await make_token(expires_at=NOON + timedelta(seconds=seconds))
    if good:
        assert (await admit(runtime, token.secret, speech=True)).id == token.id
    else:
        assert isinstance(await refusal(runtime, token.secret, speech=True), UnknownCredentialError)


async def test_a_revoked_token_is_unknown(runtime: Runtime, make_token: MakeToken) -> None:
    token = await make_token(expires_at=NOON + timedelta(hours=1), revoked_at=NOON)
    assert isinstance(await refusal(runtime, token.secret, speech=True), UnknownCredentialError)


async def test_a_token_that_was_never_made_is_unknown(runtime: Runtime) -> None:
    assert isinstance(await refusal(runtime, mint_credential(TOKEN_PREFIX), speech=True), UnknownCredentialError)


async def test_a_token_of_a_workspace_its_holder_left_is_not_permitted(
    runtime: Runtime, accounts: Accounts, make_token: MakeToken
) -> None:
    workspace_id = await accounts.workspace(await accounts.person())
    token = await make_token(library_id=workspace_id, expires_at=NOON + timedelta(hours=1))
    assert (await refusal(runtime, token.secret, speech=True)).code is Code.PERMISSION_DENIED
