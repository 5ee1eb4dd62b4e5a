"""Looks through a moment's pictures: where shots begin, where faces are, and what else draws the eye."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.registry import Engines
from cutroom.engines.vision.saliency import interest_x, is_screen
from cutroom.engines.vision.shots import find_cuts
from cutroom.media.shorts import Frames
from cutroom.products.shorts.framing.tracks import FrameAnalysis

if TYPE_CHECKING:
    from cutroom.engines.types import Image


@dataclass(frozen=True, slots=True)
class VisualAnalysis:
    """What was seen, in the output's time."""

    seen: tuple[FrameAnalysis, ...]
    cuts: tuple[float, ...]


def watch(faces: Frames, shots: Frames, engines: Engines, *, from_seconds: float) -> VisualAnalysis:
    """One part of an output, which begins there. It blocks: for a thread."""
    finder = engines.face_finder()
    cuts = [from_seconds + cut for cut in find_cuts(_pictures(shots), rate=float(shots.rate)) if cut > 0]
    seen = [
        FrameAnalysis(
            seconds=from_seconds + float(number / faces.rate),
            faces=tuple(finder.find(picture)),
            interest_x=interest_x(picture),
            is_screen=is_screen(picture),
        )
        for number, picture in enumerate(_pictures(faces))
    ]
    return VisualAnalysis(tuple(seen), tuple(cuts))


def _pictures(frames: Frames) -> "Iterator[Image]":
    """One at a time, however many there are."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    size = frames.width * frames.height * 3
    with frames.path.open("rb") as file:
        while len(data := file.read(size)) == size:
            yield np.frombuffer(data, np.uint8).reshape(frames.height, frames.width, 3)
