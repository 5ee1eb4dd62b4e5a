"""Defines hostile file cases: a name, how the file is written, and its allowed outcome."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

ENCODE_SECONDS = 120


class ExpectedOutcome(StrEnum):
    """READY is for controls; EITHER for unusual files that some players accept."""

    REFUSED = "refused"
    READY = "ready"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Bait:
    """The secret file and URL that hostile files try to reach."""

    secret_path: Path
    url: str
    secret: bytes


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder for files, and valid media to derive them from."""

    folder: Path
    bait: Bait
    good: dict[str, Path] = field(default_factory=dict)

    def bytes_of(self, name: str) -> bytes:
        return self.good[name].read_bytes()


WriteFile = Callable[[Workspace, Path], None]


@dataclass(frozen=True, slots=True)
class Case:
    """`file_name` is sent by the client; `write` writes to a path that always ends in .mp4."""

    name: str
    write: WriteFile
    expected: ExpectedOutcome = ExpectedOutcome.REFUSED
    file_name: str = "holiday.mp4"


def with_content(content: bytes) -> WriteFile:
    return lambda _workspace, path: _write(path, content)


def from_bait(content: Callable[[Bait], bytes | str]) -> WriteFile:
    def write(workspace: Workspace, path: Path) -> None:
        made = content(workspace.bait)
        _write(path, made.encode() if isinstance(made, str) else made)

    return write


def from_good(name: str, change: Callable[[bytes], bytes]) -> WriteFile:
    return lambda workspace, path: _write(path, change(workspace.bytes_of(name)))


def encoded(*arguments: str) -> WriteFile:
    """Encode with ffmpeg outside the sandbox: the arguments are trusted."""

    def write(workspace: Workspace, path: Path) -> None:
        encode(workspace.folder, *arguments, str(path))

    return write


def encode(folder: Path, *arguments: str) -> None:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments]
    subprocess.run(command, cwd=folder, check=True, timeout=ENCODE_SECONDS, capture_output=True)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
