"""The hash chain of an audit log: canonical entries, their hashes, and what breaks a chain."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

GENESIS = bytes(32)  # the hash before the first entry
HASH_BYTES = 32
MAX_FAULTS = 100  # reported for one library; all are counted
MAX_TEXT = 500  # characters of a recorded value
MAX_IDS = 100
_UNTARGETED = frozenset({"accessKeyId", "workspaceId", "libraryId", "parentId"})
_HEAD = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")

KeyedHash = Callable[[str], bytes]  # an HMAC with the server's key


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One recorded action, without its hash."""

    library_id: str
    sequence: int
    at: datetime
    action: str
    actor_kind: str
    actor_id: str
    user_id: str | None
    targets: Mapping[str, Any]
    client_address: str | None
    request_id: str | None
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChainedEntry:
    """An entry with its stored hash."""

    entry: AuditEntry
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The last sequence number of a log and its hash; (0, GENESIS) for an empty log."""

    sequence: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash.hex()}"


EMPTY = ChainHead(0, GENESIS)


def parse_head(text: str) -> ChainHead:
    """Parses `SEQUENCE:HASH`, as the API and the commands show it."""
    found = _HEAD.fullmatch(text.strip())
    if found is None:
        raise ValueError("A head is SEQUENCE:HASH, with the hash as 64 hexadecimal digits.")
    return ChainHead(int(found[1]), bytes.fromhex(found[2]))


def canonical(entry: AuditEntry) -> str:
    """The entry as JSON with sorted keys, the same before it is stored and after it is read."""
    fields = {
        "action": entry.action,
        "actorId": entry.actor_id,
        "actorKind": entry.actor_kind,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "clientAddress": entry.client_address,
        "details": entry.details,
        "libraryId": entry.library_id,
        "requestId": entry.request_id,
        "sequence": entry.sequence,
        "targets": entry.targets,
        "userId": entry.user_id,
    }
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)


def chain_hash(keyed_hash: KeyedHash, previous: bytes, entry: AuditEntry) -> bytes:
    """The hash of an entry, which covers the hash before it and so every earlier entry."""
    return keyed_hash(f"{previous.hex()}\n{canonical(entry)}")


@dataclass(frozen=True, slots=True)
class ChainFault:
    """A place where a log does not match its hashes."""

    sequence: int
    problem: str


@dataclass(slots=True)
class ChainVerifier:
    """Checks a log entry by entry, in the order of their sequence numbers."""

    keyed_hash: KeyedHash
    expected: ChainHead | None = None  # a head that was noted earlier
    last: ChainHead = EMPTY
    fault_count: int = 0
    faults: list[ChainFault] = field(default_factory=list)

    def check(self, chained: ChainedEntry) -> None:
        """Checks the next entry. One fault is one report: later entries are checked against the stored hash."""
        entry, expected = chained.entry, self.expected
        if entry.sequence != self.last.sequence + 1:
            self._report(self.last.sequence + 1, f"entries are missing before {entry.sequence}")
        elif chain_hash(self.keyed_hash, self.last.hash, entry) != chained.hash:
            self._report(entry.sequence, "the entry does not match its hash")
        if expected is not None and entry.sequence == expected.sequence and chained.hash != expected.hash:
            self._report(entry.sequence, "the hash differs from the expected head")
        self.last = ChainHead(entry.sequence, chained.hash)

    def finish(self, head: ChainHead) -> None:
        """Compares the end of the log with its head row and with the expected head."""
        if head != self.last:
            self._report(self.last.sequence, f"the log ends at {self.last.sequence}, its head at {head.sequence}")
        if self.expected is not None and self.expected.sequence > self.last.sequence:
            self._report(
                self.last.sequence + 1, f"entries up to the expected head {self.expected.sequence} are missing"
            )

    def _report(self, sequence: int, problem: str) -> None:
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(ChainFault(sequence, problem))


def target_ids(document: Mapping[str, Any]) -> dict[str, Any]:
    """The ids in a path or response body, by their camelCase name; `jobs` becomes `jobIds`."""
    targets: dict[str, Any] = {}
    for name, value in document.items():
        camel = re.sub(r"_([a-z])", lambda match: match[1].upper(), name)
        if isinstance(value, str) and (camel == "id" or camel.endswith("Id")) and camel not in _UNTARGETED:
            targets[camel] = value[:MAX_TEXT]
    jobs = document.get("jobs")
    if isinstance(jobs, list):
        ids = [job["id"] for job in jobs if isinstance(job, dict) and isinstance(job.get("id"), str)]
        if ids:
            targets["jobIds"] = ids[:MAX_IDS]
    return targets


def shortened(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """A setting with its long texts and lists cut, so that entries stay small."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 1] + "…"
    if isinstance(value, Mapping):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [shortened(each) for each in list(value)[:MAX_IDS]]
    return value


def recordable_url(url: str) -> str:
    """The URL without credentials, query and fragment, which often carry secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
