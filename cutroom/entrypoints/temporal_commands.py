"""The `cutroom-server temporal` commands: prepare the namespace that workers use."""

import asyncio
import json
from datetime import timedelta
from typing import Annotated

import typer
from temporalio.client import Client

from cutroom.platform.settings import TemporalSettings
from cutroom.platform.temporal_setup import NamespaceSpec, SetupError, set_up

app = typer.Typer(no_args_is_help=True, help="Prepare the Temporal namespace.")


@app.callback()
def _group() -> None:
    """Prepare the Temporal namespace."""


@app.command("setup")
def setup(
    *,
    build_id: Annotated[
        str | None, typer.Option(help="Build of versioned workers, made current if no version is yet.")
    ] = None,
) -> None:
    """Create the namespace, retention and search attributes, or correct them; safe to repeat before every rollout.

    Needs CUTROOM_TEMPORAL_ADDRESS, CUTROOM_TEMPORAL_NAMESPACE and CUTROOM_TEMPORAL_RETENTION_DAYS only. Shorter
    retention deletes the histories of finished workflows sooner; running workflows are not affected.
    """
    settings = TemporalSettings()
    spec = NamespaceSpec(
        settings.temporal_namespace, retention=timedelta(days=settings.temporal_retention_days), build_id=build_id
    )
    try:
        changes = asyncio.run(_set_up(settings.temporal_address, spec))
    except SetupError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    typer.echo(json.dumps({"namespace": spec.name, "changes": changes}))


async def _set_up(address: str, spec: NamespaceSpec) -> list[str]:
    # The client's own namespace is not used: the one to create may not exist.
    return await set_up(await Client.connect(address), spec)
