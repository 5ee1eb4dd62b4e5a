"""The only module that starts subprocesses: bounded in time and output, and never left running."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

from opentelemetry import trace

from cutroom.platform.process.cpu_time import add_cpu_seconds

SIGNAL_OFFSET = 128  # shells and bubblewrap report death by signal as 128 + number
STDOUT_LIMIT_BYTES = 1024 * 1024
STDERR_TAIL_BYTES = 16 * 1024
STDERR_LIMIT_BYTES = 8 * 1024 * 1024  # some hundred thousand messages
LINE_LIMIT_BYTES = 8 * 1024
DETAIL_LIMIT_CHARACTERS = 500
CHUNK_BYTES = 64 * 1024
KILL_SECONDS = 10.0
PROGRESS_KEYS_LIMIT = 100
DAMAGED = "The file is damaged, or is not what it claims to be."

OnLine = Callable[[str], Awaitable[None]]
OnFraction = Callable[[float], None]

_tracer = trace.get_tracer(__name__)


class Reason(StrEnum):
    """Why a media operation failed."""

    NOT_A_FILE = "NOT_A_FILE"
    EMPTY = "EMPTY"
    UNSUPPORTED_FORMAT = "UNSUPPORTED_FORMAT"
    UNSUPPORTED_CODEC = "UNSUPPORTED_CODEC"
    NO_STREAMS = "NO_STREAMS"
    TOO_MANY_STREAMS = "TOO_MANY_STREAMS"
    PICTURE_TOO_LARGE = "PICTURE_TOO_LARGE"
    FRAME_RATE_TOO_HIGH = "FRAME_RATE_TOO_HIGH"
    TOO_MANY_CHANNELS = "TOO_MANY_CHANNELS"
    DURATION_UNKNOWN = "DURATION_UNKNOWN"
    TOO_LONG = "TOO_LONG"
    ENCRYPTED = "ENCRYPTED"
    TRUNCATED = "TRUNCATED"
    UNREADABLE = "UNREADABLE"
    OUT_OF_SYNC = "OUT_OF_SYNC"
    TOO_SLOW = "TOO_SLOW"
    TIMED_OUT = "TIMED_OUT"
    TOO_MUCH_MEMORY = "TOO_MUCH_MEMORY"
    TOO_MUCH_OUTPUT = "TOO_MUCH_OUTPUT"
    CRASHED = "CRASHED"
    DISK_FULL = "DISK_FULL"
    KILLED = "KILLED"
    TOOL_MISSING = "TOOL_MISSING"
    SANDBOX_UNAVAILABLE = "SANDBOX_UNAVAILABLE"


# Failures that may succeed later or on another machine; all others are caused by the file.
# TIMED_OUT is wall-clock time, which a busy machine can cause; TOO_SLOW is CPU time, which it cannot.
RETRYABLE = frozenset(
    {Reason.TIMED_OUT, Reason.DISK_FULL, Reason.KILLED, Reason.TOOL_MISSING, Reason.SANDBOX_UNAVAILABLE}
)


class MediaError(Exception):
    """A failed media operation: a reason code, a message for the user, and details for the log."""

    def __init__(self, reason: Reason, message: str, *, detail: str = "") -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message
        self.detail = detail[-DETAIL_LIMIT_CHARACTERS:]

    @property
    def retryable(self) -> bool:
        return self.reason in RETRYABLE


@dataclass(frozen=True, slots=True)
class FinishedProcess:
    """Result of a finished program; `stdout` is empty if its lines were streamed."""

    exit_code: int
    stdout: bytes
    stderr: str
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class InheritedFiles:
    """Open files that a program inherits: its stdin, and others under the same numbers."""

    stdin: int = subprocess.DEVNULL
    others: Sequence[int] = ()


class FfmpegProgress:
    """Parses the `key=value` lines of ffmpeg's `-progress pipe:1` and reports the fraction done after each block."""

    def __init__(
        self, length_seconds: float = 0.0, on_fraction: OnFraction | None = None, *, length_frames: int = 0
    ) -> None:
        """Counts frames instead of time if `length_frames` is given: with -copyts, ffmpeg's output time is unusable."""
        self.values: dict[str, str] = {}
        self._length_seconds = length_seconds
        self._length_frames = length_frames
        self._on_fraction = on_fraction

    @property
    def seconds(self) -> float:
        """Output written so far; ffmpeg prints N/A or a huge negative number before the first packet."""
        return max(0, self._integer("out_time_us")) / 1_000_000

    @property
    def frames(self) -> int:
        return self._integer("frame")

    @property
    def fraction(self) -> float:
        if self._length_frames > 0:
            return min(1.0, self.frames / self._length_frames)
        return min(1.0, self.seconds / self._length_seconds) if self._length_seconds > 0 else 0.0

    async def read_line(self, line: str) -> None:
        key, equals, value = line.partition("=")
        if equals and (key in self.values or len(self.values) < PROGRESS_KEYS_LIMIT):
            self.values[key.strip()] = value.strip()
        if key == "progress" and self._on_fraction is not None:
            self._on_fraction(self.fraction)

    def _integer(self, key: str) -> int:
        try:
            return int(self.values.get(key, "0"))
        except ValueError:
            return 0


async def run(
    command: Sequence[str],
    *,
    seconds: float,
    environment: Mapping[str, str],
    folder: Path | None = None,
    on_line: OnLine | None = None,
    files: InheritedFiles | None = None,
    program: str | None = None,
) -> FinishedProcess:
    """Runs a program to completion; kills its process group on timeout, cancellation or any error.

    `program` names it in traces, where the arguments do not appear: they may contain secrets.
    """
    with _tracer.start_as_current_span(program or Path(command[0]).name) as span:
        starting = asyncio.create_task(_start(command, environment, folder=folder, files=files or InheritedFiles()))
        try:
            child = await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(MediaError):  # the program may be running already
                await _end(await starting, ())
            raise
        finished = await _read_until_exit(child, seconds=seconds, on_line=on_line)
        span.set_attribute("process.exit.code", finished.exit_code)
        span.set_attribute("cutroom.cpu_seconds", finished.cpu_seconds)
        return finished


def start_server(command: Sequence[str], *, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Starts a program that runs until its stdin closes; the caller ends it.

    It stays in our process group, so that whatever stops this process also stops it.
    """
    return subprocess.Popen(  # noqa: S603 (no shell)
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
    )


@dataclass(frozen=True, slots=True)
class _Child:
    """A running program; `exited` becomes its exit code and the CPU seconds that it and its children used."""

    pid: int
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    pipes: Sequence[asyncio.ReadTransport]
    exited: "asyncio.Task[tuple[int, float]]"


async def _start(
    command: Sequence[str], environment: Mapping[str, str], *, folder: Path | None, files: InheritedFiles
) -> _Child:
    try:
        # Not asyncio's own subprocesses: they do not report the CPU time of the child.
        popen = subprocess.Popen(  # noqa: S603, ASYNC220 (no shell; it returns as soon as the program is running)
            command,
            stdin=files.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            pass_fds=files.others,
            start_new_session=True,  # its own process group, which can be killed as one
        )
    except (FileNotFoundError, PermissionError) as error:
        message = "A required media program is not installed."
        raise MediaError(Reason.TOOL_MISSING, message, detail=str(error)) from error
    exited = asyncio.create_task(_reap(popen))
    assert popen.stdout is not None
    assert popen.stderr is not None
    stdout, stdout_pipe = await _open_reader(popen.stdout)
    stderr, stderr_pipe = await _open_reader(popen.stderr)
    return _Child(popen.pid, stdout, stderr, pipes=(stdout_pipe, stderr_pipe), exited=exited)


async def _open_reader(pipe: IO[bytes]) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader, transport


async def _reap(popen: "subprocess.Popen[bytes]") -> tuple[int, float]:
    loop, exited = asyncio.get_running_loop(), asyncio.Event()
    descriptor = os.pidfd_open(popen.pid)
    loop.add_reader(descriptor, exited.set)
    try:
        await exited.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    _, status, usage = os.wait4(popen.pid, 0)  # noqa: ASYNC222 (it has exited)
    popen.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it again
    return popen.returncode, usage.ru_utime + usage.ru_stime


async def _read_until_exit(child: _Child, *, seconds: float, on_line: OnLine | None) -> FinishedProcess:
    tasks = (
        asyncio.create_task(_read_stdout(child.stdout, on_line)),
        asyncio.create_task(_read_tail(child.stderr)),
    )
    try:
        async with asyncio.timeout(seconds):
            stdout, stderr = await asyncio.gather(*tasks)
            exit_code, cpu_seconds = await asyncio.shield(child.exited)
    except TimeoutError:
        raise MediaError(Reason.TIMED_OUT, "Processing the file took too long.", detail=f"after {seconds} s") from None
    finally:
        await _end(child, tasks)
    return FinishedProcess(exit_code, stdout, stderr.decode(errors="replace"), cpu_seconds=cpu_seconds)


async def _read_stdout(stream: asyncio.StreamReader, on_line: OnLine | None) -> bytes:
    """Streams lines to `on_line`, or returns everything; both bounded."""
    buffer = b""
    while chunk := await stream.read(CHUNK_BYTES):
        buffer += chunk
        if on_line is not None:
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                await on_line(line.decode(errors="replace"))
        if len(buffer) > (STDOUT_LIMIT_BYTES if on_line is None else LINE_LIMIT_BYTES):
            raise MediaError(Reason.TOO_MUCH_OUTPUT, "The file's metadata is too large.")
    return buffer


async def _read_tail(stream: asyncio.StreamReader) -> bytes:
    """Keeps the end of stderr; too much of it means that the file is damaged throughout."""
    tail, total = b"", 0
    while chunk := await stream.read(CHUNK_BYTES):
        tail, total = (tail + chunk)[-STDERR_TAIL_BYTES:], total + len(chunk)
        if total > STDERR_LIMIT_BYTES:
            raise MediaError(Reason.UNREADABLE, DAMAGED, detail=tail.decode(errors="replace"))
    return tail


async def _end(child: _Child, tasks: Sequence[asyncio.Task[bytes]]) -> None:
    """Kills the program if it is running, closes its pipes, and counts its CPU time."""
    if not child.exited.done():
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for pipe in child.pipes:
        pipe.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(KILL_SECONDS):
            _, cpu_seconds = await asyncio.shield(child.exited)
            add_cpu_seconds(cpu_seconds)
    await asyncio.sleep(0)  # the event loop closes the pipes


def check_exit(finished: FinishedProcess) -> FinishedProcess:
    """Raises a MediaError for a non-zero exit code."""
    if finished.exit_code == 0:
        return finished
    raise to_media_error(finished)


def to_media_error(finished: FinishedProcess) -> MediaError:
    code, text = finished.exit_code, finished.stderr
    number = -code if code < 0 else code - SIGNAL_OFFSET
    reason, message = _BY_SIGNAL.get(number) or _by_text(code, text)
    return MediaError(reason, message, detail=f"exit code {code}: {text.strip()}")


_TOO_SLOW = (Reason.TOO_SLOW, "Processing the file took too long.")
_TOO_MUCH_OUTPUT = (Reason.TOO_MUCH_OUTPUT, "The output of processing the file would be too large.")
_CRASHED = (Reason.CRASHED, "The file could not be processed.")

_BY_SIGNAL: Mapping[int, tuple[Reason, str]] = {
    signal.SIGXCPU: _TOO_SLOW,
    signal.SIGXFSZ: _TOO_MUCH_OUTPUT,
    signal.SIGSEGV: _CRASHED,
    signal.SIGABRT: _CRASHED,
    signal.SIGBUS: _CRASHED,
    signal.SIGFPE: _CRASHED,
    signal.SIGILL: _CRASHED,
    # The OOM killer or an operator; the sandbox limits cause other signals.
    signal.SIGKILL: (Reason.KILLED, "Processing was interrupted."),
}

# Messages of ffmpeg and libc; the first match wins.
_BY_TEXT: tuple[tuple[str, Reason, str], ...] = (
    ("Cannot allocate memory", Reason.TOO_MUCH_MEMORY, "Processing the file needs too much memory."),
    ("No space left on device", Reason.DISK_FULL, "There is not enough disk space to process the file."),
    ("File too large", *_TOO_MUCH_OUTPUT),
    ("exceeds max_streams", Reason.TOO_MANY_STREAMS, "The file has too many streams."),
    ("Picture size", Reason.PICTURE_TOO_LARGE, "The frame size is too large."),
    ("not on whitelist", Reason.UNSUPPORTED_CODEC, "The file uses a format that is not supported."),
)


def _by_text(code: int, text: str) -> tuple[Reason, str]:
    if code == 127:
        return Reason.TOOL_MISSING, "A required media program is not installed."
    for pattern, reason, message in _BY_TEXT:
        if pattern in text:
            return reason, message
    return Reason.UNREADABLE, DAMAGED
