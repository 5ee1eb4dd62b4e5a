"""What is written to the revocation log, and when."""

import json
from pathlib import Path

import pytest

from cutroom.accounts.principals import PrincipalKind
from cutroom.audit.service import AuditActor, AuditEvent
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.retention.erasure.log import InvalidLogError
from cutroom.retention.revocations.log import (
    Revocation,
    RevocationLog,
    RevokedKind,
    latest,
    log_revocations,
    revocations_of,
)

LIBRARY, ACTOR = new_id(), AuditActor(PrincipalKind.SYSTEM, "admin")


def event(action: str, targets: dict[str, str], after: dict[str, list[str]] | None = None) -> AuditEvent:
    return AuditEvent(LIBRARY, action, ACTOR, system_clock(), targets=targets, after=after)


@pytest.fixture
def own(settings: Settings, tmp_path: Path) -> Settings:
    """Settings with a log in a directory."""
    return settings.model_copy(update={"revocation_log": str(tmp_path / "revocations")})


@pytest.mark.parametrize(
    ("action", "targets", "after", "expected"),
    [
        ("key.revoke", {"keyId": "k"}, None, ["key k"]),
        ("oauth.revoke", {"grantId": "g", "clientId": "c"}, None, ["grant g"]),
        ("member.remove", {"userId": "u"}, None, ["member u"]),
        ("member.remove", {"userId": "u"}, {"keyIds": ["k"], "grantIds": ["g"]}, ["member u", "key k", "grant g"]),
        ("library.suspend", {}, None, ["suspension "]),
        ("library.resume", {}, None, ["resumption "]),
        ("key.create", {"keyId": "k"}, None, []),
    ],
)
def test_revocations_of_an_action(
    action: str, targets: dict[str, str], after: dict[str, list[str]] | None, expected: list[str]
) -> None:
    assert [f"{each.kind} {each.id}" for each in revocations_of(event(action, targets, after))] == expected


async def test_entries_are_read_as_they_were_written(own: Settings) -> None:
    key_id = new_id()
    await log_revocations(own, [event("key.revoke", {"keyId": key_id}), event("library.suspend", {})])
    found = await RevocationLog.of(own).entries()
    assert {(each.kind, each.library_id, each.id) for each in found} == {
        (RevokedKind.KEY, LIBRARY, key_id),
        (RevokedKind.SUSPENSION, LIBRARY, ""),
    }


async def test_later_entry_replaces_an_earlier_one() -> None:
    def entry(kind: RevokedKind, at: str) -> Revocation:
        return Revocation(kind, LIBRARY, "", f"2026-11-{at}T00:00:00+00:00")

    suspended, resumed = entry(RevokedKind.SUSPENSION, "01"), entry(RevokedKind.RESUMPTION, "02")
    assert latest([[resumed], [suspended]]) == [resumed]


async def test_changed_entry_is_refused(own: Settings) -> None:
    log = RevocationLog.of(own)
    await log.append(Revocation(RevokedKind.KEY, LIBRARY, new_id(), system_clock().isoformat()))
    (name,) = await log.files.names()
    document = json.loads(await log.files.read(name) or b"")
    document["entry"]["id"] = new_id()
    await log.files.write(name, json.dumps(document).encode())
    with pytest.raises(InvalidLogError):
        await log.entries()


async def test_revocation_is_made_without_an_entry_if_the_store_is_unavailable(
    own: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "revocations").write_text("a file in the place of the directory")
    await log_revocations(own, [event("key.revoke", {"keyId": new_id()})])
    assert "revocation not logged" in caplog.text
