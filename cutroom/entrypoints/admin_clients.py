"""Admin commands for OAuth clients."""

from typing import Annotated

import typer

from cutroom.accounts.oauth import OAuthClientInfo, register_client, revoke_client
from cutroom.audit.service import INSTALLATION
from cutroom.entrypoints.operator import record, run, show
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.settings import Settings

app = typer.Typer(no_args_is_help=True, help="OAuth clients.")


@app.command("create")
def create(
    title: Annotated[str, typer.Argument(metavar="NAME", help="Name shown on the consent page.")],
    *,
    redirect: Annotated[list[str], typer.Option(help="Exact redirect URI; repeat for several.")],
) -> None:
    """Register a public client, which uses PKCE instead of a secret."""

    async def work(connection: Connection, settings: Settings) -> OAuthClientInfo:
        new = await register_client(connection, title, redirect, owner_id=None, now=system_clock())
        await record(connection, settings, INSTALLATION, "oauth.client.create", targets={"clientId": new.id})
        return new

    made = run(work)
    show(clientId=made.id, name=made.name, redirectUris=list(made.redirect_uris))


@app.command("revoke")
def revoke(client_id: str) -> None:
    """Revoke a client registered here; its tokens stop working immediately."""

    async def work(connection: Connection, settings: Settings) -> None:
        await revoke_client(connection, client_id, owner_id=None, now=system_clock())
        await record(connection, settings, INSTALLATION, "oauth.client.revoke", targets={"clientId": client_id})

    run(work)
    show(clientId=client_id, revoked=True)
