"""Commands of an operator for versioned workers: which build runs new workflows."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

import typer
from temporalio.client import Client
from temporalio.service import RPCError

from cutroom.entrypoints.operator import show
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect_plainly
from cutroom.platform.worker_versions import (
    UNVERSIONED,
    WorkerRouting,
    build_id,
    make_current,
    ramp,
    read_routing,
    roll_back,
)

app = typer.Typer(no_args_is_help=True, help="Versions of the workers: which build runs new workflows.")

NAME_OF_UNVERSIONED = "unversioned"
Force = Annotated[bool, typer.Option("--force", help="Even if the build lacks workers, or serves fewer queues.")]


@app.command("show")
def show_builds() -> None:
    """Show every build and where new workflows go. Workers of an earlier build can stop when none are running on it."""
    _run(_nothing)


@app.command("promote")
def promote(
    build: Annotated[str, typer.Argument(help="Build id; that of this installation if omitted.")] = "",
    *,
    force: Force = False,
) -> None:
    """Start new workflows on a build. Those that it did not start stay on theirs."""
    _run(lambda client, settings: make_current(client, build or build_id(settings), force=force))


@app.command("ramp")
def ramp_up(
    build: Annotated[str, typer.Argument(help="Build id.")],
    percent: Annotated[float, typer.Argument(min=0, max=100, help="Share of new workflows; 0 ends the ramp.")],
) -> None:
    """Start a share of the new workflows on a build, before it is promoted."""
    _run(lambda client, _settings: ramp(client, build, percent))


@app.command("rollback")
def rollback(
    build: Annotated[str, typer.Argument(help="The build to return to, or `unversioned`.")],
    *,
    force: Force = False,
) -> None:
    """Start new workflows on an earlier build again, and end a ramp. Keep the newer workers until they are drained."""
    target = UNVERSIONED if build == NAME_OF_UNVERSIONED else build
    _run(lambda client, _settings: roll_back(client, target, force=force))


async def _nothing(_client: Client, _settings: Settings) -> None:
    """Only shows the builds."""


def _run(work: Callable[[Client, Settings], Awaitable[None]]) -> None:
    """Does the work, and shows where new workflows go from now on."""

    async def run() -> WorkerRouting:
        settings = Settings()
        client = await connect_plainly(settings)
        await work(client, settings)
        return await read_routing(client)

    try:
        routing = asyncio.run(run())
    except RPCError as error:
        typer.echo(f"Temporal refused it: {error.message}", err=True)
        raise typer.Exit(1) from error
    show(
        current=routing.current or NAME_OF_UNVERSIONED,
        ramping=routing.ramping or None,
        rampingPercent=routing.ramping_percent,
        builds=[
            {"buildId": each.build_id, "status": each.status, "runningWorkflows": each.running_workflows}
            for each in routing.builds
        ],
    )
