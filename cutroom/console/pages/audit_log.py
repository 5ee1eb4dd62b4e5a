"""The audit log page: who changed what, filtered by action, person and date, with an export."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from cutroom.accounts.teams import list_members
from cutroom.audit import routes, service
from cutroom.audit.schemas import AuditLogEntry
from cutroom.console.framework.page_context import PageContext, page
from cutroom.errors import invalid_field
from cutroom.platform.ids import is_id

PAGE_ROWS = 50
FILTERS = ("action", "person", "from", "to")


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An entry as the table shows it."""

    entry: AuditLogEntry
    person: str
    targets: tuple[tuple[str, str], ...]
    changes: tuple[tuple[str, str], ...]  # "before" and "after"


async def show_audit_log(context: PageContext) -> Response:
    query = context.request.query_params
    found = await context.call_operation(
        routes.list_audit_log, **_filter(query), limit=PAGE_ROWS, page_token=query.get("page")
    )
    call = context.call
    members = {each.user_id: each.name for each in await list_members(call.connection, call.principal)}
    chosen = {name: query[name] for name in FILTERS if query.get(name)}
    older = {**chosen, "page": found.next_page_token} if found.next_page_token else None
    return context.page(
        "audit_log.html",
        rows=[_row(entry, members) for entry in found.entries],
        head=found.head,
        actions=await service.list_actions(call.connection, call.principal.library_id),
        members=members,
        chosen={**dict.fromkeys(FILTERS, ""), **chosen},
        export=f"/audit-log/export?{urlencode(chosen)}" if chosen else "/audit-log/export",
        older=f"/audit-log?{urlencode(older)}" if older else None,
    )


async def export(context: PageContext) -> Response:
    return await context.call_operation(routes.export_audit_log, **_filter(context.request.query_params))


def _filter(query: Mapping[str, str]) -> dict[str, Any]:
    action, person = query.get("action") or None, query.get("person") or None
    if action is not None and not action.replace(".", "").isalpha():
        raise invalid_field("action", "Unknown action.")
    if person is not None and not is_id(person):
        raise invalid_field("person", "Unknown person.")
    last = _start_of(query, "to")
    return {
        "action": action,
        "actor": person,
        "since": _start_of(query, "from"),
        "until": last + timedelta(days=1) if last is not None else None,
    }


def _start_of(query: Mapping[str, str], name: str) -> datetime | None:
    text = query.get(name)
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise invalid_field(name, "This is not a date.") from error
    if not 1970 <= day.year <= 9998:
        raise invalid_field(name, "This date is out of range.")
    return datetime.combine(day, time(), UTC)


def _row(entry: AuditLogEntry, members: Mapping[str, str]) -> AuditRow:
    user_id = entry.actor.user_id
    person = members.get(user_id, "Former member") if user_id else "Operator" if entry.actor.kind == "system" else "App"
    changes = (("before", entry.before), ("after", entry.after))
    return AuditRow(
        entry=entry,
        person=person,
        targets=tuple((name, _text(value)) for name, value in sorted(entry.targets.items())),
        changes=tuple((name, _text(value)) for name, value in changes if value),
    )


def _text(value: Any) -> str:  # noqa: ANN401 (any JSON value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


ROUTES = [page("/audit-log", show_audit_log), page("/audit-log/export", export)]
