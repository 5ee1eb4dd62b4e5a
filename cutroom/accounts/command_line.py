"""The login of the command line: a built-in OAuth client whose code is exchanged for an API key (RFC 8252)."""

import re
from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.keys import KEY_PREFIX, is_well_formed
from cutroom.accounts.oauth import OAuthClientInfo, OAuthError, OAuthTokenService, RevokedGrant, revoke_grant
from cutroom.accounts.principals import CREDENTIAL_PURPOSE
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.accounts.service import KeyIssuer, NewKey
from cutroom.accounts.sessions import normalize_name
from cutroom.platform.db import Connection

COMMAND_LINE = OAuthClientInfo("cutroom-cli", "Cutroom command line", ("http://127.0.0.1/callback",))
MAX_DEVICE = 60
# RFC 8252, section 7.3: any port of the loopback address, and nothing else of the URI may differ.
_REDIRECT = re.compile(r"http://127\.0\.0\.1:([1-9][0-9]{3,4})/callback")
_MAX_PORT = 65_535


@dataclass(frozen=True, slots=True)
class LoginKey:
    """A key that a login has created, and the library that it opens."""

    key: NewKey
    library_id: str
    user_id: str


def is_command_line(client_id: str) -> bool:
    return client_id == COMMAND_LINE.id


def is_loopback_redirect(uri: str) -> bool:
    """Whether the command line may be redirected to there: its callback on a port of 127.0.0.1."""
    found = _REDIRECT.fullmatch(uri)
    return found is not None and int(found[1]) <= _MAX_PORT


def parse_key_scopes(text: str) -> frozenset[Scope]:
    """Parse the requested scopes; an empty string means all."""
    requested = frozenset(text.split())
    if not requested <= ALL_SCOPES:
        raise OAuthError("invalid_scope", "A requested scope does not exist.")
    return frozenset(Scope(each) for each in requested) or ALL_SCOPES


async def exchange_for_key(
    connection: Connection,
    code: str,
    *,
    redirect_uri: str,
    verifier: str,
    device: str,
    issuer: KeyIssuer,
    now: datetime,
) -> LoginKey:
    """Exchange a code for an API key with the id of the grant, so that reuse of the code revokes the key too."""
    service = OAuthTokenService(issuer.secret_box)
    try:
        row = await service.redeem(
            connection, code, client_id=COMMAND_LINE.id, redirect_uri=redirect_uri, verifier=verifier, now=now
        )
    except OAuthError as error:
        if error.revoked is not None:
            await _revoke_key(connection, error.revoked, now=now)
        raise
    scopes = frozenset(Scope(scope) for scope in row["scopes"])
    key = await issuer.create_key(
        connection,
        row["library_id"],
        user_id=row["user_id"],
        name=key_name(device),
        scopes=() if scopes == ALL_SCOPES else scopes,
        now=now,
        key_id=row["grant_id"],
    )
    return LoginKey(key, row["library_id"], row["user_id"])


def key_name(device: str) -> str:
    """Name a key after the computer, as far as its name can be printed."""
    printable = "".join(each for each in device if each.isprintable()).strip()[:MAX_DEVICE]
    return normalize_name(f"Command line on {printable}" if printable else "Command line")


async def revoke_login(
    connection: Connection, token: str, *, service: OAuthTokenService, now: datetime
) -> RevokedGrant | None:
    """Revoke a key that a login has created; other keys are ignored silently (RFC 7009)."""
    if not is_well_formed(token, KEY_PREFIX):
        return None
    hashed = service.secret_box.keyed_hash(CREDENTIAL_PURPOSE, token)
    row = await connection.fetchrow("SELECT library_id, credential_id FROM authenticate_key($1)", hashed)
    if row is None:
        return None
    revoked = RevokedGrant(row["library_id"], row["credential_id"], COMMAND_LINE.id)
    is_login = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM oauth_grants WHERE library_id = $1 AND id = $2 AND client_id = $3)",
        revoked.library_id,
        revoked.grant_id,
        revoked.client_id,
    )
    if not is_login:
        return None
    await _revoke_key(connection, revoked, now=now)
    await revoke_grant(connection, revoked.library_id, revoked.grant_id, now=now)
    return revoked


async def _revoke_key(connection: Connection, revoked: RevokedGrant, *, now: datetime) -> None:
    await connection.execute(
        "UPDATE api_keys SET revoked_at = $3 WHERE library_id = $1 AND id = $2 AND revoked_at IS NULL",
        revoked.library_id,
        revoked.grant_id,
        now,
    )
