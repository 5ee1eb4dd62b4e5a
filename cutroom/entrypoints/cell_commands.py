"""The `cutroom-server cells` commands: the directory of cells, and moves of libraries between them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Annotated, Any

import asyncpg
import typer

from cutroom.accounts.moving import EmailTakenError
from cutroom.cells.directory import Directory, Move, MoveConflictError, UnknownCellError
from cutroom.cells.move.cell_access import CellSettingsError, load_cell_settings, open_cell
from cutroom.cells.move.gate import FreezeExpiredError, LibraryBusyError
from cutroom.cells.move.mover import Mover, MoveResult, NotMovableError
from cutroom.cells.move.rows import CopyMismatchError
from cutroom.entrypoints.operator import show
from cutroom.platform.settings import MoverSettings
from cutroom.platform.telemetry import configure_logging

app = typer.Typer(no_args_is_help=True, help="Cells: where libraries live, and moves between them.")

_REFUSALS = (
    CellSettingsError,
    CopyMismatchError,
    EmailTakenError,
    FreezeExpiredError,
    LibraryBusyError,
    MoveConflictError,
    NotMovableError,
    UnknownCellError,
)
Library = Annotated[str, typer.Argument(help="Id of the library.")]
Grace = Annotated[int, typer.Option(min=0, help="Seconds that the copy in the source is kept after the move.")]
Work = Callable[[Directory, MoverSettings], Awaitable[dict[str, Any]]]


@app.command("init")
def init() -> None:
    """Create the tables of the directory in its database; safe to repeat."""
    _run(_create_schema)


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Name of the cell; `<name>.env` in CUTROOM_CELLS_DIR has its settings.")],
    api_url: Annotated[str, typer.Argument(help="URL at which routers reach its API.")],
) -> None:
    """Add a cell, or change its URL. The first one is for new accounts."""

    async def work(directory: Directory, _settings: MoverSettings) -> dict[str, Any]:
        await directory.add_cell(name, api_url)
        return await _describe(directory)

    _run(work)


@app.command("open")
def open_for_new_accounts(name: Annotated[str, typer.Argument(help="Name of the cell.")]) -> None:
    """Send new accounts to this cell from now on."""

    async def work(directory: Directory, _settings: MoverSettings) -> dict[str, Any]:
        await directory.open_for_new_accounts(name)
        return await _describe(directory)

    _run(work)


@app.command("show")
def show_cells() -> None:
    """Show the cells and the moves that have not finished."""

    async def work(directory: Directory, _settings: MoverSettings) -> dict[str, Any]:
        return await _describe(directory)

    _run(work)


@app.command("move")
def move(
    library_id: Library,
    target: Annotated[str, typer.Argument(help="The cell to move it to.")],
    *,
    source: Annotated[str | None, typer.Option(help="The cell it is in; the directory's answer if omitted.")] = None,
    grace: Grace = 0,
) -> None:
    """Move a library to another cell while it is in use. If it is interrupted, run it again, or `cells resume`.

    Without an effect if the library is there already, so that it can be repeated if it is not known to have finished.
    """

    async def work(directory: Directory, settings: MoverSettings) -> dict[str, Any]:
        placed = await directory.placement(library_id)
        current = placed.cell if placed is not None else source
        unfinished = await directory.unfinished_move(library_id)
        if unfinished is not None:
            current = unfinished.source
        if current is None:
            raise NotMovableError("the directory does not know the library: name its cell with --source")
        if current == target:
            return {"libraryId": library_id, "cell": target}
        async with directory.exclusive(library_id):
            started = await directory.start_move(library_id, source=current, target=target)
            return _result(await _finish_move(directory, settings, started, grace=grace))

    _run(work)


@app.command("resume")
def resume(*, grace: Grace = 0) -> None:
    """Finish every move that was interrupted."""

    async def work(directory: Directory, settings: MoverSettings) -> dict[str, Any]:
        finished = []
        for each in await directory.unfinished_moves():
            async with directory.exclusive(each.library_id):
                finished.append(_result(await _finish_move(directory, settings, each, grace=grace)))
        return {"finished": finished}

    _run(work)


@app.command("cancel")
def cancel(library_id: Library) -> None:
    """Undo a move that was interrupted before the library had moved."""

    async def work(directory: Directory, settings: MoverSettings) -> dict[str, Any]:
        async with directory.exclusive(library_id):
            unfinished = await directory.unfinished_move(library_id)
            if unfinished is None:
                raise NotMovableError("the library is not moving")
            async with AsyncExitStack() as stack:
                await (await _open(stack, directory, settings, unfinished)).roll_back()
            return {"libraryId": library_id, "cell": unfinished.source}

    _run(work)


async def _finish_move(directory: Directory, settings: MoverSettings, started: Move, *, grace: int) -> MoveResult:
    async with AsyncExitStack() as stack:
        mover = await _open(stack, directory, settings, started)
        mover.grace = timedelta(seconds=grace)
        return await mover.run()


async def _open(stack: AsyncExitStack, directory: Directory, settings: MoverSettings, started: Move) -> Mover:
    source, target = [
        await stack.enter_async_context(open_cell(name, load_cell_settings(settings.cells_dir, name)))
        for name in (started.source, started.target)
    ]
    return Mover(directory, started, source, target)


async def _create_schema(directory: Directory, _settings: MoverSettings) -> dict[str, Any]:
    await directory.create_schema()
    return await _describe(directory)


async def _describe(directory: Directory) -> dict[str, Any]:
    cells, moves = await directory.cells(), await directory.unfinished_moves()
    return {
        "cells": [
            {"name": each.name, "apiUrl": each.api_url, "acceptsNew": each.accepts_new} for each in cells.values()
        ],
        "moves": [
            {"libraryId": each.library_id, "source": each.source, "target": each.target, "phase": each.phase.value}
            for each in moves
        ],
    }


def _result(result: MoveResult) -> dict[str, Any]:
    return {
        "libraryId": result.library_id,
        "cell": result.target,
        "unavailableSeconds": round(result.unavailable_seconds, 3),
        "objectBytes": result.object_bytes,
        "restartedWorkflows": result.restarted_workflows,
    }


def _run(work: Work) -> None:
    async def run() -> dict[str, Any]:
        settings = MoverSettings()
        configure_logging(settings.log_level)
        async with Directory.open(settings.directory_url.get_secret_value()) as directory:
            return await work(directory, settings)

    try:
        shown = asyncio.run(run())
    except Exception as error:
        reasons = _leaves(error)
        if any(isinstance(each, asyncpg.UndefinedTableError) for each in reasons):
            typer.echo("The directory has no tables yet: run `cutroom-server cells init`.", err=True)
        elif all(isinstance(each, _REFUSALS) for each in reasons):
            typer.echo("; ".join(f"{type(each).__name__}: {each}" for each in reasons), err=True)
        else:
            raise
        raise typer.Exit(1) from error
    show(**shown)


def _leaves(error: BaseException) -> list[BaseException]:
    """The errors of a group."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [error]


if __name__ == "__main__":
    app()
