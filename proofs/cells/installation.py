"""Two cells on one machine, each with its own services, API and worker, and the router in front of them."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from cutroom.cells.directory import Directory
from cutroom.platform.db import register_json_codec
from cutroom.platform.settings import Settings
from dev.child_process import end_child, start_child
from dev.environment import port_base
from dev.scratch import GENEROUS_PLANS, Accounts, migrate
from dev.server import Server, free_port
from dev.services import control
from proofs.stage.loopback_worker import CERTIFICATE
from tests.support.stage import WorkerProcess

NAMES = ("red", "blue")
PORT_OFFSETS = {"red": 100, "blue": 200}  # from the base port
TOKEN = "token-of-the-router-in-the-proof-of-cells"  # noqa: S105 (of processes of this proof only)
DIRECTORY = "cutroom_directory"
QUEUES = "control,media,speech,voice,egress,download"  # every import requests a transcript
COMMAND_SECONDS = 900.0  # generous for a loaded machine
WORKER_MODULE = "proofs.stage.loopback_worker"
ROUTER_MODULE = "cutroom.entrypoints.router"
COMMANDS = "cutroom.entrypoints.cell_commands"
STOP_SECONDS = 60.0

_SERVICES: dict[str, "CellServices"] = {}


@dataclass(frozen=True, slots=True)
class CellServices:
    """The services of a cell, in a folder of their own."""

    folder: Path
    port_base: int

    @contextmanager
    def selected(self) -> Iterator[None]:
        """`dev.services.control` acts on the services that the environment names."""
        names = {"CUTROOM_DATA_DIR": str(self.folder), "CUTROOM_PORT_BASE": str(self.port_base)}
        previous = {name: os.environ.get(name) for name in names}
        os.environ.update(names)
        try:
            yield
        finally:
            for name, value in previous.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


@contextmanager
def two_sets_of_services() -> Iterator[None]:
    base = port_base()
    try:
        for name in NAMES:
            folder = Path(tempfile.mkdtemp(prefix=f"cutroom-{name}-"))
            folder.chmod(0o755)  # PostgreSQL runs as another user when we are root
            services = _SERVICES[name] = CellServices(folder, base + PORT_OFFSETS[name])
            with services.selected():
                control.start_all()
        yield
    finally:
        for services in _SERVICES.values():
            with services.selected():
                control.wipe()
            shutil.rmtree(services.folder, ignore_errors=True)


@dataclass
class CellProcesses:
    """A cell as an operator runs it."""

    name: str
    services: CellServices
    variables: Mapping[str, str]
    api: Server
    worker: WorkerProcess
    accounts: Accounts

    @property
    def database(self) -> "asyncpg.Connection[asyncpg.Record]":
        return self.accounts.connection

    async def kill(self) -> None:
        """All of it at once, as if its machine had failed."""
        self.api.kill()
        self.worker.kill()
        with self.services.selected():
            for name in control.NAMES:
                control.kill(name)


@dataclass
class Cells:
    """The installation."""

    cells: Mapping[str, CellProcesses]
    router: Server
    directory: Directory
    variables: Mapping[str, str]  # of the commands that manage cells
    commands: list["CellCommand"] = field(default_factory=list)

    def command(self, *arguments: str) -> "CellCommand":
        # Without the other commands of `cutroom-server`, whose modules take longer to load than a move.
        command = [sys.executable, "-m", COMMANDS, *arguments]
        started = CellCommand(command, self.variables)
        self.commands.append(started)
        started.start()
        return started


@dataclass
class CellCommand:
    """A `cutroom-server cells` command, which a proof may kill."""

    command: list[str]
    variables: Mapping[str, str]
    log: int = field(default_factory=lambda: os.memfd_create("cells-log"))
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = start_child(self.command, environment=self.variables, output=self.log)

    @property
    def has_ended(self) -> bool:
        assert self.process is not None
        return self.process.poll() is not None

    def kill(self) -> None:
        end_child(self.process, signal.SIGKILL, seconds=STOP_SECONDS)

    def read_log(self) -> str:
        return os.pread(self.log, 1_000_000, 0).decode(errors="replace")

    async def succeed(self) -> None:
        """Wait for its end; raise unless it succeeded."""
        assert self.process is not None
        code = await asyncio.to_thread(self.process.wait, COMMAND_SECONDS)
        if code != 0:
            raise RuntimeError(f"{self.command} ended with {code}\n{self.read_log()[-4000:]}")


@asynccontextmanager
async def open_cells(folder: Path, *, certificate: Path) -> AsyncIterator[Cells]:
    cells_dir, router_port = folder / "cells", free_port()
    cells_dir.mkdir()
    with _SERVICES[NAMES[0]].selected():
        first = control.environment()
    async with AsyncExitStack() as stack:
        cells: dict[str, CellProcesses] = {}
        for name in NAMES:
            with _SERVICES[name].selected():
                variables = _variables(control.environment(), first, folder / name, router_port=router_port)
            (cells_dir / f"{name}.env").write_text("".join(f"{key}={value}\n" for key, value in variables.items()))
            cells[name] = await _prepare(name, {**variables, CERTIFICATE: str(certificate)})
            stack.push_async_callback(cells[name].accounts.close)
        await asyncio.gather(
            *(asyncio.to_thread(migrate, each.variables["CUTROOM_OWNER_DATABASE_URL"]) for each in cells.values())
        )
        directory_url = await _create_directory_database(first["CUTROOM_OWNER_DATABASE_URL"])
        directory = await stack.enter_async_context(Directory.open(directory_url))
        await directory.create_schema()
        manage = {
            **_inherited(),
            "CUTROOM_DIRECTORY_URL": directory_url,
            "CUTROOM_CELLS_DIR": str(cells_dir),
            "CUTROOM_CELL_TOKEN": TOKEN,
            "CUTROOM_ROUTER_PORT": str(router_port),
        }
        router = Server(manage, arguments=("-m", ROUTER_MODULE), port=router_port)
        installation = Cells(cells, router, directory, manage)
        try:
            for each in cells.values():
                await directory.add_cell(each.name, each.api.url)
                each.worker.start()
            servers = [each.api for each in cells.values()]
            await asyncio.gather(*(asyncio.to_thread(each.start) for each in (*servers, router)))
            yield installation
        except BaseException:
            for each in cells.values():
                print(each.name, each.api.read_log()[-3000:], each.worker.read_log()[-3000:], file=sys.stderr)
            print(router.read_log()[-3000:], file=sys.stderr)
            raise
        finally:
            for command in installation.commands:
                command.kill()
            router.kill()
            for each in cells.values():
                each.api.kill()
                each.worker.kill()


def _variables(own: dict[str, str], first: Mapping[str, str], folder: Path, *, router_port: int) -> dict[str, str]:
    del own["CUTROOM_METRICS_PORT"], own["CUTROOM_WORKER_METRICS_PORT"]
    return {
        **own,
        "CUTROOM_SECRET_KEY": first["CUTROOM_SECRET_KEY"],  # the cells are one installation
        "CUTROOM_CELL_TOKEN": TOKEN,
        "CUTROOM_PUBLIC_URL": f"http://127.0.0.1:{router_port}",
        "CUTROOM_TRUSTED_PROXIES": "127.0.0.1",
        "CUTROOM_CACHE_DIR": str(folder / "work"),
        "CUTROOM_WORKER_QUEUES": QUEUES,
        "CUTROOM_PLANS_FILE": str(GENEROUS_PLANS),
        "CUTROOM_ACCOUNT_REQUESTS_PER_MINUTE": "6000000",
        "CUTROOM_ACCOUNT_FREE_WORK_PER_DAY": "1000000",
        "CUTROOM_PREFLIGHT_SECONDS": "0",
        "CUTROOM_PLAYBACK": "off",
        "CUTROOM_TTS_ENGINES": "pico",
    }


def _inherited() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("CUTROOM_")}


async def _prepare(name: str, variables: dict[str, str]) -> CellProcesses:
    given = {key.removeprefix("CUTROOM_").lower(): value for key, value in variables.items() if "CUTROOM_" in key}
    defaults = {key: field.default for key, field in Settings.model_fields.items() if not field.is_required()}
    settings = Settings.model_validate({**defaults, **given})
    connection = await asyncpg.connect(variables["CUTROOM_OWNER_DATABASE_URL"])
    await register_json_codec(connection)
    environment = {**_inherited(), **variables}
    return CellProcesses(
        name,
        _SERVICES[name],
        environment,
        api=Server(environment),
        worker=WorkerProcess(environment, module=WORKER_MODULE),
        accounts=Accounts(settings, connection),
    )


async def _create_directory_database(owner_url: str) -> str:
    """Beside the first cell's database, which the proof does not kill."""
    connection = await asyncpg.connect(owner_url)
    try:
        await connection.execute(f"CREATE DATABASE {DIRECTORY}")
    finally:
        await connection.close()
    return owner_url.rpartition("/")[0] + f"/{DIRECTORY}"
