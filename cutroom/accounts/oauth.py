"""OAuth: clients, consent, and tokens that are exchanged, renewed and revoked (RFC 6749, 7009, 7636, 9700)."""

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

from cutroom.accounts.keys import TOKEN_PREFIX, is_well_formed, mint_credential
from cutroom.accounts.principals import CREDENTIAL_PURPOSE
from cutroom.accounts.scopes import SPEECH_SCOPES, Scope
from cutroom.accounts.sessions import clean_name
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
GRANTABLE = frozenset(SPEECH_SCOPES)  # tokens open the speech API, and nothing else
_VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}")
_CHALLENGE = re.compile(r"[A-Za-z0-9\-_]{43}")


class OAuthError(Exception):
    """An answer other than tokens, in the words of RFC 6749."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = description


@dataclass(frozen=True, slots=True)
class OAuthClientInfo:
    """A program that people may connect."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consent:
    """What a person agreed to."""

    client_id: str
    user_id: str
    library_id: str
    scopes: frozenset[Scope]
    redirect_uri: str
    challenge: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """A pair at birth: the only moment its secrets are known."""

    access: str
    refresh: str
    scopes: tuple[str, ...]


def fault_in_redirect(uri: str) -> str | None:
    """Codes go to TLS, or to a program on the person's own machine."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
    except ValueError:
        return "This is not an address."
    if len(uri) > MAX_URI or not uri.isascii() or not uri.isprintable() or " " in uri or "\\" in uri:
        return f"An address is at most {MAX_URI} plain characters."
    if parts.fragment or "#" in uri or parts.username is not None or not host:
        return "An address has a host, and neither a fragment nor a name and password."
    if parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)):
        return None
    return "Use https, or http on the local machine."


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_challenge(text: str) -> bool:
    return _CHALLENGE.fullmatch(text) is not None


def read_scopes(text: str) -> frozenset[Scope]:
    """What a client asks for; nothing named means all that can be granted."""
    asked = frozenset(text.split())
    if not asked <= GRANTABLE:
        raise OAuthError("invalid_scope", "Only the speech scopes can be granted.")
    return frozenset(Scope(each) for each in asked) or frozenset(GRANTABLE)


async def find_client(connection: Connection, client_id: str) -> OAuthClientInfo | None:
    row = await connection.fetchrow("SELECT * FROM oauth_client($1)", client_id)
    return None if row is None else OAuthClientInfo(row["id"], row["name"], tuple(row["redirect_uris"]))


async def register_client(
    connection: Connection, name: str, redirect_uris: Sequence[str], *, owner_id: str | None, now: datetime
) -> OAuthClientInfo:
    """A new client; whoever owns it may take it away again."""
    uris = list(dict.fromkeys(uri.strip() for uri in redirect_uris if uri.strip()))
    if not 1 <= len(uris) <= MAX_REDIRECTS:
        raise invalid_field("redirectUris", f"Give 1 to {MAX_REDIRECTS} addresses.")
    for uri in uris:
        if fault := fault_in_redirect(uri):
            raise invalid_field("redirectUris", f"{uri}: {fault}")
    made = OAuthClientInfo(new_id(), clean_name(name), tuple(uris))
    await connection.execute(
        "SELECT put_oauth_client($1, $2, $3, $4, $5)", made.id, made.name, list(made.redirect_uris), owner_id, now
    )
    return made


async def clients_of(connection: Connection, owner_id: str) -> list[OAuthClientInfo]:
    rows = await connection.fetch("SELECT * FROM oauth_clients_of($1)", owner_id)
    return [OAuthClientInfo(row["id"], row["name"], tuple(row["redirect_uris"])) for row in rows]


async def revoke_client(connection: Connection, client_id: str, *, owner_id: str | None, now: datetime) -> None:
    """Take a client away, and with it all that people granted it."""
    if not await connection.fetchval("SELECT revoke_oauth_client($1, $2, $3)", client_id, owner_id, now):
        raise not_found()


@dataclass(frozen=True, slots=True)
class Connected:
    """A client that a person let into a library."""

    grant_id: str
    client_id: str
    scopes: tuple[str, ...]
    since: datetime


async def connections_of(connection: Connection, library_id: str, user_id: str) -> list[Connected]:
    rows = await connection.fetch(
        """SELECT id, client_id, scopes, created_at FROM oauth_grants
           WHERE library_id = $1 AND user_id = $2 AND revoked_at IS NULL AND code_used_at IS NOT NULL
           ORDER BY id DESC LIMIT 100""",
        library_id,
        user_id,
    )
    return [Connected(row["id"], row["client_id"], tuple(row["scopes"]), row["created_at"]) for row in rows]


async def disconnect(connection: Connection, library_id: str, grant_id: str, *, user_id: str, now: datetime) -> None:
    """End one consent of one's own, and every token that grew from it."""
    found = await connection.fetchval(
        "SELECT true FROM oauth_grants WHERE library_id = $1 AND id = $2 AND user_id = $3 AND revoked_at IS NULL",
        library_id,
        grant_id,
        user_id,
    )
    if not found:
        raise not_found()
    await end_family(connection, library_id, grant_id, now=now)


async def end_family(connection: Connection, library_id: str, grant_id: str, *, now: datetime) -> None:
    """From the next request on, nothing that grew from this consent opens anything."""
    for table, column in (("oauth_grants", "id"), ("oauth_tokens", "grant_id")):
        await connection.execute(
            f"UPDATE {table} SET revoked_at = $3 WHERE library_id = $1 AND {column} = $2 AND revoked_at IS NULL",  # noqa: S608
            library_id,
            grant_id,
            now,
        )


@dataclass(frozen=True, slots=True)
class Granter:
    """Issues codes and tokens. Each call runs in a transaction that its caller commits, whatever the answer is."""

    secrecy: SecretBox

    async def issue_code(self, connection: Connection, consent: Consent, *, now: datetime) -> str:
        """A code for one exchange within a minute; the connection is inside the consent's library."""
        code = mint_credential(CODE_PREFIX)
        row = {
            "library_id": consent.library_id,
            "id": new_id(),
            "user_id": consent.user_id,
            "client_id": consent.client_id,
            "scopes": sorted(consent.scopes),
            "redirect_uri": consent.redirect_uri,
            "code_hash": self.secrecy.keyed_hash(CODE_PURPOSE, code),
            "code_challenge": consent.challenge,
            "code_expires_at": now + CODE_LIFETIME,
            "created_at": now,
        }
        await insert(connection, "oauth_grants", row)
        return code

    async def exchange(
        self, connection: Connection, code: str, *, client_id: str, redirect_uri: str, verifier: str, now: datetime
    ) -> Tokens:
        """The first tokens of a family. A code that comes twice ends what its first use began."""
        row = None
        if is_well_formed(code, CODE_PREFIX):
            hashed = self.secrecy.keyed_hash(CODE_PURPOSE, code)
            row = await connection.fetchrow("SELECT * FROM enter_with_code($1)", hashed)
        if row is None or row["client_id"] != client_id:
            raise OAuthError("invalid_grant", "The code is not known.")
        if row["code_used_at"] is not None:
            await end_family(connection, row["library_id"], row["grant_id"], now=now)
            raise OAuthError("invalid_grant", "The code has been used.")
        if row["redirect_uri"] != redirect_uri or not _matches(verifier, row["code_challenge"]):
            raise OAuthError("invalid_grant", "The code belongs to another request.")
        if row["code_expires_at"] <= now or row["revoked"] or row["role"] is None:
            raise OAuthError("invalid_grant", "The code is not valid any more.")
        await connection.execute(
            "UPDATE oauth_grants SET code_used_at = $3 WHERE library_id = $1 AND id = $2",
            row["library_id"],
            row["grant_id"],
            now,
        )
        return await self._issue(connection, row, row["scopes"], now=now)

    async def renew(self, connection: Connection, refresh: str, *, client_id: str, scope: str, now: datetime) -> Tokens:
        """The next pair of a family. A refresh token that comes twice was stolen, so its family ends."""
        row = await self._refresh_row(connection, refresh)
        if row is None or row["client_id"] != client_id:
            raise OAuthError("invalid_grant", "The refresh token is not known.")
        if row["used_at"] is not None:
            await end_family(connection, row["library_id"], row["grant_id"], now=now)
            raise OAuthError("invalid_grant", "The refresh token has been used.")
        if row["expires_at"] <= now or row["revoked"] or row["role"] is None:
            raise OAuthError("invalid_grant", "The refresh token is not valid any more.")
        wanted = set(scope.split()) or set(row["scopes"])
        if not wanted <= set(row["scopes"]):
            raise OAuthError("invalid_scope", "A token cannot grow beyond what was granted.")
        await connection.execute(
            "UPDATE oauth_refresh_tokens SET used_at = $3 WHERE library_id = $1 AND id = $2",
            row["library_id"],
            row["token_id"],
            now,
        )
        return await self._issue(connection, row, sorted(wanted), now=now)

    async def revoke(self, connection: Connection, token: str, *, client_id: str, now: datetime) -> None:
        """End the family of a token of this client; of any other token nothing is said."""
        if is_well_formed(token, TOKEN_PREFIX):
            hashed = self.secrecy.keyed_hash(CREDENTIAL_PURPOSE, token)
            entered = await connection.fetchrow("SELECT * FROM enter_with_token($1, $2)", hashed, now)
            row = None
            if entered is not None:
                row = await connection.fetchrow(
                    """SELECT library_id, grant_id, client_id FROM oauth_tokens
                       WHERE library_id = $1 AND id = $2 AND grant_id IS NOT NULL""",
                    entered["library_id"],
                    entered["credential_id"],
                )
        else:
            row = await self._refresh_row(connection, token)
        if row is not None and row["client_id"] == client_id:
            await end_family(connection, row["library_id"], row["grant_id"], now=now)

    async def _refresh_row(self, connection: Connection, refresh: str) -> asyncpg.Record | None:
        if not is_well_formed(refresh, REFRESH_PREFIX):
            return None
        hashed = self.secrecy.keyed_hash(REFRESH_PURPOSE, refresh)
        return await connection.fetchrow("SELECT * FROM enter_with_refresh($1)", hashed)

    async def _issue(
        self, connection: Connection, row: asyncpg.Record, scopes: Iterable[str], *, now: datetime
    ) -> Tokens:
        made = Tokens(mint_credential(TOKEN_PREFIX), mint_credential(REFRESH_PREFIX), tuple(sorted(scopes)))
        here = {"library_id": row["library_id"], "grant_id": row["grant_id"], "created_at": now}
        access = {
            **here,
            "id": new_id(),
            "user_id": row["user_id"],
            "client_id": row["client_id"],
            "hash": self.secrecy.keyed_hash(CREDENTIAL_PURPOSE, made.access),
            "scopes": list(made.scopes),
            "expires_at": now + ACCESS_LIFETIME,
        }
        refresh = {
            **here,
            "id": new_id(),
            "hash": self.secrecy.keyed_hash(REFRESH_PURPOSE, made.refresh),
            "expires_at": now + REFRESH_LIFETIME,
        }
        await insert(connection, "oauth_tokens", access)
        await insert(connection, "oauth_refresh_tokens", refresh)
        return made


def _matches(verifier: str, challenge: str) -> bool:
    if not _VERIFIER.fullmatch(verifier):
        return False
    made = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    return hmac.compare_digest(made, challenge)
