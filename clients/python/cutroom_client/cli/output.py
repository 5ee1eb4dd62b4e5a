"""Prints results: tables for people, JSON for programs, and errors in the form of the results."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom_client.cli.exits import CommandError

# Control characters, and format characters that change the direction of text: a title must not rewrite the screen.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")  # needed by scripts and emoji
MAX_CELL = 300
Row = Mapping[str, object]


def printable(value: object) -> str:
    """Text for a terminal, without what could control it."""
    text = "" if value is None else str(value)
    if len(text) > MAX_CELL:
        text = text[: MAX_CELL - 1] + "…"
    return "".join(" " if each in "\n\t" else each if _is_visible(each) else "�" for each in text)


def _is_visible(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) not in _HIDDEN_CATEGORIES


@dataclass(frozen=True)
class Output:
    """Where results go, and in which form."""

    as_json: bool
    quiet: bool = False

    @classmethod
    def choose(cls, *, as_json: bool | None, quiet: bool = False) -> Output:
        """Tables on a terminal, JSON elsewhere, unless the caller has said which."""
        return cls(as_json=not sys.stdout.isatty() if as_json is None else as_json, quiet=quiet)

    @property
    def is_interactive(self) -> bool:
        """Whether a person can be asked."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    @property
    def shows_progress(self) -> bool:
        return not self.quiet and not self.as_json and sys.stderr.isatty()

    def result(self, document: object, *, rows: Iterable[Row] | None = None, text: str | None = None) -> None:
        """Prints a result: the document as JSON, or rows or text for people."""
        if self.as_json:
            self.line(document)
        elif text is not None:
            self.write(text)
        elif rows is not None:
            self.table(list(rows))
        elif isinstance(document, Mapping):
            self.fields(document)

    def line(self, document: object) -> None:
        """One JSON document on one line; not ASCII only, but without characters that control a terminal."""
        self.write(json.dumps(document, ensure_ascii=not _speaks_utf8(), default=str))

    def write(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Something that belongs to no result, for people."""
        if not self.quiet:
            sys.stderr.write(printable_lines(text) + "\n")
            sys.stderr.flush()

    def fields(self, document: Mapping[str, Any]) -> None:
        width = max((len(name) for name in document), default=0)
        for name, value in document.items():
            self.write(f"{name:<{width}}  {printable(value)}")

    def table(self, rows: Sequence[Row]) -> None:
        """A table as wide as the terminal; columns that are empty everywhere are left out."""
        if not rows:
            self.note("Nothing found.")
            return
        from rich import box  # noqa: PLC0415 (slow to load)
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        names = [name for name in rows[0] if any(row.get(name) not in (None, "") for row in rows)]
        table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
        for name in names:
            numeric = all(isinstance(row.get(name), (int, float)) or row.get(name) is None for row in rows)
            table.add_column(name, justify="right" if numeric else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(row.get(name))) for name in names))
        Console(file=sys.stdout, highlight=False).print(table)

    def failure(self, error: CommandError) -> None:
        """An error on standard error, in the form of the results."""
        if self.as_json:
            body = {
                "code": error.code,
                "message": error.message,
                "details": error.details,
                "exitCode": int(error.exit_code),
                **({"requestId": error.request_id} if error.request_id else {}),
                **({"hint": error.hint} if error.hint else {}),
            }
            sys.stderr.write(json.dumps({"error": body}, default=str) + "\n")
            return
        reference = f" (request {error.request_id})" if error.request_id else ""
        sys.stderr.write(f"Error: {printable_lines(error.message)}{reference}\n")
        for field in error.details.get("fields", []) if isinstance(error.details.get("fields"), list) else []:
            if isinstance(field, Mapping):
                sys.stderr.write(f"  {printable(field.get('path'))}: {printable(field.get('message'))}\n")
        if error.hint:
            sys.stderr.write(f"{printable_lines(error.hint)}\n")


def printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.splitlines())


def _speaks_utf8() -> bool:
    """JSON keeps control characters escaped either way; format characters are shown only to programs."""
    return not sys.stdout.isatty() and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def credits_text(amount: object) -> str:
    """`1.3 credits`, without needless zeros."""
    number = float(amount) if isinstance(amount, (int, float)) else 0.0
    return f"{number:.3f}".rstrip("0").rstrip(".") + (" credit" if number == 1 else " credits")


def duration_text(seconds: object) -> str:
    """`1:04:05` or `4:05`."""
    if not isinstance(seconds, (int, float)):
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
