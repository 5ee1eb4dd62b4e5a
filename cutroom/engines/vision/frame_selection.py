"""Which pictures of a film are worth showing: sharp, well lit, with a face that looks well, and unlike each other."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError
from cutroom.engines.types import Box
from cutroom.engines.vision.port import FaceDetector
from cutroom.engines.vision.saliency import is_screen

if TYPE_CHECKING:
    import cv2
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

MAX_PICTURES = 200
LOOK_WIDTH = 640  # pixels in which a picture is judged
FACE_SCORE = 0.7
FACE_SIDE = 120  # pixels in which a face is looked at
REBLUR = 9  # pixels of the blur by which sharpness is told
BLURRED, SHARP = 0.38, 0.62  # of the steps, the share that it takes away where all is soft, and where all is sharp
DARK, LIGHT = 35.0, 225.0  # mean light of 255, beyond which a picture is in a fade
FLAT = 12.0  # spread of light below which there is nothing to see
CLIPPED = 0.35  # share of pixels that may be quite black or quite white
GOOD_FACE = 0.28  # of the height
_looking = threading.Lock()  # a cascade keeps the picture that it looks at
SAME = 10  # of 64 bits: below that, pictures show the same


@dataclass(frozen=True, slots=True)
class Looks:
    """What a picture is like, each from 0 to 1, and its faces in shares of it."""

    sharpness: float
    exposure: float
    colour: float
    faces: tuple[Box, ...]
    face: float  # how large and whole the main one is
    expression: float  # open eyes and a smile, as far as they can be told
    is_screen: bool

    @property
    def score(self) -> float:
        """A picture in a fade or out of focus is worth little, whatever is in it."""
        able = min(1.0, 2.0 * self.exposure) * min(1.0, 0.15 + 1.7 * self.sharpness)
        wanted = 0.22 + 0.16 * self.sharpness + 0.12 * self.exposure + 0.10 * self.colour
        wanted += 0.22 * self.face + 0.18 * self.expression
        return able * wanted * (0.75 if self.is_screen else 1.0)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A picture by its place among those given."""

    number: int
    score: float
    looks: Looks


def choose_frames(pictures: Sequence["Image"], finder: FaceDetector, *, count: int) -> list[Chosen]:
    """The best first, no two of the same view; fewer where a film has no more views."""
    if len(pictures) > MAX_PICTURES:
        raise EngineError(f"At most {MAX_PICTURES} pictures are compared.")
    judged = [Chosen(number, looks.score, looks) for number, looks in enumerate(judge(p, finder) for p in pictures)]
    kept: list[tuple[int, Chosen]] = []
    for each in sorted(judged, key=lambda one: -one.score):
        code = view_hash(pictures[each.number])
        if all((code ^ other).bit_count() >= SAME for other, _ in kept):
            kept.append((code, each))
        if len(kept) >= count:
            break
    return [each for _, each in kept]


def judge(picture: "Image", finder: FaceDetector) -> Looks:
    import cv2  # noqa: PLC0415 - the API process must be able to import this room without it
    import numpy as np  # noqa: PLC0415 - as above

    height, width = picture.shape[:2]
    scale = min(1.0, LOOK_WIDTH / width)
    size = max(2, round(width * scale)), max(2, round(height * scale))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.uint8)
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32)
    faces = tuple(face.box for face in finder.find(picture) if face.score >= FACE_SCORE)
    main = max(faces, key=lambda box: box.height, default=None)
    return Looks(
        sharpness=_sharpness(grey, main),
        exposure=_exposure(grey),
        colour=_colour(small),
        faces=faces,
        face=_face(main) if main else 0.0,
        expression=_expression(picture, main) if main else 0.0,
        is_screen=is_screen(small),
    )


def _sharpness(grey: "NDArray[np.float32]", face: Box | None) -> float:
    """Where the face is, if there is one: behind it everything may be out of focus."""
    import cv2  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    part = grey
    if face is not None:
        height, width = grey.shape
        top, left = int(face.y * height), int(face.x * width)
        part = grey[top : top + max(8, int(face.height * height)), left : left + max(8, int(face.width * width))]
    if float(part.std()) < 2:
        return 0.0
    # What a blur takes away from a sharp picture it cannot take away again. Moved pictures are soft one way only.
    lost = []
    for axis, kernel in ((1, (REBLUR, 1)), (0, (1, REBLUR))):
        steps = np.abs(np.diff(part, axis=axis))
        again = np.abs(np.diff(cv2.blur(part, kernel), axis=axis))
        lost.append(float(np.maximum(0, steps - again).sum() / max(1e-3, steps.sum())))
    return min(1.0, max(0.0, (min(lost) - BLURRED) / (SHARP - BLURRED)))


def _exposure(grey: "NDArray[np.float32]") -> float:
    mean, spread = float(grey.mean()), float(grey.std())
    clipped = float(((grey < 6) | (grey > 250)).mean())
    light = min(1.0, max(0.0, (mean - DARK / 2) / DARK), max(0.0, (255 - mean) / (255 - LIGHT) / 2))
    return light * min(1.0, spread / (3 * FLAT)) * (1 - 0.6 * min(1.0, clipped / CLIPPED))


def _colour(small: "Image") -> float:
    import cv2  # noqa: PLC0415 - as above

    return min(1.0, float(cv2.cvtColor(small, cv2.COLOR_RGB2HSV)[..., 1].mean()) / 110)


def _face(box: Box) -> float:
    """A large one, that no edge cuts, with air above."""
    large = min(1.0, box.height / GOOD_FACE)
    whole = min(box.x, 1 - box.x - box.width, box.y, 1 - box.y - box.height)
    return large * (1.0 if whole > 0.02 else 0.3) * (1.0 if box.y > 0.35 * box.height else 0.8)


def _expression(picture: "Image", face: Box) -> float:
    """Open eyes count most. Both are found by OpenCV's cascades, which are often wrong: so neither decides alone."""
    import cv2  # noqa: PLC0415 - as above

    height, width = picture.shape[:2]
    top, left = int(face.y * height), int(face.x * width)
    part = picture[top : top + int(face.height * height), left : left + int(face.width * width)]
    if min(part.shape[:2]) < 24:
        return 0.3
    size = FACE_SIDE, round(FACE_SIDE * part.shape[0] / part.shape[1])
    grey = cv2.equalizeHist(cv2.cvtColor(cv2.resize(part, size), cv2.COLOR_RGB2GRAY))
    upper, lower = grey[size[1] // 6 : size[1] * 3 // 5], grey[size[1] // 2 :]
    with _looking:
        eyes = _cascade("haarcascade_eye.xml").detectMultiScale(upper, 1.08, 4, minSize=(16, 16))
        smiles = _cascade("haarcascade_smile.xml").detectMultiScale(lower, 1.15, 14, minSize=(32, 14))
    sides = {bool(x + w / 2 > FACE_SIDE / 2) for x, _, w, _ in eyes}
    return 0.35 * len(sides) + 0.3 * bool(len(smiles))


@lru_cache(maxsize=4)
def _cascade(name: str) -> "cv2.CascadeClassifier":
    import cv2  # noqa: PLC0415 - as above

    return cv2.CascadeClassifier(str(Path(cv2.__file__).parent / "data" / name))


def view_hash(picture: "Image") -> int:
    """64 bits of how light and dark lie in a picture, from its slowest waves; like pictures differ in few of them."""
    import cv2  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    grey = cv2.cvtColor(cv2.resize(picture, (32, 32), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
    waves = cv2.dct(grey.astype(np.float32))[:8, :8].ravel()
    bits = waves > np.median(waves[1:])
    return int("".join("1" if bit else "0" for bit in bits), 2)
