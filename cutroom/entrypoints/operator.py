"""Shared by the admin commands: run one transaction as the schema owner, print one JSON object."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar

import asyncpg
import typer

from cutroom.accounts.principals import PrincipalKind
from cutroom.audit import service as audit
from cutroom.audit.service import AuditActor, AuditEvent
from cutroom.errors import CutroomError, not_found
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, register_json_codec
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.retention.revocations.log import log_revocations

Result = TypeVar("Result")
Email = Annotated[str, typer.Argument(help="Email address of the user.")]


def run(work: Callable[[Connection, Settings], Awaitable[Result]]) -> Result:
    """Runs the command in one transaction as the schema owner, which bypasses row-level security."""

    async def run_in_transaction() -> Result:
        settings = Settings()
        if settings.owner_database_url is None:
            raise typer.BadParameter("CUTROOM_OWNER_DATABASE_URL is not set")
        connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
        await register_json_codec(connection)
        try:
            async with connection.transaction():
                return await work(connection, settings)
        finally:
            await connection.close()

    try:
        return asyncio.run(run_in_transaction())
    except CutroomError as error:
        typer.echo(f"{error.code}: {error.message} {json.dumps(error.details)}", err=True)
        raise typer.Exit(1) from error


async def record(
    connection: Connection,
    settings: Settings,
    library_id: str,
    action: str,
    *,
    targets: Mapping[str, Any] | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Appends the command to the library's audit log, in its transaction."""
    event = AuditEvent(
        library_id=library_id,
        action=action,
        actor=AuditActor(PrincipalKind.SYSTEM, "admin"),
        at=system_clock(),
        targets=targets or {},
        before=before,
        after=after,
    )
    await audit.append(connection, event, secret_box=SecretBox(settings.secret_key.get_secret_value()))
    await log_revocations(settings, [event])


def show(**fields: Any) -> None:  # noqa: ANN401 (JSON)
    """Prints the result as one JSON object."""
    typer.echo(json.dumps(fields, indent=2))


async def user_id_of(connection: Connection, email: str) -> str:
    found = await connection.fetchval("SELECT id FROM users WHERE email = $1", email.strip().lower())
    if found is None:
        raise not_found()
    return str(found)


async def library_id_of(connection: Connection, email: str, workspace: str | None) -> str:
    """The given workspace, else the user's personal library."""
    if workspace is not None:
        found = await connection.fetchval("SELECT id FROM libraries WHERE id = $1 AND kind = 'workspace'", workspace)
        if found is None:
            raise not_found()
        return str(found)
    found = await connection.fetchval(
        """SELECT l.id FROM libraries l JOIN members m ON m.library_id = l.id JOIN users u ON u.id = m.user_id
           WHERE l.kind = 'personal' AND u.email = $1""",
        email.strip().lower(),
    )
    if found is None:
        raise not_found()
    return str(found)
