"""The processes of one version: API, worker, migrations and commands, each with its own source and packages."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from dev.child_process import end_child, start_child
from dev.environment import PROJECT
from dev.releases import Installation
from dev.server import API_MODULE, free_port

START_SECONDS = 600.0  # for a loaded machine: a process that exits is noticed immediately
STOP_SECONDS = 300.0  # workers of 0.1.0 stop one queue after another, each within 30 s
COMMAND_SECONDS = 300.0
POLL_SECONDS = 0.05
WORKER = PROJECT / "proofs" / "stage" / "loopback_worker.py"
WORKER_READY = '"worker ready"'
# Runs several commands in one process: loading the product takes longer than they do.
# Threads of Temporal's client that still release their objects would abort an interpreter that is being finalized.
COMMANDS = """
import json, os, sys
from cutroom.entrypoints.cli import app
for command in json.load(sys.stdin):
    app(command, standalone_mode=False)
    print("\\0", end="", flush=True)
os._exit(0)
"""


@dataclass
class VersionProcess:
    """A process of one version, started and stopped as a supervisor would."""

    command: Sequence[str]
    variables: Mapping[str, str]
    log: int = field(default_factory=lambda: os.memfd_create("version-log"))
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = start_child(self.command, environment=self.variables, output=self.log)

    def read_log(self) -> str:
        return os.pread(self.log, 50_000_000, 0).decode(errors="replace")

    async def drain(self) -> float:
        """Asks it to stop and waits; returns the seconds. Raises if it had to be killed or ended with an error."""
        clock = asyncio.get_running_loop()
        started = clock.time()
        assert self.process is not None
        ended = await asyncio.to_thread(end_child, self.process, signal.SIGTERM, seconds=STOP_SECONDS)
        if not ended or self.process.returncode not in {0, -signal.SIGTERM}:
            raise RuntimeError(f"{self.command} ended with {self.process.returncode}\n{self.read_log()[-3000:]}")
        return clock.time() - started

    def kill(self) -> None:
        end_child(self.process, signal.SIGKILL, seconds=STOP_SECONDS)

    async def wait_for_log(self, text: str) -> None:
        async with asyncio.timeout(START_SECONDS):
            while text not in self.read_log():
                self.check()
                await asyncio.sleep(POLL_SECONDS)

    def check(self) -> None:
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.command} ended while starting\n{self.read_log()[-3000:]}")


@dataclass
class Version:
    """A version of Cutroom on the services of the proof."""

    installation: Installation
    settings: Mapping[str, str]
    running: list[VersionProcess] = field(default_factory=list)

    @property
    def variables(self) -> dict[str, str]:
        # Compiled bytecode is kept: each process would compile the whole product again.
        return {**self.installation.variables(self.settings), "PYTHONDONTWRITEBYTECODE": ""}

    async def start_api(self) -> tuple[VersionProcess, int]:
        """The process and its port, as soon as it responds."""
        port = free_port()
        command = (str(self.installation.python), "-m", API_MODULE)
        api = self._start(command, {"CUTROOM_API_PORT": str(port)})
        async with asyncio.timeout(START_SECONDS), httpx.AsyncClient() as client:
            while True:
                try:
                    (await client.get(f"http://127.0.0.1:{port}/v1/health")).raise_for_status()
                except httpx.HTTPError:
                    api.check()
                    await asyncio.sleep(POLL_SECONDS)
                else:
                    return api, port

    async def start_worker(self) -> VersionProcess:
        worker = self._start((str(self.installation.python), str(WORKER)), {})
        await worker.wait_for_log(WORKER_READY)
        return worker

    async def migrate(self) -> None:
        await self._run(["-m", "alembic", "upgrade", "head"])

    async def command(self, *commands: Sequence[str]) -> list[dict[str, Any]]:
        """Runs commands of `cutroom-server`; returns what each printed."""
        printed = await self._run(["-c", COMMANDS], json.dumps(commands).encode())
        return [json.loads(each) for each in printed.split("\0")[:-1]]

    def stop_all(self) -> None:
        for process in self.running:
            process.kill()

    def _start(self, command: Sequence[str], variables: Mapping[str, str]) -> VersionProcess:
        process = VersionProcess(command, {**self.variables, **variables})
        self.running.append(process)
        process.start()
        return process

    async def _run(self, arguments: Sequence[str], stdin: bytes = b"") -> str:
        process = await asyncio.create_subprocess_exec(
            str(self.installation.python),
            *arguments,
            cwd=self.installation.folder,
            env=self.variables,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(COMMAND_SECONDS):
            output, errors = await process.communicate(stdin)
        if process.returncode != 0:
            raise RuntimeError(f"{arguments} of {self.installation.version} failed\n{errors.decode()[-3000:]}")
        return output.decode()
