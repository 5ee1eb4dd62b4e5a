"""Checks this installation as the environment configures it."""

import asyncio
import sys
from collections.abc import Mapping

from pydantic import ValidationError

from cutroom.entrypoints.doctor.component import INSTALLED, Component, ComponentHealth, Repairs, print_table
from cutroom.entrypoints.doctor.files import check_files
from cutroom.entrypoints.doctor.programs import check_programs
from cutroom.entrypoints.doctor.services import check_services
from cutroom.platform.settings import Settings

# Values for the settings that every installation must choose.
EXAMPLES: Mapping[str, str] = {
    "database_url": "postgresql://cutroom_api:PASSWORD@HOST:5432/cutroom",
    "redis_url": "redis://:PASSWORD@HOST:6379/0",
    "secret_key": "$(openssl rand -hex 32)",
}


def main() -> int:
    components = check()
    print_table(components)
    return int(any(component.failed for component in components))


def check(repairs: Repairs = INSTALLED) -> list[Component]:
    """Checks everything that the settings select; without valid settings, the settings."""
    version = ".".join(map(str, sys.version_info[:3]))
    python = Component("python", ComponentHealth.OK, version, where=sys.executable)
    try:
        settings = Settings()
    except ValidationError as error:
        return [python, *(_setting(str(each["loc"][0]), is_set=each["type"] != "missing") for each in error.errors())]
    return [python, *asyncio.run(_check_all(settings, repairs))]


async def _check_all(settings: Settings, repairs: Repairs) -> list[Component]:
    programs, files, services = await asyncio.gather(
        check_programs(settings, repairs=repairs),
        check_files(settings, repairs=repairs),
        check_services(settings, repairs=repairs),
    )
    return [*programs, *files, *services]


def _setting(name: str, *, is_set: bool) -> Component:
    variable = f"CUTROOM_{name.upper()}"
    fix = f"export {variable}={EXAMPLES.get(name, '…')}" if name in EXAMPLES or not is_set else f"unset {variable}"
    return Component(
        variable, ComponentHealth.UNHEALTHY if is_set else ComponentHealth.MISSING, where="environment", fix=fix
    )
