"""A log of revocations outside the database: one signed file each, applied by a restore.

It is written in the transaction of the revocation. If the object store is unavailable, the revocation is made without
an entry: ending access matters more than a later restore.
"""

import asyncio
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum

from cutroom.audit.service import AuditEvent
from cutroom.platform.ids import is_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.retention.erasure.log import InvalidLogError, LogFiles, log_files
from cutroom.retention.erasure.rules import canonical

PURPOSE = "revocation-log"
SUFFIX = ".json"
WRITE_SECONDS = 5.0
MAX_CONCURRENCY = 16
_log = logging.getLogger(__name__)


class RevokedKind(StrEnum):
    """What has ended, or come back."""

    KEY = "key"
    GRANT = "grant"
    MEMBER = "member"
    SUSPENSION = "suspension"
    RESUMPTION = "resumption"


@dataclass(frozen=True, slots=True)
class Revocation:
    """One entry. `id` is that of a key, a grant or a user; suspensions have none."""

    kind: RevokedKind
    library_id: str
    id: str
    at: str  # ISO 8601, with the offset of UTC

    @property
    def subject(self) -> str:
        """What later entries replace: a resumption ends a suspension."""
        kind = RevokedKind.SUSPENSION if self.kind is RevokedKind.RESUMPTION else self.kind
        return f"{kind}.{self.library_id}.{self.id}"


def revocations_of(event: AuditEvent) -> Iterator[Revocation]:
    """What an audited action revokes."""
    targets, after = event.targets, event.after or {}
    found: list[tuple[RevokedKind, str]] = []
    match event.action:
        case "key.revoke":
            found.append((RevokedKind.KEY, targets["keyId"]))
        case "oauth.revoke":
            found.append((RevokedKind.GRANT, targets["grantId"]))
        case "member.remove":
            found.append((RevokedKind.MEMBER, targets["userId"]))
            found += [(RevokedKind.KEY, key_id) for key_id in after.get("keyIds", ())]
            found += [(RevokedKind.GRANT, grant_id) for grant_id in after.get("grantIds", ())]
        case "library.suspend":
            found.append((RevokedKind.SUSPENSION, ""))
        case "library.resume":
            found.append((RevokedKind.RESUMPTION, ""))
    at = event.at.isoformat()
    yield from (Revocation(kind, event.library_id, revoked, at) for kind, revoked in found)


@dataclass(frozen=True, slots=True)
class RevocationLog:
    """Entries are signed, so that a restore revokes nothing that Cutroom did not revoke."""

    files: LogFiles
    secret_box: SecretBox

    @classmethod
    def of(cls, settings: Settings, location: str | None = None) -> "RevocationLog":
        files = log_files(settings, location or settings.revocation_log)
        return cls(files, SecretBox(settings.secret_key.get_secret_value()))

    async def append(self, revocation: Revocation) -> None:
        entry = asdict(revocation)
        document = {"entry": entry, "signature": self.secret_box.sign(PURPOSE, canonical(entry)).hex()}
        await self.files.write(f"{revocation.subject}{SUFFIX}", json.dumps(document).encode())

    async def entries(self) -> list[Revocation]:
        """All entries; raises InvalidLogError if one was not written with this secret key."""
        semaphore = asyncio.Semaphore(MAX_CONCURRENCY)

        async def read(name: str) -> Revocation:
            async with semaphore:
                return self._parse(name, await self.files.read(name) or b"")

        names = [name for name in await self.files.names() if name.endswith(SUFFIX)]
        return list(await asyncio.gather(*(read(name) for name in names)))

    def _parse(self, name: str, content: bytes) -> Revocation:
        try:
            document = json.loads(content)
            entry, signature = document["entry"], bytes.fromhex(document["signature"])
            found = Revocation(**{**entry, "kind": RevokedKind(entry["kind"])})
            datetime.fromisoformat(found.at)
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidLogError(f"the revocation log entry {name} cannot be read") from error
        if not self.secret_box.is_signed(PURPOSE, canonical(entry), signature):
            raise InvalidLogError(f"the revocation log entry {name} was not signed with this secret key")
        if not all(is_id(each) for each in (found.library_id, found.id) if each):
            raise InvalidLogError(f"the revocation log entry {name} names something that is not an id")
        return found


async def log_revocations(settings: Settings, events: Iterable[AuditEvent]) -> None:
    """Append what these actions revoke, in their transaction."""
    found = [revocation for event in events for revocation in revocations_of(event)]
    if not found:
        return
    log = RevocationLog.of(settings)
    try:
        async with asyncio.timeout(WRITE_SECONDS):
            await asyncio.gather(*(log.append(each) for each in found))
    except Exception:  # noqa: BLE001 (any fault of the store)
        _log.exception("revocation not logged", extra={"subjects": [each.subject for each in found]})


def latest(logs: Sequence[Sequence[Revocation]]) -> list[Revocation]:
    """The last entry about each subject in several logs."""
    found: dict[str, Revocation] = {}
    for entry in sorted((each for log in logs for each in log), key=lambda each: datetime.fromisoformat(each.at)):
        found[entry.subject] = entry
    return list(found.values())
