"""Renders subtitle files with libass and measures the rendered text."""

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
SLOT_SECONDS = 10  # each text has its own time slot
SAMPLE_SECONDS = 1  # offset of the sampled frame in the slot
SHOWN_SECONDS = 4
TEXT_LEVEL = 40  # of 255, brighter than the black background
GRAY_TOLERANCE = 24  # largest difference between the channels of gray after conversion
RENDER_TIMEOUT_SECONDS = 120

Frame: TypeAlias = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class RenderedText:
    """Extent of text rendered on black."""

    pixels: int
    top: int
    bottom: int
    is_gray: bool

    @property
    def height(self) -> int:
        return self.bottom - self.top + 1


def raw_srt(texts: Sequence[str]) -> bytes:
    """A SubRip file with the texts unescaped, each in its slot."""
    blocks = []
    for number, text in enumerate(texts):
        start = number * SLOT_SECONDS
        times = f"{_clock(start)} --> {_clock(start + SHOWN_SECONDS)}"
        blocks.append(f"{number + 1}\n{times}\n{text}\n")
    return "\n".join(blocks).encode()


def render(data: bytes, form: SubtitleFormat, *, slots: int) -> list[Frame]:
    """Render a subtitle file; one frame per slot."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"input.{form}").write_bytes(data)
        background = f"color=black:s={WIDTH}x{HEIGHT}:r=1:d={slots * SLOT_SECONDS}"
        sampled = f"select=eq(mod(n\\,{SLOT_SECONDS})\\,{SAMPLE_SECONDS})"
        command = ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", background]
        # Rendered in RGB instead of the source's gray, so that colored text keeps its color.
        command += ["-vf", f"format=rgb24,subtitles=input.{form}:charenc=UTF-8,format=rgb24,{sampled}"]
        command += ["-fps_mode", "passthrough", "-f", "rawvideo", "-"]
        raw = subprocess.run(
            command, check=True, capture_output=True, cwd=folder, timeout=RENDER_TIMEOUT_SECONDS
        ).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(-1, HEIGHT, WIDTH, 3).astype(np.int16)
    if len(frames) != slots:
        raise ValueError(f"FFmpeg rendered {len(frames)} of {slots} frames.")
    return list(frames)


def measure_text(frame: Frame) -> RenderedText:
    bright = frame.max(axis=2) > TEXT_LEVEL
    rows = np.flatnonzero(bright.any(axis=1))
    spread = frame.max(axis=2) - frame.min(axis=2)
    if not len(rows):
        return RenderedText(0, 0, 0, is_gray=True)
    return RenderedText(int(bright.sum()), int(rows[0]), int(rows[-1]), is_gray=bool(spread.max() <= GRAY_TOLERANCE))


def is_same(one: Frame, other: Frame) -> bool:
    return bool((one == other).all())


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},000"
