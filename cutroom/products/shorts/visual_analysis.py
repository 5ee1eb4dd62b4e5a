"""Analyzes the frames of a moment: cuts, faces and saliency."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.registry import Engines
from cutroom.engines.vision.saliency import is_screen, saliency_center_x
from cutroom.engines.vision.shots import detect_cuts
from cutroom.media.shorts import RawFrames
from cutroom.products.shorts.framing.tracks import FrameAnalysis

if TYPE_CHECKING:
    from cutroom.engines.types import Image


@dataclass(frozen=True, slots=True)
class VisualAnalysis:
    """Analyzed frames and cuts, in output time."""

    frames: tuple[FrameAnalysis, ...]
    cuts: tuple[float, ...]


def analyze_frames(faces: RawFrames, shots: RawFrames, engines: Engines, *, offset_seconds: float) -> VisualAnalysis:
    """Analyzes one range, which starts at `offset_seconds` of the output. Blocking: run it in a thread."""
    detector = engines.face_detector()
    cuts = [offset_seconds + cut for cut in detect_cuts(_read_frames(shots), rate=float(shots.rate)) if cut > 0]
    frames = [
        FrameAnalysis(
            seconds=offset_seconds + float(index / faces.rate),
            faces=tuple(detector.detect(image)),
            saliency_center_x=saliency_center_x(image),
            is_screen=is_screen(image),
        )
        for index, image in enumerate(_read_frames(faces))
    ]
    return VisualAnalysis(tuple(frames), tuple(cuts))


def _read_frames(frames: RawFrames) -> "Iterator[Image]":
    """Reads one frame at a time."""
    import numpy as np  # noqa: PLC0415 - workers without engines import this module without numpy

    size = frames.width * frames.height * 3
    with frames.path.open("rb") as file:
        while len(data := file.read(size)) == size:
            yield np.frombuffer(data, np.uint8).reshape(frames.height, frames.width, 3)
