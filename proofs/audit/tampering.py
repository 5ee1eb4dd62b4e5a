"""Manipulates a log as the database owner in many ways, and verifies it after each."""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from cutroom.audit import service
from cutroom.audit.rules import ChainHead, canonical, chain_hash
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox
from dev.scratch import Accounts

CONCURRENT = 8
# A changed value for every column that an entry has, besides its key.
CHANGES = {
    "at": "at + interval '1 microsecond'",
    "action": "action || 'x'",
    "actor_kind": "CASE actor_kind WHEN 'key' THEN 'system' ELSE 'key' END",
    "actor_id": "reverse(actor_id) || 'x'",
    "user_id": "CASE WHEN user_id IS NULL THEN 'x' END",
    "targets": 'targets || \'{"id": "other"}\'',
    "client_address": "'10.0.0.1'",
    "request_id": "NULL",
    "details": "'{}'",
    "hash": "sha256(hash)",
}
Statement = tuple[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Manipulation:
    """Statements that change a log, and whether a reader must have kept its head to notice."""

    name: str
    statements: Sequence[Statement]
    needs_kept_head: bool = False


@dataclass
class TamperResult:
    """How many manipulations were found."""

    attempts: int = 0
    detected: int = 0
    undetected: list[str] = field(default_factory=list)


async def prove_tampering(
    client: httpx.AsyncClient, accounts: Accounts, secret_box: SecretBox, *, entries: int
) -> TamperResult:
    person, connection = await accounts.person(), accounts.connection
    headers = (await accounts.key(person)).headers
    for start in range(0, entries, CONCURRENT):
        names = range(start, min(entries, start + CONCURRENT))
        requests = (client.post("/v1/folders", json={"name": f"Folder {name}"}, headers=headers) for name in names)
        for response in await asyncio.gather(*requests):
            response.raise_for_status()
    library_id, result = person.library_id, TamperResult()
    kept = await service.read_head(connection, library_id)
    untouched = await service.verify(connection, library_id, secret_box=secret_box, expected=kept)
    if kept.sequence != entries or untouched.faults:
        result.undetected.append(f"the untouched log has {kept.sequence} entries and {untouched.faults}")
    for manipulation in [
        *_single_entries(library_id, entries),
        *_several_entries(library_id, entries),
        *await _forged(connection, library_id, kept),
    ]:
        result.attempts += 1
        expected = kept if manipulation.needs_kept_head else None
        if await _is_found(connection, library_id, manipulation, secret_box=secret_box, expected=expected):
            result.detected += 1
        else:
            result.undetected.append(f"not found: {manipulation.name}")
    return result


async def _is_found(
    connection: Connection,
    library_id: str,
    manipulation: Manipulation,
    *,
    secret_box: SecretBox,
    expected: ChainHead | None,
) -> bool:
    """Applies a manipulation, verifies the log, and rolls back."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute("ALTER TABLE audit_entries DISABLE TRIGGER USER")
        for sql, arguments in manipulation.statements:
            if (await connection.execute(sql, *arguments)).endswith(" 0"):
                return False  # nothing was changed
        verified = await service.verify(connection, library_id, secret_box=secret_box, expected=expected)
        return verified.fault_count > 0
    finally:
        await transaction.rollback()


def _single_entries(library_id: str, entries: int) -> Iterator[Manipulation]:
    for sequence in range(1, entries + 1):
        place: list[Any] = [library_id, sequence]
        for column, value in CHANGES.items():
            sql = f"UPDATE audit_entries SET {column} = {value} WHERE library_id = $1 AND sequence = $2"  # noqa: S608
            yield Manipulation(f"change {column} of {sequence}", [(sql, place)])
        delete = "DELETE FROM audit_entries WHERE library_id = $1 AND sequence = $2"
        yield Manipulation(f"delete {sequence}", [(delete, place)])
        close_gap = "UPDATE audit_entries SET sequence = sequence - 1 WHERE library_id = $1 AND sequence = $2"
        later: list[Statement] = [(close_gap, [library_id, number]) for number in range(sequence + 1, entries + 1)]
        head = "UPDATE audit_heads SET sequence = sequence - 1 WHERE library_id = $1"
        yield Manipulation(f"delete {sequence} and renumber the rest", [(delete, place), *later, (head, [library_id])])
        move = "UPDATE audit_entries SET library_id = 'other' WHERE library_id = $1 AND sequence = $2"
        yield Manipulation(f"move {sequence} to another library", [(move, place)])


def _several_entries(library_id: str, entries: int) -> Iterator[Manipulation]:
    renumber = "UPDATE audit_entries SET sequence = $3 WHERE library_id = $1 AND sequence = $2"
    for first in range(1, entries):
        swap: list[Statement] = [
            (renumber, [library_id, first, entries + 10]),
            (renumber, [library_id, first + 1, first]),
            (renumber, [library_id, entries + 10, first + 1]),
        ]
        yield Manipulation(f"swap {first} and {first + 1}", swap)
        delete = "DELETE FROM audit_entries WHERE library_id = $1 AND sequence > $2"
        truncate: Statement = (delete, [library_id, first])
        yield Manipulation(f"truncate after {first}", [truncate])
        turn_back = """UPDATE audit_heads h SET sequence = e.sequence, hash = e.hash FROM audit_entries e
                       WHERE h.library_id = $1 AND e.library_id = $1 AND e.sequence = $2"""
        yield Manipulation(
            f"truncate after {first} and turn the head back",
            [truncate, (turn_back, [library_id, first])],
            needs_kept_head=True,
        )
    everything: list[Statement] = [
        ("DELETE FROM audit_entries WHERE library_id = $1", [library_id]),
        ("DELETE FROM audit_heads WHERE library_id = $1", [library_id]),
    ]
    yield Manipulation("delete the entries", everything[:1])
    yield Manipulation("delete the head", everything[1:])
    yield Manipulation("delete the whole log", everything, needs_kept_head=True)
    set_head = "UPDATE audit_heads SET sequence = sequence + 1 WHERE library_id = $1"
    yield Manipulation("move the head", [(set_head, [library_id])])
    change_head = "UPDATE audit_heads SET hash = sha256(hash) WHERE library_id = $1"
    yield Manipulation("change the head", [(change_head, [library_id])])


async def _forged(connection: Connection, library_id: str, kept: ChainHead) -> list[Manipulation]:
    """Entries made without the server's key: a copy, a plain hash, and a chain with another key."""
    columns = "library_id, at, action, actor_kind, actor_id, user_id, targets, client_address, request_id, details"
    insert = f"""INSERT INTO audit_entries (sequence, hash, {columns})
                 SELECT $2, $3, {columns} FROM audit_entries WHERE library_id = $1 AND sequence = $4"""  # noqa: S608
    advance = "UPDATE audit_heads SET sequence = $2, hash = $3 WHERE library_id = $1"
    last, _ = await service.list_entries(connection, library_id, service.AuditFilter(), before=None, limit=1)
    plain = hashlib.sha256(kept.hash + canonical(last[0].entry).encode()).digest()
    other_box = SecretBox("another secret key of sufficient length")
    other = chain_hash(service.keyed_hash_of(other_box), kept.hash, last[0].entry)
    made = []
    for name, forged in (("a copied hash", kept.hash), ("a plain hash", plain), ("another key's hash", other)):
        appended: list[Statement] = [
            (insert, [library_id, kept.sequence + 1, forged, kept.sequence]),
            (advance, [library_id, kept.sequence + 1, forged]),
        ]
        made.append(Manipulation(f"append a copy with {name}", appended))
        made.append(Manipulation(f"append a copy with {name}, without the head", appended[:1]))
    return made
