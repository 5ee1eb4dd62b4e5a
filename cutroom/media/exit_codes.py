"""Maps the exit codes and messages of media programs to errors."""

import signal
from collections.abc import Mapping

from cutroom.media.process import DAMAGED, FinishedProcess, MediaError, Reason

SIGNAL_OFFSET = 128  # shells and bubblewrap report death by signal as 128 + number


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
