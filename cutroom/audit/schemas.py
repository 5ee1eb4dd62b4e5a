"""API schemas of the audit log."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from cutroom.accounts.principals import PrincipalKind
from cutroom.audit.rules import ChainedEntry, ChainHead
from cutroom.web.schema import ApiModel, Omittable


class AuditLogActor(ApiModel):
    """Who performed an action."""

    kind: Annotated[
        PrincipalKind, Field(description="`guest` opened a review link; `system` is an operator's command.")
    ]
    id: Annotated[str, Field(description="The id of the key, token, session or review link.")]
    user_id: Annotated[Omittable[str], Field(description="The user to whom it belongs.")] = None


class AuditLogEntry(ApiModel):
    """One action."""

    sequence: Annotated[int, Field(description="Counts from 1 without gaps.")]
    at: datetime
    action: Annotated[str, Field(description="The operation's id, or a name such as `member.remove`.")]
    actor: AuditLogActor
    targets: Annotated[dict[str, Any], Field(description="Ids of what was created, changed or deleted.")]
    client_address: Omittable[str] = None
    request_id: Annotated[Omittable[str], Field(description="The response's `X-Request-Id`.")] = None
    before: Annotated[Omittable[dict[str, Any]], Field(description="Settings before the change.")] = None
    after: Annotated[Omittable[dict[str, Any]], Field(description="Settings after the change.")] = None
    hash: Annotated[str, Field(description="Keyed hash over this entry and the hash before it.")]


class AuditLogHead(ApiModel):
    """The last entry of the log. Note it elsewhere: the server can verify the log against it later."""

    sequence: Annotated[int, Field(description="0 if the log is empty.")]
    hash: str


class AuditLogPage(ApiModel):
    """A page of the audit log, newest first."""

    entries: list[AuditLogEntry]
    head: AuditLogHead
    next_page_token: Omittable[str] = None


def entry_of(chained: ChainedEntry) -> AuditLogEntry:
    entry = chained.entry
    return AuditLogEntry(
        sequence=entry.sequence,
        at=entry.at,
        action=entry.action,
        actor=AuditLogActor(kind=PrincipalKind(entry.actor_kind), id=entry.actor_id, user_id=entry.user_id),
        targets=dict(entry.targets),
        client_address=entry.client_address,
        request_id=entry.request_id,
        before=entry.details.get("before"),
        after=entry.details.get("after"),
        hash=chained.hash.hex(),
    )


def head_of(head: ChainHead) -> AuditLogHead:
    return AuditLogHead(sequence=head.sequence, hash=head.hash.hex())
