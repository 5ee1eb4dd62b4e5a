"""Runs one of our HTTP servers in its own process, which tests may kill."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dev.child_process import end_child, start_child

START_SECONDS = 600.0  # generous for a loaded machine: a process that exits is noticed immediately
STOP_SECONDS = 40.0
API_MODULE = "cutroom.entrypoints.api"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@dataclass
class Server:
    """A module that serves HTTP when run; ready as soon as it returns any response."""

    environment: Mapping[str, str]
    arguments: Sequence[str] = ("-m", API_MODULE)
    port: int = field(default_factory=free_port)
    log: int = field(default_factory=lambda: os.memfd_create("server-log"))
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        variables = {**self.environment, "CUTROOM_API_PORT": str(self.port)}
        self.process = start_child([sys.executable, *self.arguments], environment=variables, output=self.log)
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"server did not start:\n{self.read_log()}")
            time.sleep(0.03)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/v1/health", timeout=1):  # noqa: S310 (our own loopback)
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False

    def read_log(self) -> str:
        return os.pread(self.log, 10_000_000, 0).decode(errors="replace")

    def wait(self, seconds: float = 30.0) -> int:
        assert self.process is not None
        return self.process.wait(timeout=seconds)

    def kill(self) -> None:
        """Kill the process with SIGKILL, as a power cut would."""
        end_child(self.process, signal.SIGKILL, seconds=STOP_SECONDS)

    def stop(self) -> None:
        if not end_child(self.process, signal.SIGTERM, seconds=STOP_SECONDS):
            raise RuntimeError(f"server did not stop within {STOP_SECONDS:.0f} s:\n{self.read_log()}")
