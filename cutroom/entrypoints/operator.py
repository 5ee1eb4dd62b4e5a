"""What every operator command shares: one transaction as the schema's owner, and one JSON object printed."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import asyncpg
import typer

from cutroom.errors import CutroomError, not_found
from cutroom.platform.db import Connection, register_json_codec
from cutroom.platform.settings import Settings

Result = TypeVar("Result")
Email = Annotated[str, typer.Argument(help="The person's e-mail address.")]


def run(work: Callable[[Connection, Settings], Awaitable[Result]]) -> Result:
    """One command is one transaction, as the schema's owner: the operator stands above the libraries' walls."""

    async def work_and_close() -> Result:
        settings = Settings()
        if settings.owner_database_url is None:
            raise typer.BadParameter("set CUTROOM_OWNER_DATABASE_URL to the database as its owner")
        connection = await asyncpg.connect(settings.owner_database_url.get_secret_value())
        await register_json_codec(connection)
        try:
            async with connection.transaction():
                return await work(connection, settings)
        finally:
            await connection.close()

    try:
        return asyncio.run(work_and_close())
    except CutroomError as error:
        typer.echo(f"{error.code}: {error.message} {json.dumps(error.details)}", err=True)
        raise typer.Exit(1) from error


def show(**fields: Any) -> None:  # noqa: ANN401 (whatever JSON can say)
    """Every command prints one JSON object, for people and for scripts."""
    typer.echo(json.dumps(fields, indent=2))


async def user_id_of(connection: Connection, email: str) -> str:
    found = await connection.fetchval("SELECT id FROM users WHERE email = $1", email.strip().lower())
    if found is None:
        raise not_found()
    return str(found)


async def library_id_of(connection: Connection, email: str, workspace: str | None) -> str:
    """The workspace when one is named, else the person's own library."""
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
