"""Analyzes the frames of a moment: cuts, faces with their expressions, and saliency."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.registry import Engines
from cutroom.engines.types import OnProgress
from cutroom.engines.vision.expressions import UNKNOWN, FaceExpression, measure_expression
from cutroom.engines.vision.port import Face, FaceLandmarker
from cutroom.engines.vision.saliency import is_screen, saliency_center_x
from cutroom.engines.vision.shots import detect_cuts
from cutroom.media.shorts import RawFrames
from cutroom.products.shorts.framing.tracks import FrameAnalysis, prominence, reliable_faces

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
    detector, landmarker = engines.face_detector(), engines.face_landmarker()
    cuts = [offset_seconds + cut for cut in detect_cuts(_read_frames(shots), rate=float(shots.rate)) if cut > 0]
    frames: list[FrameAnalysis] = []
    for image in _read_frames(faces):
        detected = tuple(detector.detect(image))
        frames.append(
            FrameAnalysis(
                seconds=offset_seconds + float(len(frames) / faces.rate),
                faces=detected,
                saliency_center_x=saliency_center_x(image),
                is_screen=is_screen(image),
                expressions=_expressions(image, detected, landmarker) if landmarker else (),
            )
        )
        if on_progress:
            on_progress(len(frames) / faces.count)
    return VisualAnalysis(tuple(frames), tuple(cuts))


def _expressions(image: "Image", faces: Sequence[Face], landmarker: FaceLandmarker) -> tuple[FaceExpression, ...]:
    """The mouths of all reliable faces, and the eyes of the main one, which a cover would show."""
    main, reliable = max(faces, key=prominence, default=None), reliable_faces(faces)
    return tuple(
        measure_expression(landmarker.locate(image, face.box, with_lids=face is main), with_lids=face is main)
        if face in reliable
        else UNKNOWN
        for face in faces
    )


def _read_frames(frames: RawFrames) -> "Iterator[Image]":
    """Reads one frame at a time."""
    import numpy as np  # noqa: PLC0415 - workers without engines import this module without numpy

    with frames.path.open("rb") as file:
        while len(data := file.read(frames.frame_bytes)) == frames.frame_bytes:
            yield np.frombuffer(data, np.uint8).reshape(frames.height, frames.width, 3)
