"""Checks a source checkout: the tools and servers of developers, then everything that Cutroom uses."""

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from cutroom.entrypoints.doctor.command import check
from cutroom.entrypoints.doctor.component import CHECKOUT, Component, print_table
from cutroom.entrypoints.doctor.programs import Program, check_program
from cutroom.platform.process.exit import run_and_exit
from dev import environment as env
from dev.probe import CHROMIUM, program_beside_python
from dev.services import postgres
from dev.services.process import ServiceError

SETUP = CHECKOUT.debian


def main() -> int:
    # As for every process, variables that are set take precedence over those of the local services.
    os.environ.update({name: value for name, value in env.read().variables().items() if name not in os.environ})
    components = [*asyncio.run(_check_tools()), *check(CHECKOUT)]
    print_table(components)
    return int(any(component.failed for component in components))


async def _check_tools() -> list[Component]:
    return list(await asyncio.gather(*map(check_program, _tools())))


def _tools() -> Iterator[Program]:
    """What the recipes and proofs run beside the product: servers, and a browser for the console."""
    yield Program("uv", _in_path("uv"), ("--version",), "python3 -m pip install uv")
    yield Program("just", _in_path("just"), ("--version",), "python3 -m pip install rust-just")
    yield Program("postgres", _postgres(), ("--version",), SETUP)
    yield Program("redis-server", _in_path("redis-server"), ("--version",), SETUP)
    yield Program("temporal", program_beside_python("temporal"), ("--version",), CHECKOUT.python)
    yield Program("weed", program_beside_python("weed"), ("version",), CHECKOUT.python)
    yield Program("chromium", CHROMIUM, ("--version",), SETUP, required=False)


def _in_path(name: str) -> Path:
    return Path(shutil.which(name) or name)


def _postgres() -> Path:
    try:
        return postgres.find_programs() / "postgres"
    except ServiceError:
        return Path("postgres")


if __name__ == "__main__":
    run_and_exit(lambda: sys.exit(main()))
