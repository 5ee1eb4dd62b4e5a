"""Starts drivers and speaks to them."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.environment import PROJECT

TYPESCRIPT = PROJECT / "clients" / "typescript" / "proof" / "driver.mjs"
ANSWER_SECONDS = 600.0
LINE_BYTES = 2**26


@dataclass(frozen=True, slots=True)
class Kind:
    """A client and the command of its driver."""

    name: str
    command: Sequence[str]


def kinds() -> list[Kind]:
    """The clients that can be driven here."""
    found = [Kind("python", (sys.executable, "-m", "proofs.clients.python_driver"))]
    node = shutil.which("node", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if TYPESCRIPT.exists() and node is not None:
        found.append(Kind("typescript", (node, str(TYPESCRIPT))))
    return found


@dataclass(frozen=True, slots=True)
class Driver:
    """A running driver."""

    process: asyncio.subprocess.Process

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The response to a request, within ten minutes."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        line = await asyncio.wait_for(self.process.stdout.readline(), ANSWER_SECONDS)
        if not line:
            raise EOFError("the driver ended")
        response: dict[str, Any] = json.loads(line)
        return response


@asynccontextmanager
async def driver(kind: Kind, port: int, key: str, state: Path) -> AsyncIterator[Driver]:
    """A driver whose client uses the proxy at a port; killed at the end if it still runs."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("CUTROOM_")}
    variables |= {
        "CUTROOM_API_KEY": key,
        "CUTROOM_BASE_URL": f"http://127.0.0.1:{port}",
        "CUTROOM_STATE_DIR": str(state),
    }
    process = await asyncio.create_subprocess_exec(
        *kind.command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=variables,
        cwd=PROJECT,
        limit=LINE_BYTES,
    )
    try:
        yield Driver(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
