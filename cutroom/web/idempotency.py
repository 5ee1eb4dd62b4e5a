"""Stores the first response for each Idempotency-Key in the request's own transaction."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox, content_hash
from cutroom.web.error_responses import ErrorResponse

HEADER = "Idempotency-Key"
MAX_KEY_LENGTH = 255
RETENTION = timedelta(hours=24)
VERSION_PREFIX = "/v1"
REPLAYED = "cutroom.replayed"  # ASGI scope key read by RequestMiddleware
_PURPOSE = "idempotency-record"


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A request with an Idempotency-Key.

    Keys are scoped to the library and the account, not to the credential, so that a rotated API key still replays.
    """

    principal: Principal
    key: str
    path: str
    body_hash: bytes
    now: datetime

    @property
    def request_hash(self) -> bytes:
        """The hash of the body, and of the spending limit: with another one, the same body is another request."""
        limit = self.principal.spending_limit
        return content_hash(b"%s %d" % (self.body_hash, limit.millicredits)) if limit is not None else self.body_hash

    @property
    def scoped_key(self) -> str:
        return f"{self.principal.library_id} {self.principal.user_id} {self.key}"


def idempotency_key(request: Request) -> str | None:
    """Return the request's Idempotency-Key, if any; it is opaque but bounded."""
    found = request.headers.getlist(HEADER)
    if not found:
        return None
    key = found[0]
    if len(found) > 1 or not 1 <= len(key) <= MAX_KEY_LENGTH or not key.isprintable():
        raise invalid_field(HEADER, f"Send one key of 1 to {MAX_KEY_LENGTH} printable characters.")
    return key


def canonical_path(path: str) -> str:
    """Strip the version prefix and a trailing slash."""
    return path.rstrip("/").removeprefix(VERSION_PREFIX) or "/"


@dataclass(frozen=True, slots=True)
class IdempotencyStore:
    """Claims keys, and stores and replays responses."""

    secret_box: SecretBox

    async def claim(self, connection: Connection, request: IdempotentRequest) -> bool:
        """Try to claim the key for this transaction; return False if another one holds it.

        The advisory lock ends with the transaction, so a crashed process leaves neither a claim nor a response.
        """
        return bool(
            await connection.fetchval("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))", request.scoped_key)
        )

    async def replay(self, connection: Connection, request: IdempotentRequest) -> Response | None:
        """Return the stored response, if any; raise IDEMPOTENCY_REPLAY if it belongs to a different request."""
        row = await connection.fetchrow(
            """SELECT path, body_hash, status, sealed_body FROM idempotency_records
               WHERE library_id = $1 AND user_id = $2 AND key = $3 AND created_at > $4""",
            request.principal.library_id,
            request.principal.user_id,
            request.key,
            request.now - RETENTION,
        )
        if row is None:
            return None
        path_match, hash_match = row["path"] == request.path, row["body_hash"] == request.request_hash
        if not (path_match and hash_match):
            details = {"pathMatch": path_match, "hashMatch": hash_match}
            raise CutroomError(Code.IDEMPOTENCY_REPLAY, details=details)
        body = self.secret_box.unseal(_PURPOSE, row["sealed_body"], context=request.scoped_key)
        headers = {"Idempotency-Replayed": "true"}
        return Response(body, status_code=row["status"], media_type="application/json", headers=headers)

    async def save(self, connection: Connection, request: IdempotentRequest, response: Response) -> None:
        """Store a response, replacing an expired one under the same key."""
        await connection.execute(
            """INSERT INTO idempotency_records
                   (library_id, user_id, key, path, body_hash, status, sealed_body, created_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
               ON CONFLICT (library_id, user_id, key) DO UPDATE SET
                   path = excluded.path, body_hash = excluded.body_hash, status = excluded.status,
                   sealed_body = excluded.sealed_body, created_at = excluded.created_at""",
            request.principal.library_id,
            request.principal.user_id,
            request.key,
            request.path,
            request.request_hash,
            response.status_code,
            self.secret_box.seal(_PURPOSE, bytes(response.body), context=request.scoped_key),
            request.now,
        )


def is_replayable(response: Response) -> bool:
    """Authentication, permission and rate limit errors are not stored, so that the request can be retried."""
    if isinstance(response, ErrorResponse):
        return response.status_code not in {401, 403} and response.code is not Code.RATE_LIMITED
    return True
