"""Appends to the audit log of a library, reads it and verifies its hash chain."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal, PrincipalKind
from cutroom.audit.rules import (
    EMPTY,
    AuditEntry,
    ChainedEntry,
    ChainHead,
    ChainVerifier,
    KeyedHash,
    chain_hash,
    shortened,
)
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox

HASH_PURPOSE = "audit-chain"
INSTALLATION = "installation"  # whose log has what concerns no library; ids of libraries are longer
PAGE_ENTRIES = 500  # read at once by exports and verification
_COLUMNS = """library_id, sequence, at, action, actor_kind, actor_id, user_id, targets, client_address, request_id,
              details, hash"""
_FILTERED = f"""SELECT {_COLUMNS} FROM audit_entries
    WHERE library_id = $1 AND ($2::text IS NULL OR action = $2)
      AND ($3::text IS NULL OR actor_id = $3 OR user_id = $3)
      AND ($4::timestamptz IS NULL OR at >= $4) AND ($5::timestamptz IS NULL OR at < $5)"""  # noqa: S608 (fixed columns)


@dataclass(frozen=True, slots=True)
class AuditActor:
    """Who did something."""

    kind: PrincipalKind
    id: str  # of the key, token, session or review link; of the command for the system
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """Where a request came from."""

    client_address: str | None = None
    request_id: str | None = None


@dataclass(slots=True)
class SettingChanges:
    """What a handler reports about its change, for the entry that is appended after it."""

    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """An action to append."""

    library_id: str
    action: str
    actor: AuditActor
    at: datetime
    origin: RequestOrigin = RequestOrigin()
    targets: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None

    @property
    def details(self) -> dict[str, Any]:
        changes = {"before": self.before, "after": self.after}
        return {name: shortened(value) for name, value in changes.items() if value is not None}


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries to read; `actor` matches the id of a credential or of a user."""

    action: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def actor_of(principal: Principal) -> AuditActor:
    return AuditActor(principal.kind, principal.id, principal.author_id)


def keyed_hash_of(secret_box: SecretBox) -> KeyedHash:
    return lambda text: secret_box.keyed_hash(HASH_PURPOSE, text)


async def append(connection: Connection, event: AuditEvent, *, secret_box: SecretBox) -> int:
    """Appends an entry in the caller's transaction; returns its sequence number.

    The head stays locked until the transaction ends, so this comes last in it.
    """
    head = await _lock_head(connection, event.library_id)
    entry = AuditEntry(
        library_id=event.library_id,
        sequence=head.sequence + 1,
        at=event.at,
        action=event.action,
        actor_kind=event.actor.kind.value,
        actor_id=event.actor.id,
        user_id=event.actor.user_id,
        targets=shortened(event.targets),
        client_address=event.origin.client_address,
        request_id=event.origin.request_id,
        details=event.details,
    )
    await connection.execute(
        f"""WITH entry AS (INSERT INTO audit_entries ({_COLUMNS})
                           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12))
            UPDATE audit_heads SET sequence = $2, hash = $12 WHERE library_id = $1""",  # noqa: S608 (fixed columns)
        entry.library_id,
        entry.sequence,
        entry.at,
        entry.action,
        entry.actor_kind,
        entry.actor_id,
        entry.user_id,
        entry.targets,
        entry.client_address,
        entry.request_id,
        entry.details,
        chain_hash(keyed_hash_of(secret_box), head.hash, entry),
    )
    return entry.sequence


async def _lock_head(connection: Connection, library_id: str) -> ChainHead:
    sql = "SELECT sequence, hash FROM audit_heads WHERE library_id = $1 FOR UPDATE"
    row = await connection.fetchrow(sql, library_id)
    if row is None:  # the library's first entry
        await connection.execute(
            "INSERT INTO audit_heads (library_id, sequence, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            library_id,
            EMPTY.sequence,
            EMPTY.hash,
        )
        row = await connection.fetchrow(sql, library_id)
    assert row is not None
    return ChainHead(row["sequence"], row["hash"])


async def read_head(connection: Connection, library_id: str) -> ChainHead:
    row = await connection.fetchrow("SELECT sequence, hash FROM audit_heads WHERE library_id = $1", library_id)
    return EMPTY if row is None else ChainHead(row["sequence"], row["hash"])


async def list_entries(
    connection: Connection, library_id: str, wanted: AuditFilter, *, before: int | None, limit: int
) -> tuple[list[ChainedEntry], bool]:
    """A page of entries, newest first, and whether there are more."""
    rows = await connection.fetch(
        f"{_FILTERED} AND ($6::bigint IS NULL OR sequence < $6) ORDER BY sequence DESC LIMIT $7",
        library_id,
        wanted.action,
        wanted.actor,
        wanted.since,
        wanted.until,
        before,
        limit + 1,
    )
    return [_chained(row) for row in rows[:limit]], len(rows) > limit


async def list_entries_after(
    connection: Connection, library_id: str, wanted: AuditFilter, *, after: int, up_to: int
) -> list[ChainedEntry]:
    """The next PAGE_ENTRIES entries, oldest first, for exports."""
    rows = await connection.fetch(
        f"{_FILTERED} AND sequence > $6 AND sequence <= $7 ORDER BY sequence LIMIT $8",
        library_id,
        wanted.action,
        wanted.actor,
        wanted.since,
        wanted.until,
        after,
        up_to,
        PAGE_ENTRIES,
    )
    return [_chained(row) for row in rows]


async def list_actions(connection: Connection, library_id: str) -> list[str]:
    """The actions that occur in a log, found with one index lookup each."""
    rows = await connection.fetch(
        """WITH RECURSIVE found AS (
             (SELECT action FROM audit_entries WHERE library_id = $1 ORDER BY action LIMIT 1)
             UNION ALL
             SELECT (SELECT action FROM audit_entries WHERE library_id = $1 AND action > found.action
                     ORDER BY action LIMIT 1)
             FROM found WHERE found.action IS NOT NULL)
           SELECT action FROM found WHERE action IS NOT NULL""",
        library_id,
    )
    return [row["action"] for row in rows]


async def logged_libraries(connection: Connection) -> list[str]:
    """Every library with a log; requires the schema owner."""
    rows = await connection.fetch(
        "SELECT library_id FROM audit_heads UNION SELECT library_id FROM audit_entries ORDER BY library_id"
    )
    return [row["library_id"] for row in rows]


async def verify(
    connection: Connection, library_id: str, *, secret_box: SecretBox, expected: ChainHead | None = None
) -> ChainVerifier:
    """Verifies the whole log of a library; run in one repeatable-read transaction, or while nothing is appended."""
    verifier = ChainVerifier(keyed_hash_of(secret_box), expected)
    head = await read_head(connection, library_id)
    async for chained in _all_entries(connection, library_id):
        verifier.check(chained)
    verifier.finish(head)
    return verifier


async def _all_entries(connection: Connection, library_id: str) -> AsyncIterator[ChainedEntry]:
    after: int | None = None
    while True:
        rows = await connection.fetch(
            f"""SELECT {_COLUMNS} FROM audit_entries
                WHERE library_id = $1 AND ($2::bigint IS NULL OR sequence > $2)
                ORDER BY sequence LIMIT $3""",  # noqa: S608 (fixed columns)
            library_id,
            after,
            PAGE_ENTRIES,
        )
        for row in rows:
            yield _chained(row)
        if len(rows) < PAGE_ENTRIES:
            return
        after = rows[-1]["sequence"]


def _chained(row: asyncpg.Record) -> ChainedEntry:
    fields = dict(row)
    stored = fields.pop("hash")
    return ChainedEntry(AuditEntry(**fields), stored)
