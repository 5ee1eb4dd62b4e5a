"""OAuth 2.0 authorization code flow with PKCE: clients, consents and tokens (RFC 6749, 7009, 7636, 9700)."""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit

import asyncpg

from cutroom.accounts.keys import TOKEN_PREFIX, generate_credential, is_well_formed
from cutroom.accounts.principals import CREDENTIAL_PURPOSE
from cutroom.accounts.scopes import SPEECH_SCOPES, Scope
from cutroom.accounts.sessions import normalize_name
from cutroom.errors import invalid_field, not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox

CODE_LIFETIME = timedelta(minutes=1)
ACCESS_LIFETIME = timedelta(hours=1)
REFRESH_LIFETIME = timedelta(days=30)
CODE_PREFIX = "oac_"
REFRESH_PREFIX = "ort_"
CODE_PURPOSE = "oauth-code"
REFRESH_PURPOSE = "oauth-refresh"
MAX_REDIRECTS = 10
MAX_URI = 500
GRANTABLE = frozenset(SPEECH_SCOPES)  # tokens are accepted by the speech API only
_VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}")
_CHALLENGE = re.compile(r"[A-Za-z0-9\-_]{43}")


class OAuthError(Exception):
    """An OAuth error response (RFC 6749, section 5.2)."""

    def __init__(self, error: str, description: str, revoked: "RevokedGrant | None" = None) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.revoked = revoked


@dataclass(frozen=True, slots=True)
class OAuthClientInfo:
    """A registered client."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consent:
    """An authorization that a user granted to a client."""

    client_id: str
    user_id: str
    library_id: str
    scopes: frozenset[Scope]
    redirect_uri: str
    challenge: str


@dataclass(frozen=True, slots=True)
class IssuedCode:
    """A new authorization code and the grant that it belongs to."""

    code: str
    grant_id: str


@dataclass(frozen=True, slots=True)
class RevokedGrant:
    """A grant that a client has revoked, or that was revoked because a code or token was used twice."""

    library_id: str
    grant_id: str
    client_id: str


@dataclass(frozen=True, slots=True)
class TokenPair:
    """A newly issued access and refresh token; only their hashes are stored."""

    access: str
    refresh: str
    scopes: tuple[str, ...]


def redirect_uri_error(uri: str) -> str | None:
    """Return why a redirect URI is not allowed: only https, or http on the loopback interface."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
    except ValueError:
        return "This is not a valid URI."
    if len(uri) > MAX_URI or not uri.isascii() or not uri.isprintable() or " " in uri or "\\" in uri:
        return f"A redirect URI has at most {MAX_URI} printable ASCII characters."
    if parts.fragment or "#" in uri or parts.username is not None or not host:
        return "A redirect URI needs a host, and no fragment or credentials."
    if parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)):
        return None
    return "Use https, or http on localhost."


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_challenge(text: str) -> bool:
    return _CHALLENGE.fullmatch(text) is not None


def parse_scopes(text: str) -> frozenset[Scope]:
    """Parse the requested scopes; an empty string means all grantable scopes."""
    requested = frozenset(text.split())
    if not requested <= GRANTABLE:
        raise OAuthError("invalid_scope", "Only the speech scopes can be granted.")
    return frozenset(Scope(each) for each in requested) or frozenset(GRANTABLE)


async def find_client(connection: Connection, client_id: str) -> OAuthClientInfo | None:
    row = await connection.fetchrow("SELECT * FROM oauth_client($1)", client_id)
    return None if row is None else OAuthClientInfo(row["id"], row["name"], tuple(row["redirect_uris"]))


async def register_client(
    connection: Connection, name: str, redirect_uris: Sequence[str], *, owner_id: str | None, now: datetime
) -> OAuthClientInfo:
    """Register a client; its owner can revoke it."""
    uris = list(dict.fromkeys(uri.strip() for uri in redirect_uris if uri.strip()))
    if not 1 <= len(uris) <= MAX_REDIRECTS:
        raise invalid_field("redirectUris", f"Provide 1 to {MAX_REDIRECTS} redirect URIs.")
    for uri in uris:
        if problem := redirect_uri_error(uri):
            raise invalid_field("redirectUris", f"{uri}: {problem}")
    client = OAuthClientInfo(new_id(), normalize_name(name), tuple(uris))
    await connection.execute(
        "SELECT create_oauth_client($1, $2, $3, $4, $5)",
        client.id,
        client.name,
        list(client.redirect_uris),
        owner_id,
        now,
    )
    return client


async def list_clients(connection: Connection, owner_id: str) -> list[OAuthClientInfo]:
    rows = await connection.fetch("SELECT * FROM list_oauth_clients($1)", owner_id)
    return [OAuthClientInfo(row["id"], row["name"], tuple(row["redirect_uris"])) for row in rows]


async def revoke_client(connection: Connection, client_id: str, *, owner_id: str | None, now: datetime) -> None:
    """Revoke a client and all its grants."""
    if not await connection.fetchval("SELECT revoke_oauth_client($1, $2, $3)", client_id, owner_id, now):
        raise not_found()


@dataclass(frozen=True, slots=True)
class ConnectedApp:
    """A client with access to a library."""

    grant_id: str
    client_id: str
    scopes: tuple[str, ...]
    since: datetime


async def list_connections(connection: Connection, library_id: str, user_id: str) -> list[ConnectedApp]:
    rows = await connection.fetch(
        """SELECT id, client_id, scopes, created_at FROM oauth_grants
           WHERE library_id = $1 AND user_id = $2 AND revoked_at IS NULL AND code_used_at IS NOT NULL
           ORDER BY id DESC LIMIT 100""",
        library_id,
        user_id,
    )
    return [ConnectedApp(row["id"], row["client_id"], tuple(row["scopes"]), row["created_at"]) for row in rows]


async def disconnect(connection: Connection, library_id: str, grant_id: str, *, user_id: str, now: datetime) -> None:
    """Revoke one of the user's own grants and its tokens."""
    found = await connection.fetchval(
        "SELECT true FROM oauth_grants WHERE library_id = $1 AND id = $2 AND user_id = $3 AND revoked_at IS NULL",
        library_id,
        grant_id,
        user_id,
    )
    if not found:
        raise not_found()
    await revoke_grant(connection, library_id, grant_id, now=now)


async def revoke_grant(connection: Connection, library_id: str, grant_id: str, *, now: datetime) -> None:
    """Revoke a grant and all tokens issued from it, effective immediately."""
    for table, column in (("oauth_grants", "id"), ("oauth_tokens", "grant_id")):
        await connection.execute(
            f"UPDATE {table} SET revoked_at = $3 WHERE library_id = $1 AND {column} = $2 AND revoked_at IS NULL",  # noqa: S608
            library_id,
            grant_id,
            now,
        )


@dataclass(frozen=True, slots=True)
class OAuthTokenService:
    """Issues, refreshes and revokes tokens. The caller commits the transaction even if an OAuthError is raised."""

    secret_box: SecretBox

    async def issue_code(self, connection: Connection, consent: Consent, *, now: datetime) -> IssuedCode:
        """Issue a single-use code, valid for one minute; the connection is scoped to the consent's library."""
        code, grant_id = generate_credential(CODE_PREFIX), new_id()
        row = {
            "library_id": consent.library_id,
            "id": grant_id,
            "user_id": consent.user_id,
            "client_id": consent.client_id,
            "scopes": sorted(consent.scopes),
            "redirect_uri": consent.redirect_uri,
            "code_hash": self.secret_box.keyed_hash(CODE_PURPOSE, code),
            "code_challenge": consent.challenge,
            "code_expires_at": now + CODE_LIFETIME,
            "created_at": now,
        }
        await insert(connection, "oauth_grants", row)
        return IssuedCode(code, grant_id)

    async def exchange(
        self, connection: Connection, code: str, *, client_id: str, redirect_uri: str, verifier: str, now: datetime
    ) -> TokenPair:
        """Exchange a code for tokens. Reuse of a code revokes the grant."""
        row = await self.redeem(
            connection, code, client_id=client_id, redirect_uri=redirect_uri, verifier=verifier, now=now
        )
        return await self._issue(connection, row, row["scopes"], now=now)

    async def redeem(
        self, connection: Connection, code: str, *, client_id: str, redirect_uri: str, verifier: str, now: datetime
    ) -> asyncpg.Record:
        """Use up a code and return its grant; the connection is then scoped to the grant's library."""
        row = None
        if is_well_formed(code, CODE_PREFIX):
            hashed = self.secret_box.keyed_hash(CODE_PURPOSE, code)
            row = await connection.fetchrow("SELECT * FROM authenticate_code($1)", hashed)
        if row is None or row["client_id"] != client_id:
            raise OAuthError("invalid_grant", "The code is unknown.")
        if row["code_used_at"] is not None:
            revoked = await _revoke(connection, row, now=now)
            raise OAuthError("invalid_grant", "The code has already been used.", revoked)
        if row["redirect_uri"] != redirect_uri or not _matches(verifier, row["code_challenge"]):
            raise OAuthError("invalid_grant", "The code was issued for another request.")
        if row["code_expires_at"] <= now or row["revoked"] or row["role"] is None:
            raise OAuthError("invalid_grant", "The code is no longer valid.")
        await connection.execute(
            "UPDATE oauth_grants SET code_used_at = $3 WHERE library_id = $1 AND id = $2",
            row["library_id"],
            row["grant_id"],
            now,
        )
        return row

    async def refresh(
        self, connection: Connection, refresh_token: str, *, client_id: str, scope: str, now: datetime
    ) -> TokenPair:
        """Rotate a refresh token. Reuse indicates theft and revokes the grant."""
        row = await self._refresh_row(connection, refresh_token)
        if row is None or row["client_id"] != client_id:
            raise OAuthError("invalid_grant", "The refresh token is unknown.")
        if row["used_at"] is not None:
            revoked = await _revoke(connection, row, now=now)
            raise OAuthError("invalid_grant", "The refresh token has already been used.", revoked)
        if row["expires_at"] <= now or row["revoked"] or row["role"] is None:
            raise OAuthError("invalid_grant", "The refresh token is no longer valid.")
        requested = set(scope.split()) or set(row["scopes"])
        if not requested <= set(row["scopes"]):
            raise OAuthError("invalid_scope", "The requested scope exceeds the granted scope.")
        await connection.execute(
            "UPDATE oauth_refresh_tokens SET used_at = $3 WHERE library_id = $1 AND id = $2",
            row["library_id"],
            row["token_id"],
            now,
        )
        return await self._issue(connection, row, sorted(requested), now=now)

    async def revoke(self, connection: Connection, token: str, *, client_id: str, now: datetime) -> RevokedGrant | None:
        """Revoke the grant of a token of this client; other tokens are ignored silently (RFC 7009)."""
        if is_well_formed(token, TOKEN_PREFIX):
            hashed = self.secret_box.keyed_hash(CREDENTIAL_PURPOSE, token)
            token_row = await connection.fetchrow("SELECT * FROM authenticate_token($1, $2)", hashed, now)
            row = None
            if token_row is not None:
                row = await connection.fetchrow(
                    """SELECT library_id, grant_id, client_id FROM oauth_tokens
                       WHERE library_id = $1 AND id = $2 AND grant_id IS NOT NULL""",
                    token_row["library_id"],
                    token_row["credential_id"],
                )
        else:
            row = await self._refresh_row(connection, token)
        if row is None or row["client_id"] != client_id:
            return None
        return await _revoke(connection, row, now=now)

    async def _refresh_row(self, connection: Connection, refresh_token: str) -> asyncpg.Record | None:
        if not is_well_formed(refresh_token, REFRESH_PREFIX):
            return None
        hashed = self.secret_box.keyed_hash(REFRESH_PURPOSE, refresh_token)
        return await connection.fetchrow("SELECT * FROM authenticate_refresh_token($1)", hashed)

    async def _issue(
        self, connection: Connection, row: asyncpg.Record, scopes: Iterable[str], *, now: datetime
    ) -> TokenPair:
        pair = TokenPair(generate_credential(TOKEN_PREFIX), generate_credential(REFRESH_PREFIX), tuple(sorted(scopes)))
        common = {"library_id": row["library_id"], "grant_id": row["grant_id"], "created_at": now}
        access = {
            **common,
            "id": new_id(),
            "user_id": row["user_id"],
            "client_id": row["client_id"],
            "hash": self.secret_box.keyed_hash(CREDENTIAL_PURPOSE, pair.access),
            "scopes": list(pair.scopes),
            "expires_at": now + ACCESS_LIFETIME,
        }
        refresh = {
            **common,
            "id": new_id(),
            "hash": self.secret_box.keyed_hash(REFRESH_PURPOSE, pair.refresh),
            "expires_at": now + REFRESH_LIFETIME,
        }
        await insert(connection, "oauth_tokens", access)
        await insert(connection, "oauth_refresh_tokens", refresh)
        return pair


async def _revoke(connection: Connection, row: asyncpg.Record, *, now: datetime) -> RevokedGrant:
    await revoke_grant(connection, row["library_id"], row["grant_id"], now=now)
    return RevokedGrant(row["library_id"], row["grant_id"], row["client_id"])


def _matches(verifier: str, challenge: str) -> bool:
    if not _VERIFIER.fullmatch(verifier):
        return False
    expected = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    return hmac.compare_digest(expected, challenge)
