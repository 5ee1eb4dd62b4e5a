"""Assembles the commands. Only the module of the command that runs is imported; help shows the others from a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated

import typer

from cutroom_client._version import __version__

NAME = "cutroom"
# Module and help of each command; a test compares the help with the command's own.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "login": ("login", "Log in through the browser, or with an API key from standard input."),
    "logout": ("login", "Forget the key of the profile, and revoke it if `cutroom login` has created it."),
    "whoami": ("login", "Show the library, plan and balance that the key opens."),
    "profiles": ("login", "List the profiles on this computer."),
    "upload": ("sending", "Upload files."),
    "import": ("sending", "Import videos from URLs."),
    "dub": ("products", "Dub a video into other languages."),
    "captions": ("products", "Translate the captions of a video."),
    "shorts": ("products", "Cut shorts, a promo or clips from a video."),
    "thumbnails": ("products", "Make three thumbnail candidates."),
    "titles": ("products", "Write a title, and a description if asked for."),
    "jobs": ("library", "List jobs, watch them or cancel them."),
    "download": ("receiving", "Download files of a video."),
    "edit": ("editing", "Correct a transcript or captions in your editor ($VISUAL, $EDITOR), or in a file."),
    "quote": ("library", "Show the exact price of work on a video, without starting it."),
    "usage": ("library", "Show the balance, and what of the quotas is used."),
    "batch": ("batch", "Process all videos of a folder or CSV file."),
    "completion": ("completion", "Print the completion script of a shell."),
    "videos": ("library", "List, search, show, delete and restore videos."),
    "webhooks": ("webhooks", "Receive webhooks on this computer."),
}


def _version(show: bool) -> None:  # noqa: FBT001 (a callback of the parser)
    if show:
        typer.echo(f"{NAME} {__version__}")
        raise typer.Exit


def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def build(chosen: str | None) -> typer.Typer:
    """The program with one command; of the others it knows only the help."""
    app = typer.Typer(
        name=NAME,
        help="Upload videos, and get transcripts, captions, dubs, shorts, thumbnails and texts from a Cutroom service.",
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help appears in half the time
        pretty_exceptions_enable=False,  # they print local variables, keys among them
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit codes and environment variables: docs/cli.md.",
    )
    app.callback()(_root)
    for name, (module, text) in COMMANDS.items():
        if name == chosen:
            _register(app, name, module, text)
        else:
            app.command(name, help=text)(_elsewhere)
    return app


def _register(app: typer.Typer, name: str, module: str, text: str) -> None:
    from cutroom_client.cli.commands import command  # noqa: PLC0415 (help needs no command)

    found = import_module(f"cutroom_client.cli.{module}").COMMANDS[name]
    if not isinstance(found, dict):
        command(app, name)(found)
        return
    group = typer.Typer(name=name, help=text, no_args_is_help=True, rich_markup_mode=None)
    for each, body in found.items():
        command(group, each)(body)
    app.add_typer(group)


def _elsewhere() -> None:
    """Stands for a command in the help; it is never the one that runs."""
    raise AssertionError


def chosen_command(arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The command that runs, or whose options a shell completes."""
    words = environment.get("_TYPER_COMPLETE_ARGS") or environment.get("COMP_WORDS")
    if f"_{NAME.upper()}_COMPLETE" in environment and words is not None:
        arguments = words.split()[1:]
    return next((each for each in arguments if not each.startswith("-")), None)


def main() -> None:
    build(chosen_command(sys.argv[1:], os.environ))(prog_name=NAME)


if __name__ == "__main__":
    main()
