"""Starting, recognising and ending the operating-system process behind a service."""

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
    """A service cannot do what was asked; the message says what to do about it."""


def nothing() -> None:
    """Stands for a step that a service does not need."""


@dataclass(frozen=True)
class Service:
    """How one service is run: its command, and what to do before it starts, once it answers and when it has ended."""

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
    """What the pid file says: which process, run with which settings, and whether it has been configured."""

    pid: int
    birth: str
    fingerprint: str
    ready: bool = False


def birth(pid: int) -> str | None:
    """Tell apart two processes that had the same pid; None when there is none, or only a zombie.

    Ticks since boot do not move when the clock is set, unlike a start time of day.
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
    """Return the record of a process that still runs."""
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
    """Start the service in a session of its own, so that it outlives the command that started it."""
    program = shutil.which(service.command[0])
    if program is None:
        raise ServiceError(f"{service.command[0]} is not installed: run dev/bootstrap")
    # An outgoing connection may hold the port for a moment: it lies in the range the kernel picks from.
    if not wait_until(lambda: port_is_free(service.port), seconds=PORT_SECONDS):
        raise ServiceError(f"port {service.port} is used by another program: end it, or set CUTROOM_PORT_BASE")
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".old.log"))
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    # A Popen object would warn when it is collected while its process still runs; spawn keeps none.
    return os.posix_spawn(
        program,
        service.command,
        # Nothing of the caller's environment may change how a service behaves.
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
    """Signal the process and wait for its end; False when it still runs after that time."""
    if not alive(record):
        return True
    os.kill(record.pid, by)
    return wait_until(lambda: _gone(record), seconds=seconds)


def _gone(record: Record) -> bool:
    with suppress(ChildProcessError):
        os.waitpid(record.pid, os.WNOHANG)  # a child of this very process would stay as a zombie
    return not alive(record)
