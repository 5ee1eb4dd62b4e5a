"""Fixtures: OAuth tokens inserted directly."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import pytest

from cutroom.accounts.keys import TOKEN_PREFIX, generate_credential
from cutroom.accounts.principals import CREDENTIAL_PURPOSE
from cutroom.accounts.scopes import Scope
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Keyring, Person

NOON = datetime.fromisoformat("2026-06-01T12:00:00+00:00")
MakeToken = Callable[..., Awaitable[Keyring]]


@pytest.fixture
def make_token(accounts: Accounts, runtime: Runtime, person: Person) -> MakeToken:
    """Insert an access token of the user, as the OAuth server does."""

    async def make(
        *, expires_at: datetime | None = None, revoked_at: datetime | None = None, library_id: str | None = None
    ) -> Keyring:
        secret, token_id = generate_credential(TOKEN_PREFIX), new_id()
        row = {
            "id": token_id,
            "library_id": library_id or person.library_id,
            "user_id": person.user_id,
            "client_id": "editor",
            "hash": runtime.secret_box.keyed_hash(CREDENTIAL_PURPOSE, secret),
            "scopes": [Scope.TTS_READ.value],
            "created_at": system_clock(),
            "expires_at": expires_at or system_clock() + timedelta(hours=1),
            "revoked_at": revoked_at,
        }
        await insert(accounts.connection, "oauth_tokens", row)
        return Keyring(id=token_id, secret=secret)

    return make
