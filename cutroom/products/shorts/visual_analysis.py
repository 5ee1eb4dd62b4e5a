"""Analyzes the frames of a moment: cuts, faces and saliency."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.registry import Engines
from cutroom.engines.types import OnProgress
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


def analyze_frames(
    faces: RawFrames,
    shots: RawFrames,
    engines: Engines,
    *,
    offset_seconds: float,
    on_progress: OnProgress | None = None,
) -> VisualAnalysis:
    """Analyzes one range, which starts at `offset_seconds` of the output. Blocking: run it in a thread."""
    detector = engines.face_detector()
    cuts = [offset_seconds + cut for cut in detect_cuts(_read_frames(shots), rate=float(shots.rate)) if cut > 0]
    frames: list[FrameAnalysis] = []
    for image in _read_frames(faces):
        frames.append(
            FrameAnalysis(
                seconds=offset_seconds + float(len(frames) / faces.rate),
                faces=tuple(detector.detect(image)),
                saliency_center_x=saliency_center_x(image),
                is_screen=is_screen(image),
            )
        )
        if on_progress:
            on_progress(len(frames) / faces.count)
    return VisualAnalysis(tuple(frames), tuple(cuts))


def _read_frames(frames: RawFrames) -> "Iterator[Image]":
    """Reads one frame at a time."""
    import numpy as np  # noqa: PLC0415 - workers without engines import this module without numpy

    with frames.path.open("rb") as file:
        while len(data := file.read(frames.frame_bytes)) == frames.frame_bytes:
            yield np.frombuffer(data, np.uint8).reshape(frames.height, frames.width, 3)
