"""Runs all of Cutroom on this machine: services, migrations, then API and worker with merged logs."""

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dev.environment import PROJECT
from dev.logs import Renderer
from dev.services import control
from dev.services.process import ServiceError

PROGRAMS = {"api": "cutroom.entrypoints.api", "worker": "cutroom.entrypoints.worker"}
STOP_SECONDS = 40.0  # both have a graceful shutdown of 30 s
LINE_LIMIT_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Child:
    name: str
    process: Process
    renderer: Renderer

    async def relay(self) -> None:
        """Prints its output until it exits."""
        assert self.process.stdout is not None
        while True:
            try:
                line = await self.process.stdout.readline()
            except ValueError:  # raised for a line over the limit, which is discarded
                line = f"(a line over {LINE_LIMIT_BYTES} bytes)\n".encode()
            if not line:
                break
            print(self.renderer.render(line.decode(errors="replace").rstrip("\n")), flush=True)
        await self.process.wait()

    def send(self, number: signal.Signals) -> None:
        if self.process.returncode is None:
            self.process.send_signal(number)


def main() -> int:
    try:
        control.start_all(print)
    except ServiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    variables = os.environ | control.environment() | {"PYTHONUNBUFFERED": "1"}
    migration = (sys.executable, "-m", "alembic", "upgrade", "head")
    if subprocess.run(migration, env=variables, cwd=PROJECT, check=False).returncode != 0:
        print("error: the migration failed; nothing was started", file=sys.stderr)
        return 1
    return asyncio.run(run(PROGRAMS, variables))


async def run(programs: Mapping[str, str], variables: Mapping[str, str]) -> int:
    """Runs the programs until one exits or the user interrupts; then stops the rest."""
    interrupts: asyncio.Queue[None] = asyncio.Queue()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, interrupts.put_nowait, None)
    children = [await start(name, module, variables) for name, module in programs.items()]
    relays = [asyncio.create_task(child.relay()) for child in children]
    interrupted = asyncio.create_task(interrupts.get())
    await asyncio.wait([interrupted, *relays], return_when=asyncio.FIRST_COMPLETED)
    exited = [child for child, relay in zip(children, relays, strict=True) if relay.done()]
    for child in exited:
        print(f"{child.name} exited with code {child.process.returncode}: stopping the rest", flush=True)
    interrupted.cancel()
    await stop(children, relays, interrupts=interrupts)
    return 1 if exited else 0


async def start(name: str, module: str, variables: Mapping[str, str]) -> Child:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module),
        env=dict(variables),
        cwd=PROJECT,
        stdout=PIPE,
        stderr=STDOUT,
        limit=LINE_LIMIT_BYTES,
        start_new_session=True,  # otherwise Ctrl-C would also be sent to the child
    )
    colored = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return Child(name, process, renderer=Renderer(name, colored=colored))


async def stop(
    children: Sequence[Child], relays: Sequence[asyncio.Task[None]], *, interrupts: asyncio.Queue[None]
) -> None:
    """Terminates the children; kills them after a timeout or a second Ctrl-C."""
    for child in children:
        child.send(signal.SIGTERM)
    second_interrupt = asyncio.create_task(interrupts.get())
    finished = asyncio.create_task(_gather(relays))
    await asyncio.wait([second_interrupt, finished], timeout=STOP_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    for child in children:
        child.send(signal.SIGKILL)
    await finished
    second_interrupt.cancel()


async def _gather(relays: Sequence[asyncio.Task[None]]) -> None:
    await asyncio.gather(*relays)


if __name__ == "__main__":
    sys.exit(main())
