"""The `cutroom-server` command: demo, doctor, models, Temporal, workers, cells, administration, backup and restore."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from cutroom.entrypoints.admin import app as admin
from cutroom.entrypoints.backup import backup_command, restore_command
from cutroom.entrypoints.cell_commands import app as cells
from cutroom.entrypoints.model_commands import app as models
from cutroom.entrypoints.temporal_commands import app as temporal
from cutroom.entrypoints.worker_commands import app as workers
from cutroom.platform.process.exit import run_and_exit

CHECKOUT = Path(__file__).resolve().parents[2]  # the project root when running from a source checkout

app = typer.Typer(no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False)
app.add_typer(models, name="models")
app.add_typer(admin, name="admin")
app.add_typer(temporal, name="temporal")
app.add_typer(workers, name="workers")
app.add_typer(cells, name="cells")
app.command("backup")(backup_command)
app.command("restore")(restore_command)


@app.command("demo")
def demo(
    *,
    exit_: Annotated[bool, typer.Option("--exit", help="Exit when everything is ready instead of on Ctrl-C.")] = False,
    video: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Video to process instead of the bundled one.")
    ] = None,
) -> None:
    """Start every service on this machine and process a video with every product; requires a source checkout."""
    options = [*(["--exit"] if exit_ else []), *(["--video", str(video.resolve())] if video else [])]
    _run_from_checkout("demo", *options)


@app.command("router")
def router() -> None:
    """Run the router in front of several cells."""
    from cutroom.entrypoints.router import main as run  # noqa: PLC0415 - other commands need no server

    run()


@app.command("doctor")
def doctor() -> None:
    """Check every program, service and model that Cutroom uses, and name the command that repairs each."""
    if _is_checkout("doctor"):  # also checks the tools of developers
        _run_from_checkout("doctor")
        return
    from cutroom.entrypoints.doctor.command import main as check  # noqa: PLC0415 - loads most of the product

    raise typer.Exit(check())


def _is_checkout(name: str) -> bool:
    return (CHECKOUT / "dev" / f"{name}.py").is_file()


def _run_from_checkout(name: str, *options: str) -> None:
    """Replaces this process with a module of `dev`, which starts services and is not part of the installed package."""
    if not _is_checkout(name):
        raise typer.BadParameter(f"`{name}` requires a source checkout of Cutroom; it is not part of the package")
    os.chdir(CHECKOUT)
    os.execv(sys.executable, [sys.executable, "-m", f"dev.{name}", *options])  # noqa: S606 (our own module)


def main() -> None:
    run_and_exit(app)


if __name__ == "__main__":
    main()
