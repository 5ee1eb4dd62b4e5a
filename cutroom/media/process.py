"""The only module that starts subprocesses: bounded in time and output, and never left running."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

STDOUT_LIMIT_BYTES = 1024 * 1024
STDERR_TAIL_BYTES = 16 * 1024
STDERR_LIMIT_BYTES = 8 * 1024 * 1024  # some hundred thousand messages
LINE_LIMIT_BYTES = 8 * 1024
DETAIL_LIMIT_CHARACTERS = 500
CHUNK_BYTES = 64 * 1024
KILL_SECONDS = 10.0
PROGRESS_KEYS_LIMIT = 100
SIGNAL_OFFSET = 128  # shells and bubblewrap report death by signal as 128 + number

OnLine = Callable[[str], Awaitable[None]]
OnFraction = Callable[[float], Awaitable[None]]


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
            await self._on_fraction(self.fraction)

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
    pass_fds: Sequence[int] = (),
) -> FinishedProcess:
    """Runs a program to completion; kills its process group on timeout, cancellation or any error."""
    starting = asyncio.create_task(_start(command, environment, folder=folder, pass_fds=pass_fds))
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(MediaError):  # the program may be running already, before asyncio says so
            await _end(await starting, ())
        raise
    assert process.stdout is not None
    assert process.stderr is not None
    tasks = (
        asyncio.create_task(_read_stdout(process.stdout, on_line)),
        asyncio.create_task(_read_tail(process.stderr)),
    )
    try:
        async with asyncio.timeout(seconds):
            stdout, stderr = await asyncio.gather(*tasks)
            exit_code = await process.wait()
    except TimeoutError:
        raise MediaError(Reason.TIMED_OUT, "Processing the file took too long.", detail=f"after {seconds} s") from None
    finally:
        await _end(process, tasks)
    return FinishedProcess(exit_code, stdout, stderr.decode(errors="replace"))


async def _start(
    command: Sequence[str], environment: Mapping[str, str], *, folder: Path | None, pass_fds: Sequence[int]
) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            pass_fds=pass_fds,
            start_new_session=True,  # its own process group, which can be killed as one
        )
    except (FileNotFoundError, PermissionError) as error:
        message = "A required media program is not installed."
        raise MediaError(Reason.TOOL_MISSING, message, detail=str(error)) from error


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
            raise MediaError(Reason.UNREADABLE, _DAMAGED, detail=tail.decode(errors="replace"))
    return tail


async def _end(process: asyncio.subprocess.Process, tasks: Sequence[asyncio.Task[bytes]]) -> None:
    """Kills a running process and drains its pipes, because asyncio keeps unread pipes open."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    with suppress(TimeoutError):
        async with asyncio.timeout(KILL_SECONDS):
            for stream in (process.stdout, process.stderr):
                while stream is not None and await stream.read(CHUNK_BYTES):
                    pass
            await process.wait()


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


_DAMAGED = "The file is damaged, or is not what it claims to be."
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
    return Reason.UNREADABLE, _DAMAGED
