"""A checked component, the commands that repair it, and the table that is printed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_VERSION = re.compile(r"\d+(?:\.\d+)+")


class ComponentHealth(StrEnum):
    """State of a component."""

    OK = "ok"
    OFF = "off"  # disabled in the settings
    MISSING = "missing"
    UNHEALTHY = "unhealthy"
    STOPPED = "stopped"
    BEHIND = "behind"


@dataclass(frozen=True, slots=True)
class Component:
    """One row of the table; `fix` is the command that repairs it, shown unless it is healthy."""

    name: str
    health: ComponentHealth
    version: str = ""
    where: str = ""
    fix: str = ""
    required: bool = True

    @property
    def is_healthy(self) -> bool:
        return self.health in {ComponentHealth.OK, ComponentHealth.OFF}

    @property
    def failed(self) -> bool:
        return self.required and not self.is_healthy


@dataclass(frozen=True, slots=True)
class Repairs:
    """Commands that repair components; `{}` stands for what is missing."""

    debian: str
    python: str
    service: str
    models: str
    migrate: str
    api: str


INSTALLED = Repairs(
    debian="apt-get install --yes {}",
    python="pip install {}",
    service="docker compose up --detach {}",
    models="cutroom-server models pull {}",
    migrate="alembic upgrade head",
    api="cutroom-api",
)
CHECKOUT = Repairs(
    debian="dev/bootstrap",
    python="uv sync --all-extras",
    service="just services",
    models="just models {}",
    migrate="just migrate",
    api="just dev",
)


def find_version(text: str) -> str:
    """The first version number in the output of a program."""
    found = _VERSION.search(text)
    return found[0] if found else ""


def print_table(components: Sequence[Component]) -> None:
    rows = [("component", "version", "health", "where", "fix")]
    for each in components:
        health = each.health if each.required or each.is_healthy else f"{each.health} (optional)"
        rows.append((each.name, each.version, health, each.where, "" if each.is_healthy else each.fix))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
