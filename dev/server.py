"""An HTTP server of ours in a process of its own, which tests may kill."""

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

START_SECONDS = 120.0  # on a machine that does everything at once; one that has ended is noticed at once
API_MODULE = "cutroom.entrypoints.api"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@dataclass
class Server:
    """A module that serves HTTP when run; it is ready when it answers anything at all."""

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
        self.process = subprocess.Popen(
            [sys.executable, *self.arguments], env=variables, stdout=self.log, stderr=self.log
        )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{self.read_log()}")
            time.sleep(0.03)

    def _answers(self) -> bool:
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
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, by: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(by)
            self.process.wait(timeout=40)
