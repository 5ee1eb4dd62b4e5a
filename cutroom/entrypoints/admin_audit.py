"""Admin commands for audit logs."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from cutroom.audit import service
from cutroom.audit.rules import AuditEntry, ChainHead, parse_head
from cutroom.audit.service import AuditFilter
from cutroom.entrypoints.operator import run, show
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Audit logs.")


@app.command("show")
def show_entries(
    *,
    library: Annotated[
        str, typer.Option(help="The library; by default, the log of what concerns no library.")
    ] = service.INSTALLATION,
    limit: Annotated[int, typer.Option(min=1, max=1_000)] = 50,
) -> None:
    """Show the newest entries of a log."""

    async def work(connection: Connection, _settings: Settings) -> list[dict[str, Any]]:
        entries, _ = await service.list_entries(connection, library, AuditFilter(), before=None, limit=limit)
        return [_shown(each.entry) for each in entries]

    show(entries=run(work))


def _shown(entry: AuditEntry) -> dict[str, Any]:
    return {
        "sequence": entry.sequence,
        "at": entry.at.isoformat(),
        "action": entry.action,
        "actor": {"kind": entry.actor_kind, "id": entry.actor_id, "userId": entry.user_id},
        "targets": entry.targets,
        **entry.details,
    }


@app.command("verify")
def verify(
    *,
    library: Annotated[str | None, typer.Option(help="Verify this library only; all if omitted.")] = None,
    head: Annotated[
        str | None, typer.Option(help="A head noted earlier, as SEQUENCE:HASH; requires --library.")
    ] = None,
) -> None:
    """Verify the hash chains; exits with 1 if an entry was changed, removed or added outside the service."""
    if head is not None and library is None:
        raise typer.BadParameter("--head requires --library")
    expected = _parse(head)

    async def work(connection: Connection, settings: Settings) -> list[dict[str, Any]]:
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")  # entries may be appended meanwhile
        secret_box = SecretBox(settings.secret_key.get_secret_value())
        libraries = [library] if library is not None else await service.logged_libraries(connection)
        return [await _result(connection, each, secret_box, expected) for each in libraries]

    results = run(work)
    faults = sum(each["faultCount"] for each in results)
    show(libraries=results, ok=not faults)
    if faults:
        raise typer.Exit(1)


def _parse(head: str | None) -> ChainHead | None:
    try:
        return parse_head(head) if head is not None else None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


async def _result(
    connection: Connection, library_id: str, secret_box: SecretBox, expected: ChainHead | None
) -> dict[str, Any]:
    verified = await service.verify(connection, library_id, secret_box=secret_box, expected=expected)
    return {
        "libraryId": library_id,
        "head": str(verified.last),
        "faultCount": verified.fault_count,
        "faults": [asdict(fault) for fault in verified.faults],
    }
