"""What a hostile file is to the proof: a name, how it is made, and how opening it may end."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

MAKING_SECONDS = 120


class Wanted(StrEnum):
    """READY is for controls; EITHER for what is odd, yet may well be played by someone."""

    REFUSED = "refused"
    READY = "ready"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Bait:
    """What a hostile file tries to reach."""

    secret_path: Path
    url: str
    secret: bytes


@dataclass(frozen=True, slots=True)
class Place:
    """Where files are made, from a few good ones."""

    folder: Path
    bait: Bait
    good: dict[str, Path] = field(default_factory=dict)

    def bytes_of(self, name: str) -> bytes:
        return self.good[name].read_bytes()


Make = Callable[[Place, Path], None]


@dataclass(frozen=True, slots=True)
class Case:
    """`file_name` is what its owner calls it; `make` writes to a path that ends in .mp4, whatever is inside."""

    name: str
    make: Make
    wanted: Wanted = Wanted.REFUSED
    file_name: str = "holiday.mp4"


def holding(content: bytes) -> Make:
    return lambda _place, path: _write(path, content)


def from_bait(content: Callable[[Bait], bytes | str]) -> Make:
    def make(place: Place, path: Path) -> None:
        made = content(place.bait)
        _write(path, made.encode() if isinstance(made, str) else made)

    return make


def from_good(name: str, change: Callable[[bytes], bytes]) -> Make:
    return lambda place, path: _write(path, change(place.bytes_of(name)))


def encoded(*arguments: str) -> Make:
    """By ffmpeg, outside any sandbox: these arguments are our own."""

    def make(place: Place, path: Path) -> None:
        encode(place.folder, *arguments, str(path))

    return make


def encode(folder: Path, *arguments: str) -> None:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments]
    subprocess.run(command, cwd=folder, check=True, timeout=MAKING_SECONDS, capture_output=True)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
