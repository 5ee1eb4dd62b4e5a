"""The API processes, publishers and readers of the proof, and what is killed of them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from dev.child_process import end_child, start_child
from dev.server import API_MODULE, START_SECONDS, STOP_SECONDS, Server
from dev.services import control
from proofs.events.publisher import PublishingPlan
from proofs.events.reader import ReadingPlan

API_PROCESSES = 4
MEBIBYTE = 1024 * 1024


@dataclass(slots=True)
class Fleet:
    """API processes of one installation."""

    servers: list[Server]

    @classmethod
    def start(cls, environment: Mapping[str, str]) -> "Fleet":
        """All at once: each needs seconds of one core to import its code."""
        fleet = cls([Server(environment) for _ in range(API_PROCESSES)])
        for server in fleet.servers:
            launch(server)
        fleet.await_ready()
        return fleet

    def await_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        for server in self.servers:
            while not _responds(server):
                if server.process is None or server.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"an API process did not start:\n{server.read_log()}")
                time.sleep(0.05)

    @property
    def urls(self) -> list[str]:
        return [each.url for each in self.servers]

    def restart(self, number: int) -> None:
        """Kill a process with SIGKILL, and start it again without waiting for it."""
        self.servers[number].kill()
        launch(self.servers[number])

    def cpu_seconds(self) -> float:
        times = [psutil.Process(each.pid).cpu_times() for each in self.servers]
        return sum(each.user + each.system for each in times)

    def memory_mb(self) -> list[float]:
        return [psutil.Process(each.pid).memory_info().rss / MEBIBYTE for each in self.servers]

    def stop(self) -> None:
        for server in self.servers:
            server.stop()


def launch(server: Server) -> None:
    """Start an API process without waiting for it."""
    variables = {**server.environment, "CUTROOM_API_PORT": str(server.port)}
    server.process = start_child([sys.executable, "-m", API_MODULE], environment=variables, output=server.log)


def _responds(server: Server) -> bool:
    try:
        return httpx.get(f"{server.url}/v1/health", timeout=1, trust_env=False).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def restart_service(name: str) -> None:
    """As after a power cut."""
    control.kill(name)
    control.start(name)


@dataclass(slots=True)
class Child:
    """A publisher or reader process, and the file that it writes."""

    process: "subprocess.Popen[bytes]"
    output: Path
    log: int

    @classmethod
    def start(cls, module: str, plan: object, output: Path, *, environment: Mapping[str, str]) -> "Child":
        log = os.memfd_create("child-log")
        command = [sys.executable, "-m", f"proofs.events.{module}", json.dumps(plan), str(output)]
        return cls(start_child(command, environment=environment, output=log), output, log)

    def wait(self, seconds: float) -> None:
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"a child did not end:\n{self._tail()}") from error
        if code != 0:
            raise RuntimeError(f"a child failed:\n{self._tail()}")

    def await_file(self, suffix: str, *, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self.output.with_suffix(suffix).exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"a child did not get ready:\n{self._tail()}")
            time.sleep(0.05)

    def _tail(self) -> str:
        return os.pread(self.log, 1_000_000, 0).decode(errors="replace")[-3000:]

    def end(self) -> None:
        end_child(self.process, signal.SIGTERM, seconds=STOP_SECONDS)


def start_publishers(plans: Sequence[PublishingPlan], folder: Path, environment: Mapping[str, str]) -> list[Child]:
    return [
        Child.start("publisher", asdict(plan), folder / f"published-{plan.seed}.jsonl", environment=environment)
        for plan in plans
    ]


def start_readers(plans: Sequence[ReadingPlan], folder: Path, environment: Mapping[str, str]) -> list[Child]:
    return [
        Child.start("reader", asdict(plan), folder / f"received-{plan.seed}.jsonl", environment=environment)
        for plan in plans
    ]


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]
