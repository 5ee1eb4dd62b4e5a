"""Replay: the first answer to an Idempotency-Key is kept with the work it speaks of, in one transaction."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox
from cutroom.web.error_responses import Problem

HEADER = "Idempotency-Key"
MAX_KEY_LENGTH = 255
RETENTION = timedelta(hours=24)
VERSION_PREFIX = "/v1"
REPLAYED = "cutroom.replayed"  # where the edge sees that an answer is not a new one
_PURPOSE = "retained-answer"


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A request that asked to be answered once."""

    principal: Principal
    key: str
    path: str
    body_hash: bytes
    now: datetime


def key_of(request: Request) -> str | None:
    """The caller's key, when there is one; it stays opaque, but not boundless."""
    found = request.headers.getlist(HEADER)
    if not found:
        return None
    key = found[0]
    if len(found) > 1 or not 1 <= len(key) <= MAX_KEY_LENGTH or not key.isprintable():
        raise invalid_field(HEADER, f"Send one key of 1 to {MAX_KEY_LENGTH} printable characters.")
    return key


def canonical_path(path: str) -> str:
    """One spelling per path: without the version prefix, without a trailing slash."""
    return path.rstrip("/").removeprefix(VERSION_PREFIX) or "/"


@dataclass(frozen=True, slots=True)
class IdempotencyStore:
    """Claims keys, recalls answers and retains them."""

    secrecy: SecretBox

    async def claim(self, connection: Connection, asked: IdempotentRequest) -> bool:
        """Whether this transaction is now the only one working on the key.

        The lock goes with the transaction: a process that dies leaves neither a claim nor an answer.
        """
        return bool(
            await connection.fetchval(
                "SELECT pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))",
                asked.principal.id,
                asked.key,
            )
        )

    async def recall(self, connection: Connection, asked: IdempotentRequest) -> Response | None:
        """The retained answer; a different request under the same key is a conflict."""
        row = await connection.fetchrow(
            """SELECT path, body_hash, status, sealed_body FROM idempotency_records
               WHERE principal_id = $1 AND key = $2 AND library_id = $3 AND created_at > $4""",
            asked.principal.id,
            asked.key,
            asked.principal.library_id,
            asked.now - RETENTION,
        )
        if row is None:
            return None
        path_match, hash_match = row["path"] == asked.path, row["body_hash"] == asked.body_hash
        if not (path_match and hash_match):
            details = {"pathMatch": path_match, "hashMatch": hash_match}
            raise CutroomError(Code.IDEMPOTENCY_REPLAY, details=details)
        body = self.secrecy.unseal(_PURPOSE, row["sealed_body"], context=_context(asked))
        headers = {"Idempotency-Replayed": "true"}
        return Response(body, status_code=row["status"], media_type="application/json", headers=headers)

    async def retain(self, connection: Connection, asked: IdempotentRequest, response: Response) -> None:
        """Keep an answer; one that has expired under the same key is replaced."""
        await connection.execute(
            """INSERT INTO idempotency_records
                   (principal_id, key, library_id, path, body_hash, status, sealed_body, created_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
               ON CONFLICT (principal_id, key) DO UPDATE SET
                   path = excluded.path, body_hash = excluded.body_hash, status = excluded.status,
                   sealed_body = excluded.sealed_body, created_at = excluded.created_at""",
            asked.principal.id,
            asked.key,
            asked.principal.library_id,
            asked.path,
            asked.body_hash,
            response.status_code,
            self.secrecy.seal(_PURPOSE, bytes(response.body), context=_context(asked)),
            asked.now,
        )


def is_retained(response: Response) -> bool:
    """Refusals of identity, permission and rate are not answers to the request, so they are not kept."""
    if isinstance(response, Problem):
        return response.status_code not in {401, 403} and response.code is not Code.RATE_LIMITED
    return True


def _context(asked: IdempotentRequest) -> str:
    return f"{asked.principal.id} {asked.key}"
