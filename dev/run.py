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
STOP_SECONDS = 40.0  # both let work under way finish for 30 s
LINE_LIMIT_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Child:
    name: str
    process: Process
    renderer: Renderer

    async def relay(self) -> None:
        """Print what it says until it ends."""
        assert self.process.stdout is not None
        while True:
            try:
                line = await self.process.stdout.readline()
            except ValueError:  # asyncio's word for a line over the limit, which it has thrown away
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
    """Run every program until one ends or the user asks to stop; then stop the rest."""
    interrupts: asyncio.Queue[None] = asyncio.Queue()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, interrupts.put_nowait, None)
    children = [await start(name, module, variables) for name, module in programs.items()]
    relays = [asyncio.create_task(child.relay()) for child in children]
    asked = asyncio.create_task(interrupts.get())
    await asyncio.wait([asked, *relays], return_when=asyncio.FIRST_COMPLETED)
    died = [child for child, relay in zip(children, relays, strict=True) if relay.done()]
    for child in died:
        print(f"{child.name} ended with code {child.process.returncode}: stopping the rest", flush=True)
    asked.cancel()
    await stop(children, relays, interrupts=interrupts)
    return 1 if died else 0


async def start(name: str, module: str, variables: Mapping[str, str]) -> Child:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module),
        env=dict(variables),
        cwd=PROJECT,
        stdout=PIPE,
        stderr=STDOUT,
        limit=LINE_LIMIT_BYTES,
        start_new_session=True,  # else Ctrl-C would reach it beside us, and twice
    )
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return Child(name, process, renderer=Renderer(name, coloured=coloured))


async def stop(
    children: Sequence[Child], relays: Sequence[asyncio.Task[None]], *, interrupts: asyncio.Queue[None]
) -> None:
    """Ask every child to end; end at once those that do not in time, or at a second Ctrl-C."""
    for child in children:
        child.send(signal.SIGTERM)
    impatience = asyncio.create_task(interrupts.get())
    finished = asyncio.create_task(_all_of(relays))
    await asyncio.wait([impatience, finished], timeout=STOP_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    for child in children:
        child.send(signal.SIGKILL)
    await finished
    impatience.cancel()


async def _all_of(relays: Sequence[asyncio.Task[None]]) -> None:
    await asyncio.gather(*relays)


if __name__ == "__main__":
    sys.exit(main())
