"""Registers commands: the options that all of them have, and what happens when one fails or is interrupted."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from cutroom_client.cli.exits import CommandError, Exit
from cutroom_client.cli.output import Output
from cutroom_client.cli.session import Session

Body = Callable[..., None]

_COMMON = {
    "profile": Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="Profile to use; else CUTROOM_PROFILE, else `default`."),
    ],
    "base_url": Annotated[
        str | None,
        typer.Option(
            "--base-url", metavar="URL", help="URL of the service; else CUTROOM_BASE_URL, else the profile's."
        ),
    ],
    "as_json": Annotated[
        bool | None,
        typer.Option("--json/--no-json", help="Print JSON, or tables. By default, JSON unless on a terminal."),
    ],
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")],
}
_DEFAULTS: dict[str, object] = {"profile": None, "base_url": None, "as_json": None, "quiet": False}


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a command that knows how to go on."""

    def __init__(self, advice: str) -> None:
        super().__init__(advice)
        self.advice = advice


def command(app: typer.Typer, name: str) -> Callable[[Body], Body]:
    """Registers a function whose first parameter is the session as a command; its docstring is the help."""

    def register(body: Body) -> Body:
        hints = get_type_hints(body, include_extras=True)
        own = list(inspect.signature(body).parameters.values())[1:]

        def run(**options: Any) -> None:  # noqa: ANN401 (what the parser has made of the arguments)
            common = {each: options.pop(each) for each in _COMMON}
            raise typer.Exit(execute(body, common, options))

        keyword = inspect.Parameter.KEYWORD_ONLY
        common = [
            inspect.Parameter(each, keyword, default=_DEFAULTS[each], annotation=kind) for each, kind in _COMMON.items()
        ]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # read by inspect
            [*(each.replace(kind=keyword, annotation=hints[each.name]) for each in own), *common]
        )
        run.__annotations__ = {each.name: hints[each.name] for each in own} | _COMMON
        app.command(name, help=inspect.getdoc(body))(run)
        return body

    return register


def execute(body: Body, common: dict[str, Any], options: dict[str, Any]) -> int:
    """Runs a command, and returns its exit code."""
    session: Session | None = None
    try:
        session = Session.open(**common)
        body(session, **options)
    except CommandError as error:
        output = session.output if session else Output.choose(as_json=common["as_json"])
        output.failure(error)
        return int(error.exit_code)
    except KeyboardInterrupt as interruption:
        advice = interruption.advice if isinstance(interruption, Interrupted) else ""
        sys.stderr.write(f"\nInterrupted. {advice}".rstrip() + "\n")
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered has nowhere to go
        return int(Exit.OK)
    except Exception as error:
        if os.environ.get("CUTROOM_DEBUG"):
            raise
        # Not the text of the error: it could have a signed URL or a key.
        failure = CommandError(
            f"An unexpected error: {type(error).__name__}.",
            exit_code=Exit.UNEXPECTED,
            hint="Set CUTROOM_DEBUG=1 to see where it comes from.",
        )
        (session.output if session else Output.choose(as_json=common["as_json"])).failure(failure)
        return int(failure.exit_code)
    finally:
        if session is not None:
            session.close()
    return int(Exit.OK)
