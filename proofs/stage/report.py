"""How a proof speaks: a table for people, and as its last line one JSON object for machines."""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table

from dev.services import control


class Report:
    """What a proof claims and what it measured."""

    def __init__(self, title: str) -> None:
        self._table = Table("claim", "wanted", "measured", "", title=title)
        self._figures: dict[str, Any] = {}
        self._ok = True

    def claim(self, claim: str, *, wanted: str, measured: object, holds: bool) -> None:
        """One line of the table; a proof holds when all its claims do."""
        self._table.add_row(claim, wanted, str(measured), "holds" if holds else "[bold red]FAILS[/]")
        self._ok = self._ok and bool(holds)

    def broken_off(self) -> None:
        """What was measured until then is still worth reading."""
        self._ok = False
        self.close()

    def note(self, text: str) -> None:
        Console(stderr=True).print(text, highlight=False)

    def figures(self, **figures: Any) -> None:  # noqa: ANN401 (whatever JSON can say)
        self._figures.update(figures)

    def close(self) -> int:
        Console().print(self._table)
        print(json.dumps({**self._figures, "ok": self._ok}))
        return 0 if self._ok else 1


@contextmanager
def running_services() -> Iterator[None]:
    """The services that everybody uses, left running."""
    control.start_all()
    yield


def prove(
    title: str,
    proof: Callable[[Report, bool], Awaitable[None]],
    within: Callable[[], AbstractContextManager[None]] = running_services,
) -> int:
    """Run the proof in its long or short form, within its surroundings; the exit code says how it ended."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--short", action="store_true", help="the form that CI runs")
    short = parser.parse_args().short
    report = Report(title)
    try:
        with within():
            asyncio.run(_finish(proof(report, short)))
    except BaseException:
        report.broken_off()
        raise
    return report.close()


async def _finish(work: Awaitable[None]) -> None:
    await work
