"""Selects the frames, people and content of a video that a thumbnail can show."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.registry import Engines
from cutroom.engines.types import Box
from cutroom.engines.vision.frame_selection import SelectedFrame, find_open_eyes, select_frames
from cutroom.engines.vision.pillarbox import upright_picture
from cutroom.jobs.step_progress import ReportProgress, portion
from cutroom.media.frames import extract_stills
from cutroom.media.probe import MediaInfo
from cutroom.media.sandbox import Sandbox

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MAX_FRAMES = 8  # kept per video
EXTRACTION_FRACTION = 0.7  # of the time that the selection takes
AROUND_SECONDS = 6.0  # speech within this distance is taken to be about the frame
MIN_FACE = 0.06  # of the frame height; smaller faces are ignored
# Margins around a face for a head-and-shoulders crop, in face widths and heights.
SIDES, ABOVE, BELOW = 1.4, 0.9, 2.6
NEARBY_SECONDS = (-0.8, -0.4, 0.4, 0.8)  # where open eyes are looked for around a blink, which lasts up to 0.4 s
SAME_PERSON = 0.75  # histogram correlation of two head crops


@dataclass(frozen=True, slots=True)
class VideoFrame:
    """A frame, or a crop of one, with its time."""

    seconds: float
    image: "Image"
    score: float = 1.0  # quality, from 0 to 1


async def select_best_frames(
    path: Path,
    info: MediaInfo,
    *,
    output: Path,
    sandbox: Sandbox,
    engines: Engines,
    report_progress: ReportProgress,
) -> list[VideoFrame]:
    """The best distinct frames, best first."""
    extracted = portion(report_progress, 0.0, EXTRACTION_FRACTION)
    assessed = portion(report_progress, EXTRACTION_FRACTION, 1.0)
    stills = await extract_stills(path, info, output=output, sandbox=sandbox, on_fraction=extracted)
    images = await asyncio.to_thread(lambda: [upright_picture(stills.image(at)) for at in range(len(stills.paths))])
    detector = await asyncio.to_thread(engines.face_detector)
    landmarker = await asyncio.to_thread(engines.face_landmarker)
    selected = await asyncio.to_thread(
        select_frames, images, detector, count=MAX_FRAMES, landmarker=landmarker, on_progress=assessed
    )
    frames = []
    for each in selected:
        frame = VideoFrame(stills.seconds[each.index], images[each.index], each.score)
        if each.quality.main_face.has_closed_eyes:
            frame = await _with_open_eyes(frame, each, path, info, output=output, sandbox=sandbox, engines=engines)
        frames.append(frame)
    return sorted(frames, key=lambda frame: -frame.score)


async def _with_open_eyes(
    frame: VideoFrame,
    selected: SelectedFrame,
    path: Path,
    info: MediaInfo,
    *,
    output: Path,
    sandbox: Sandbox,
    engines: Engines,
) -> VideoFrame:
    """A frame of the same second in which the eyes are open, or the frame itself."""
    detector, landmarker = engines.face_detector(), engines.face_landmarker()
    times = [frame.seconds + offset for offset in NEARBY_SECONDS]
    times = [seconds for seconds in times if 0 <= seconds < info.duration_seconds]
    if landmarker is None or not times:
        return frame
    stills = await extract_stills(path, info, output=output, sandbox=sandbox, times=times, exact=True)
    images = await asyncio.to_thread(lambda: [upright_picture(stills.image(at)) for at in range(len(stills.paths))])
    found = await asyncio.to_thread(find_open_eyes, frame.image, images, detector, landmarker)
    if found is None:
        return frame
    return VideoFrame(stills.seconds[found], images[found], selected.quality.picture_score)


def find_people(frames: Sequence[VideoFrame], engines: Engines, *, count: int) -> list[VideoFrame]:
    """Distinct people as head-and-shoulders crops, most prominent first."""
    detector = engines.face_detector()
    heads = [
        (face.score * face.box.height, VideoFrame(each.seconds, _head(each.image, face.box)))
        for each in frames
        for face in detector.detect(each.image)
        if face.box.height >= MIN_FACE
    ]
    people: list[VideoFrame] = []
    for _, head in sorted(heads, key=lambda one: -one[0]):
        if len(people) < count and all(_similarity(head.image, other.image) < SAME_PERSON for other in people):
            people.append(head)
    return people


def find_content(
    frames: Sequence[VideoFrame], engines: Engines, *, segments: Sequence[Mapping[str, Any]], prompt: str | None
) -> list[VideoFrame]:
    """Frames by similarity of the nearby speech to the prompt; without a prompt, in the given order."""
    embedder = engines.text_embedder()
    if prompt is None or embedder is None or not frames:
        return list(frames)
    texts = [_speech_around(each.seconds, segments) or "-" for each in frames]
    query, *vectors = embedder.embed([prompt, *texts])
    ranked = sorted(range(len(frames)), key=lambda at: -float(query @ vectors[at]))
    return [frames[at] for at in ranked]


def _speech_around(seconds: float, segments: Sequence[Mapping[str, Any]]) -> str:
    near = [
        each["text"]
        for each in segments
        if each["start"] <= seconds + AROUND_SECONDS and each["end"] >= seconds - AROUND_SECONDS
    ]
    return " ".join(near)


def _head(image: "Image", face: Box) -> "Image":
    import numpy as np  # noqa: PLC0415 - keeps the import out of the API process

    height, width = image.shape[:2]
    left = max(0, round((face.x - SIDES * face.width) * width))
    right = min(width, round((face.x + (1 + SIDES) * face.width) * width))
    top = max(0, round((face.y - ABOVE * face.height) * height))
    bottom = min(height, round((face.y + (1 + BELOW) * face.height) * height))
    return np.ascontiguousarray(image[top:bottom, left:right])


def _similarity(one: "Image", two: "Image") -> float:
    import cv2  # noqa: PLC0415 - as above

    def histogram(image: "Image") -> Any:  # noqa: ANN401 - an OpenCV array
        found = cv2.calcHist([cv2.cvtColor(image, cv2.COLOR_RGB2HSV)], [0, 1], None, [24, 12], [0, 180, 0, 256])
        return cv2.normalize(found, found)

    return float(cv2.compareHist(histogram(one), histogram(two), cv2.HISTCMP_CORREL))
