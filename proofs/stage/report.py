"""Runs a proof and reports it: a table for people, and one JSON object as the last line for machines."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table

from dev.child_process import interrupt_on_termination
from dev.services import control
from proofs.stage.requirements import Needs


class Report:
    """The claims of a proof with their measured values, and the figures for its JSON line."""

    def __init__(self, title: str, *, short: bool = False) -> None:
        self._short = short
        self._table = Table("claim", "expected", "measured", "", title=title)
        self._figures: dict[str, Any] = {}
        self._ok = True

    def claim(self, claim: str, *, expected: str, measured: object, holds: bool) -> None:
        """Add a row to the table; the proof passes if every claim holds."""
        self._table.add_row(claim, expected, str(measured), "holds" if holds else "[bold red]FAILS[/]")
        self._ok = self._ok and bool(holds)

    def claim_time(self, claim: str, *, expected: str, measured: object, holds: bool) -> None:
        """Add a wall-clock figure. The short form shares its machine, so only the long form judges it."""
        if self._short:
            self._table.add_row(claim, f"{expected} (long form)", str(measured), "measured")
        else:
            self.claim(claim, expected=expected, measured=measured, holds=holds)

    def abort(self) -> None:
        """Print what was measured before the proof raised."""
        self._ok = False
        self.close()

    def note(self, text: str) -> None:
        Console(stderr=True).print(text, highlight=False)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Print how long a part of the proof took, to find what makes it slow."""
        started = time.monotonic()
        yield
        self.note(f"{part}: {time.monotonic() - started:.0f} s")

    def figures(self, **figures: Any) -> None:  # noqa: ANN401 (any JSON value)
        self._figures.update(figures)

    def close(self) -> int:
        Console().print(self._table)
        print(json.dumps({**self._figures, "ok": self._ok}))
        return 0 if self._ok else 1


@contextmanager
def running_services() -> Iterator[None]:
    """Start the shared services if they are down, and leave them running."""
    control.start_all()
    yield


def prove(
    title: str,
    proof: Callable[[Report, bool], Awaitable[None]],
    within: Callable[[], AbstractContextManager[None]] = running_services,
    needs: Needs | None = None,
) -> int:
    """Check requirements, run the proof in its long or short form inside `within`, and return the exit code."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--short", action="store_true", help="the form that CI runs")
    short = parser.parse_args().short
    if needs is not None and (missing := needs.missing(short=short)):
        print(f"{title}: cannot run here", *missing, sep="\n  ", file=sys.stderr)
        return 2
    interrupt_on_termination()
    report = Report(title, short=short)
    try:
        with within():
            asyncio.run(_run(proof(report, short)))
    except BaseException:
        report.abort()
        raise
    return report.close()


async def _run(proof: Awaitable[None]) -> None:
    await proof
