"""Starts and stops Cutroom's own PostgreSQL, Redis, Temporal and SeaweedFS, without containers."""

import argparse
import hashlib
import shutil
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from dev import environment as env
from dev.environment import HOST, Settings
from dev.services import postgres, redis, seaweedfs, temporal
from dev.services.process import (
    Record,
    Service,
    ServiceError,
    alive,
    birth,
    end,
    launch,
    mark_ready,
    read_record,
    wait_until,
    write_record,
)

START_SECONDS = 600.0  # for a loaded machine: a process that exits is noticed immediately
KILL_SECONDS = 10.0

BUILDERS: dict[str, Callable[[Settings], Service]] = {
    "postgres": postgres.service,
    "redis": redis.service,
    "temporal": temporal.service,
    "seaweedfs": seaweedfs.service,
}
NAMES = tuple(BUILDERS)


@dataclass(frozen=True)
class Report:
    """Outcome of an action on a service, or its current state."""

    name: str
    state: str
    port: int
    pid: int | None
    seconds: float

    def __str__(self) -> str:
        pid = f"pid {self.pid}" if self.pid else ""
        return f"{self.name:<10} {self.state:<16} {HOST}:{self.port}  {pid:<12} {self.seconds:5.1f} s"


def environment() -> dict[str, str]:
    """Return the variables Cutroom's processes need to reach the services."""
    return env.load().variables()


def start_all(report: Callable[[Report], None] = lambda _: None) -> list[Report]:
    """Starts the stopped services concurrently and waits until all are healthy."""
    settings = env.load()
    with env.locked("services"):
        return _each(lambda name: _start(name, settings), report)


def start(name: str) -> Report:
    settings = env.load()
    with env.locked("services"):
        return _start(name, settings)


def stop_all(report: Callable[[Report], None] = lambda _: None) -> list[Report]:
    settings = env.load()
    with env.locked("services"):
        return _each(lambda name: _stop(name, settings), report)


def stop(name: str) -> Report:
    settings = env.load()
    with env.locked("services"):
        return _stop(name, settings)


def kill(name: str) -> Report:
    """Kills a service with SIGKILL, as a power cut would; `start` must recover it."""
    settings = env.load()
    with env.locked("services"):
        return _end(BUILDERS[name](settings), settings, by=signal.SIGKILL)


def status(name: str) -> Report:
    """Reports whether a service is running and healthy."""
    started = time.monotonic()
    settings = env.load()
    service = BUILDERS[name](settings)
    record = read_record(_pid_file(name, settings))
    state = "stopped" if record is None else "healthy" if service.healthy() else "unhealthy"
    pid = record.pid if record else None
    return Report(name, state, port=service.port, pid=pid, seconds=time.monotonic() - started)


def wipe() -> None:
    """Stop everything and delete all data and secrets of the services."""
    stop_all()
    folder = env.data_dir()
    with env.locked("services"):
        for path in (postgres.home(folder), *(folder / name for name in (*NAMES, "run", "logs"))):
            shutil.rmtree(path, ignore_errors=True)
        env.environment_file().unlink(missing_ok=True)


def _each(action: Callable[[str], Report], report: Callable[[Report], None]) -> list[Report]:
    """Runs the action for every service concurrently; a failure does not affect the others."""
    with ThreadPoolExecutor(len(NAMES)) as pool:
        futures = [pool.submit(action, name) for name in NAMES]
        for future in as_completed(futures):
            if future.exception() is None:
                report(future.result())
    return [future.result() for future in futures]


def _start(name: str, settings: Settings) -> Report:
    started = time.monotonic()
    service = BUILDERS[name](settings)
    pid_file, log = _pid_file(name, settings), settings.data_dir / "logs" / f"{name}.log"
    record, state = read_record(pid_file), "already running"
    fingerprint = _fingerprint(service, settings)
    if record is not None and record.fingerprint != fingerprint:
        _end(service, settings, by=service.stop_signal)  # its settings have changed
        record = None
    if record is None:
        service.prepare()
        pid, state = launch(service, home=settings.data_dir, log=log), "started"
        record = Record(pid, birth(pid) or "", fingerprint=fingerprint)
        write_record(pid_file, record)
    _await_health(service, record, log)
    if not record.ready:
        service.configure()
        mark_ready(pid_file, record)
    return Report(name, state, port=service.port, pid=record.pid, seconds=time.monotonic() - started)


def _fingerprint(service: Service, settings: Settings) -> str:
    parameters = (service.command, settings.port_base, settings.secrets)
    return hashlib.sha256(repr(parameters).encode()).hexdigest()[:16]


def _await_health(service: Service, record: Record, log: Path) -> None:
    if not wait_until(lambda: not alive(record) or service.healthy(), seconds=START_SECONDS):
        raise ServiceError(f"{service.name} is not healthy after {START_SECONDS:.0f} s: see {log}")
    if not alive(record):
        raise ServiceError(f"{service.name} ended while starting: see {log}")


def _stop(name: str, settings: Settings) -> Report:
    service = BUILDERS[name](settings)
    return _end(service, settings, by=service.stop_signal)


def _end(service: Service, settings: Settings, *, by: signal.Signals) -> Report:
    started = time.monotonic()
    pid_file = _pid_file(service.name, settings)
    record = read_record(pid_file)
    state = "not running" if record is None else "killed" if by is signal.SIGKILL else "stopped"
    if record is not None and not end(record, by=by, seconds=service.stop_seconds):
        end(record, by=signal.SIGKILL, seconds=KILL_SECONDS)
    service.tidy()
    pid_file.unlink(missing_ok=True)
    pid = record.pid if record else None
    return Report(service.name, state, port=service.port, pid=pid, seconds=time.monotonic() - started)


def _pid_file(name: str, settings: Settings) -> Path:
    return settings.data_dir / "run" / f"{name}.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dev.services", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    for action in ("start", "stop", "status", "wipe"):
        actions.add_parser(action)
    actions.add_parser("kill").add_argument("name", choices=NAMES)
    arguments = parser.parse_args()
    try:
        return _act(arguments)
    except ServiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _act(arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "start":
            start_all(print)
        case "stop":
            stop_all(print)
        case "kill":
            print(kill(arguments.name))
        case "wipe":
            wipe()
        case "status":
            reports = list(map(status, NAMES))
            print(*reports, sep="\n")
            return int(any(report.state != "healthy" for report in reports))
    return 0
