"""What of a film can be seen in a thumbnail: its best pictures, its people, and the pictures that fit a wish."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.registry import Engines
from cutroom.engines.types import Box
from cutroom.engines.vision.frame_selection import choose_frames
from cutroom.media.frames import take_stills
from cutroom.media.probe import MediaInfo
from cutroom.media.sandbox import Sandbox

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MAX_FRAMES = 8  # of a film that are kept
AROUND_SECONDS = 6.0  # what is said so near to a picture is about it
MIN_FACE = 0.06  # of the picture's height: smaller ones are nobody in particular
# Heads and shoulders, in widths and heights of a face.
SIDES, ABOVE, BELOW = 1.4, 0.9, 2.6
SAME_PERSON = 0.75  # correlation of the colours around two faces: hair, skin and clothes


@dataclass(frozen=True, slots=True)
class DetectedSubject:
    """A picture of the film, and when it is shown."""

    seconds: float
    picture: "Image"


async def look_through(
    path: Path, info: MediaInfo, *, output: Path, sandbox: Sandbox, engines: Engines
) -> list[DetectedSubject]:
    """The best pictures of a film, which all differ, the best first."""
    stills = await take_stills(path, info, output=output, sandbox=sandbox)
    pictures = await asyncio.to_thread(lambda: [stills.picture(number) for number in range(len(stills.paths))])
    chosen = await asyncio.to_thread(choose_frames, pictures, engines.face_finder(), count=MAX_FRAMES)
    return [DetectedSubject(stills.seconds[each.number], pictures[each.number]) for each in chosen]


def find_people(seen: Sequence[DetectedSubject], engines: Engines, *, count: int) -> list[DetectedSubject]:
    """Everybody who can be told apart, the most prominent first; each as head and shoulders."""
    finder = engines.face_finder()
    heads = [
        (face.score * face.box.height, DetectedSubject(each.seconds, _head(each.picture, face.box)))
        for each in seen
        for face in finder.find(each.picture)
        if face.box.height >= MIN_FACE
    ]
    people: list[DetectedSubject] = []
    for _, head in sorted(heads, key=lambda one: -one[0]):
        if len(people) < count and all(_likeness(head.picture, other.picture) < SAME_PERSON for other in people):
            people.append(head)
    return people


def find_content(
    seen: Sequence[DetectedSubject], engines: Engines, *, said: Sequence[Mapping[str, Any]], prompt: str | None
) -> list[DetectedSubject]:
    """Pictures while something like the prompt is said come first; without one the best do."""
    embedder = engines.embedder()
    if prompt is None or embedder is None or not seen:
        return list(seen)
    texts = [_said_around(each.seconds, said) or "-" for each in seen]
    wish, *meanings = embedder.embed([prompt, *texts])
    ranked = sorted(range(len(seen)), key=lambda at: -float(wish @ meanings[at]))
    return [seen[at] for at in ranked]


def _said_around(seconds: float, said: Sequence[Mapping[str, Any]]) -> str:
    near = [
        each["text"]
        for each in said
        if each["start"] <= seconds + AROUND_SECONDS and each["end"] >= seconds - AROUND_SECONDS
    ]
    return " ".join(near)


def _head(picture: "Image", face: Box) -> "Image":
    import numpy as np  # noqa: PLC0415 (the API imports this room, and never looks at pictures)

    height, width = picture.shape[:2]
    left = max(0, round((face.x - SIDES * face.width) * width))
    right = min(width, round((face.x + (1 + SIDES) * face.width) * width))
    top = max(0, round((face.y - ABOVE * face.height) * height))
    bottom = min(height, round((face.y + (1 + BELOW) * face.height) * height))
    return np.ascontiguousarray(picture[top:bottom, left:right])


def _likeness(one: "Image", two: "Image") -> float:
    import cv2  # noqa: PLC0415 (as above)

    def colours(picture: "Image") -> Any:  # noqa: ANN401 (an array of OpenCV's)
        found = cv2.calcHist([cv2.cvtColor(picture, cv2.COLOR_RGB2HSV)], [0, 1], None, [24, 12], [0, 180, 0, 256])
        return cv2.normalize(found, found)

    return float(cv2.compareHist(colours(one), colours(two), cv2.HISTCMP_CORREL))
