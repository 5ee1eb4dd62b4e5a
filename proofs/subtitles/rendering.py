"""What libass paints of a subtitle file, and what can be told of it without reading."""

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from proofs.stage.subtitle_parsers import SubtitleFormat

WIDTH, HEIGHT = 640, 360
SLOT_SECONDS = 10  # each text has a stretch of time of its own
LOOK_SECONDS = 1  # and is looked at so long after its start
SHOWN_SECONDS = 4
INK = 40  # of 255: brighter than the black around
COLOUR = 24  # by how much two channels of grey may differ after the conversions
PAINT_SECONDS = 120

Picture: TypeAlias = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Ink:
    """Where something is painted on black, and how much."""

    pixels: int
    top: int
    bottom: int
    is_grey: bool

    @property
    def height(self) -> int:
        return self.bottom - self.top + 1


def raw_srt(texts: Sequence[str]) -> bytes:
    """A file that holds the texts as they are, whatever they may do, each in its slot."""
    blocks = []
    for number, text in enumerate(texts):
        start = number * SLOT_SECONDS
        times = f"{_clock(start)} --> {_clock(start + SHOWN_SECONDS)}"
        blocks.append(f"{number + 1}\n{times}\n{text}\n")
    return "\n".join(blocks).encode()


def painted(data: bytes, form: SubtitleFormat, *, slots: int) -> list[Picture]:
    """One picture for each slot."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"paint.{form}").write_bytes(data)
        still = f"color=black:s={WIDTH}x{HEIGHT}:r=1:d={slots * SLOT_SECONDS}"
        chosen = f"select=eq(mod(n\\,{SLOT_SECONDS})\\,{LOOK_SECONDS})"
        command = ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", still]
        # Painted in colours, not in the source's grey, so that a coloured text shows as one.
        command += ["-vf", f"format=rgb24,subtitles=paint.{form}:charenc=UTF-8,format=rgb24,{chosen}"]
        command += ["-fps_mode", "passthrough", "-f", "rawvideo", "-"]
        raw = subprocess.run(command, check=True, capture_output=True, cwd=folder, timeout=PAINT_SECONDS).stdout
    pictures = np.frombuffer(raw, np.uint8).reshape(-1, HEIGHT, WIDTH, 3).astype(np.int16)
    if len(pictures) != slots:
        raise ValueError(f"FFmpeg painted {len(pictures)} pictures of {slots}.")
    return list(pictures)


def ink_of(picture: Picture) -> Ink:
    bright = picture.max(axis=2) > INK
    rows = np.flatnonzero(bright.any(axis=1))
    spread = picture.max(axis=2) - picture.min(axis=2)
    if not len(rows):
        return Ink(0, 0, 0, is_grey=True)
    return Ink(int(bright.sum()), int(rows[0]), int(rows[-1]), is_grey=bool(spread.max() <= COLOUR))


def looks_same(one: Picture, other: Picture) -> bool:
    return bool((one == other).all())


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},000"
