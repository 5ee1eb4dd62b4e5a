"""Starts, identifies and stops the operating system process of a service."""

import json
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from dev.environment import HOST

POLL_SECONDS = 0.05
PORT_SECONDS = 5.0
LOG_LIMIT_BYTES = 64 * 1024 * 1024


class ServiceError(Exception):
    """An action on a service failed; the message says what to do."""


def nothing() -> None:
    """Default for optional hooks."""


@dataclass(frozen=True)
class Service:
    """How to run one service: its command, health check, and hooks before start, after start and after stop."""

    name: str
    port: int
    command: tuple[str, ...]
    healthy: Callable[[], bool]
    prepare: Callable[[], None] = nothing
    configure: Callable[[], None] = nothing
    tidy: Callable[[], None] = nothing
    variables: Mapping[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 30.0


@dataclass(frozen=True)
class Record:
    """Content of the pid file: the process, a fingerprint of its settings, and whether it has been configured."""

    pid: int
    birth: str
    fingerprint: str
    ready: bool = False


def birth(pid: int) -> str | None:
    """Identifies a process beyond its pid, which may be reused; None if it does not exist or is a zombie.

    Ticks since boot are unaffected by clock changes.
    """
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, start_ticks = after_name[0], after_name[19]
    return None if state in "ZX" else f"{boot}:{start_ticks}"


def alive(record: Record) -> bool:
    return birth(record.pid) == record.birth


def read_record(path: Path) -> Record | None:
    """Returns the record if its process is still running."""
    try:
        values = json.loads(path.read_text())
        record = Record(values["pid"], values["birth"], fingerprint=values["fingerprint"], ready=values["ready"])
    except (FileNotFoundError, ValueError, KeyError):
        return None
    return record if alive(record) else None


def write_record(path: Path, record: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(asdict(record)))
    new.replace(path)


def mark_ready(path: Path, record: Record) -> None:
    write_record(path, replace(record, ready=True))


def launch(service: Service, *, home: Path, log: Path) -> int:
    """Starts the service in its own session, so that it outlives the command that started it."""
    program = shutil.which(service.command[0])
    if program is None:
        raise ServiceError(f"{service.command[0]} is not installed: run dev/bootstrap")
    # An outgoing connection may use the port briefly: it is in the ephemeral range.
    if not wait_until(lambda: port_is_free(service.port), seconds=PORT_SECONDS):
        raise ServiceError(f"port {service.port} is used by another program: stop it, or set CUTROOM_PORT_BASE")
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".old.log"))
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    # Popen warns when it is garbage-collected while its process is running; posix_spawn has no such object.
    return os.posix_spawn(
        program,
        service.command,
        # Services must not depend on the caller's environment.
        {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8", **service.variables},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), append, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=(signal.SIGPIPE, signal.SIGINT, signal.SIGTERM),
    )


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def wait_until(condition: Callable[[], bool], *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def end(record: Record, *, by: signal.Signals, seconds: float) -> bool:
    """Signals the process and waits for it to exit; returns False on timeout."""
    if not alive(record):
        return True
    os.kill(record.pid, by)
    return wait_until(lambda: _gone(record), seconds=seconds)


def _gone(record: Record) -> bool:
    with suppress(ChildProcessError):
        os.waitpid(record.pid, os.WNOHANG)  # reap it if it is our own child
    return not alive(record)
