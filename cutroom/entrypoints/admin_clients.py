"""Operator commands for OAuth clients."""

from typing import Annotated

import typer

from cutroom.accounts.oauth import OAuthClientInfo, register_client, revoke_client
from cutroom.entrypoints.operator import run, show
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Programs that people may connect by OAuth.")


@app.command("create")
def create(
    title: Annotated[str, typer.Argument(metavar="NAME", help="What people see when they are asked.")],
    *,
    redirect: Annotated[list[str], typer.Option(help="Where codes go, exactly; repeat for several.")],
) -> None:
    """Register a public client; it proves itself by PKCE and has no secret."""

    async def work(connection: Connection, _settings: Settings) -> OAuthClientInfo:
        return await register_client(connection, title, redirect, owner_id=None, now=system_clock())

    made = run(work)
    show(clientId=made.id, name=made.name, redirectUris=list(made.redirect_uris))


@app.command("revoke")
def revoke(client_id: str) -> None:
    """Take an operator's client away; every token that was granted to it stops working at once."""

    async def work(connection: Connection, _settings: Settings) -> None:
        await revoke_client(connection, client_id, owner_id=None, now=system_clock())

    run(work)
    show(clientId=client_id, revoked=True)
