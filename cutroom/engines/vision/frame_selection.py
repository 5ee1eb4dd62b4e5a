"""Selects the best frames of a video by sharpness, exposure and faces, without near duplicates."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError
from cutroom.engines.types import Box, OnProgress
from cutroom.engines.vision.expressions import UNKNOWN, FaceExpression, measure_expression
from cutroom.engines.vision.port import FaceDetector, FaceLandmarker
from cutroom.engines.vision.saliency import is_screen

if TYPE_CHECKING:
    import cv2
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

MAX_FRAMES = 200
ANALYSIS_WIDTH = 640  # pixels
FACE_SCORE = 0.7
FACE_SIDE = 120  # pixels, for the eye and smile cascades
BLUR_KERNEL = 9  # pixels
BLURRED, SHARP = 0.38, 0.62  # share of gradients lost to re-blurring: in a blurred and in a sharp image
DARK, LIGHT = 35.0, 225.0  # mean luminance of 255 beyond which a frame is part of a fade
FLAT = 12.0  # standard deviation of luminance below which a frame shows nothing
CLIPPED = 0.35  # tolerated share of clipped pixels
GOOD_FACE = 0.28  # of the frame height
CLOSED_EYES_FACTOR, MID_WORD_FACTOR = 0.5, 0.9  # of the score, for the main face
NEARLY_EQUAL = 0.8  # of the score that a frame would have with open eyes, to replace it
_cascade_lock = threading.Lock()  # cascade classifiers are not thread-safe
MIN_HASH_DISTANCE = 10  # of 64 bits; frames closer than this show the same view


@dataclass(frozen=True, slots=True)
class FrameQuality:
    """Quality measures of a frame, each from 0 to 1, and its faces."""

    sharpness: float
    exposure: float
    color: float
    faces: tuple[Box, ...]
    face: float  # size and visibility of the main face
    expression: float  # open eyes and a smile
    is_screen: bool
    main_face: FaceExpression = UNKNOWN

    @property
    def score(self) -> float:
        """Lower if the main face blinks or is caught in the middle of a word."""
        if self.main_face.has_closed_eyes:
            return CLOSED_EYES_FACTOR * self.picture_score
        return (MID_WORD_FACTOR if self.main_face.is_mid_word else 1.0) * self.picture_score

    @property
    def picture_score(self) -> float:
        """Exposure and sharpness also gate the score: a frame in a fade or out of focus scores low regardless."""
        gate = min(1.0, 2.0 * self.exposure) * min(1.0, 0.15 + 1.7 * self.sharpness)
        weighted = 0.22 + 0.16 * self.sharpness + 0.12 * self.exposure + 0.10 * self.color
        weighted += 0.22 * self.face + 0.18 * self.expression
        return gate * weighted * (0.75 if self.is_screen else 1.0)


@dataclass(frozen=True, slots=True)
class SelectedFrame:
    """A frame by its index in the input."""

    index: int
    score: float
    quality: FrameQuality


def select_frames(
    frames: Sequence["Image"],
    detector: FaceDetector,
    *,
    count: int,
    landmarker: FaceLandmarker | None = None,
    on_progress: OnProgress | None = None,
) -> list[SelectedFrame]:
    """Best first, without near duplicates; fewer than `count` if the video has fewer distinct views.

    Without a `landmarker`, closed eyes are not recognized.
    """
    if len(frames) > MAX_FRAMES:
        raise EngineError(f"At most {MAX_FRAMES} frames can be compared.")
    qualities = []
    for frame in frames:
        qualities.append(assess_frame(frame, detector, landmarker))
        if on_progress:
            on_progress(len(qualities) / len(frames))
    candidates = [SelectedFrame(index, quality.score, quality) for index, quality in enumerate(qualities)]
    kept: list[tuple[int, SelectedFrame]] = []
    for each in sorted(candidates, key=lambda one: -one.score):
        code = perceptual_hash(frames[each.index])
        if all((code ^ other).bit_count() >= MIN_HASH_DISTANCE for other, _ in kept):
            kept.append((code, each))
        if len(kept) >= count:
            break
    return [each for _, each in kept]


def find_open_eyes(
    blinking: "Image", nearby: Sequence["Image"], detector: FaceDetector, landmarker: FaceLandmarker
) -> int | None:
    """Index of the best of the nearby frames that shows the same view with open eyes; None if all are clearly worse."""
    goal = NEARLY_EQUAL * assess_frame(blinking, detector, landmarker).picture_score
    code = perceptual_hash(blinking)
    scores = {}
    for index, frame in enumerate(nearby):
        quality = assess_frame(frame, detector, landmarker)
        is_same_view = (perceptual_hash(frame) ^ code).bit_count() < MIN_HASH_DISTANCE
        if is_same_view and quality.faces and not quality.main_face.has_closed_eyes and quality.score >= goal:
            scores[index] = quality.score
    return max(scores, key=lambda index: scores[index], default=None)


def assess_frame(frame: "Image", detector: FaceDetector, landmarker: FaceLandmarker | None = None) -> FrameQuality:
    import cv2  # noqa: PLC0415 - keeps the import out of the API process
    import numpy as np  # noqa: PLC0415 - as above

    height, width = frame.shape[:2]
    scale = min(1.0, ANALYSIS_WIDTH / width)
    size = max(2, round(width * scale)), max(2, round(height * scale))
    small = cv2.resize(frame, size, interpolation=cv2.INTER_AREA).astype(np.uint8)
    gray = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32)
    faces = tuple(face.box for face in detector.detect(frame) if face.score >= FACE_SCORE)
    main = max(faces, key=lambda box: box.height, default=None)
    return FrameQuality(
        sharpness=_sharpness(gray, main),
        exposure=_exposure(gray),
        color=_color(small),
        faces=faces,
        face=_face(main) if main else 0.0,
        expression=_expression(frame, main) if main else 0.0,
        is_screen=is_screen(small),
        main_face=measure_expression(landmarker.locate(frame, main)) if landmarker and main else UNKNOWN,
    )


def _sharpness(gray: "NDArray[np.float32]", face: Box | None) -> float:
    """Measured on the main face if there is one, because the background may be out of focus."""
    import cv2  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    part = gray
    if face is not None:
        height, width = gray.shape
        top, left = int(face.y * height), int(face.x * width)
        part = gray[top : top + max(8, int(face.height * height)), left : left + max(8, int(face.width * width))]
    if float(part.std()) < 2:
        return 0.0
    # Re-blurring removes few gradients from a blurred image. The minimum over both axes catches motion blur.
    lost = []
    for axis, kernel in ((1, (BLUR_KERNEL, 1)), (0, (1, BLUR_KERNEL))):
        gradients = np.abs(np.diff(part, axis=axis))
        reblurred = np.abs(np.diff(cv2.blur(part, kernel), axis=axis))
        lost.append(float(np.maximum(0, gradients - reblurred).sum() / max(1e-3, gradients.sum())))
    return min(1.0, max(0.0, (min(lost) - BLURRED) / (SHARP - BLURRED)))


def _exposure(gray: "NDArray[np.float32]") -> float:
    mean, spread = float(gray.mean()), float(gray.std())
    clipped = float(((gray < 6) | (gray > 250)).mean())
    light = min(1.0, max(0.0, (mean - DARK / 2) / DARK), max(0.0, (255 - mean) / (255 - LIGHT) / 2))
    return light * min(1.0, spread / (3 * FLAT)) * (1 - 0.6 * min(1.0, clipped / CLIPPED))


def _color(small: "Image") -> float:
    import cv2  # noqa: PLC0415 - as above

    return min(1.0, float(cv2.cvtColor(small, cv2.COLOR_RGB2HSV)[..., 1].mean()) / 110)


def _face(box: Box) -> float:
    """High for a large face that is not cropped and has headroom."""
    large = min(1.0, box.height / GOOD_FACE)
    margin = min(box.x, 1 - box.x - box.width, box.y, 1 - box.y - box.height)
    return large * (1.0 if margin > 0.02 else 0.3) * (1.0 if box.y > 0.35 * box.height else 0.8)


def _expression(frame: "Image", face: Box) -> float:
    """Eyes and smile by OpenCV's Haar cascades; they are unreliable, so neither decides alone."""
    import cv2  # noqa: PLC0415 - as above

    height, width = frame.shape[:2]
    top, left = int(face.y * height), int(face.x * width)
    part = frame[top : top + int(face.height * height), left : left + int(face.width * width)]
    if min(part.shape[:2]) < 24:
        return 0.3
    size = FACE_SIDE, round(FACE_SIDE * part.shape[0] / part.shape[1])
    gray = cv2.equalizeHist(cv2.cvtColor(cv2.resize(part, size), cv2.COLOR_RGB2GRAY))
    upper, lower = gray[size[1] // 6 : size[1] * 3 // 5], gray[size[1] // 2 :]
    with _cascade_lock:
        eyes = _cascade("haarcascade_eye.xml").detectMultiScale(upper, 1.08, 4, minSize=(16, 16))
        smiles = _cascade("haarcascade_smile.xml").detectMultiScale(lower, 1.15, 14, minSize=(32, 14))
    sides = {bool(x + w / 2 > FACE_SIDE / 2) for x, _, w, _ in eyes}
    return 0.35 * len(sides) + 0.3 * bool(len(smiles))


@lru_cache(maxsize=4)
def _cascade(name: str) -> "cv2.CascadeClassifier":
    import cv2  # noqa: PLC0415 - as above

    return cv2.CascadeClassifier(str(Path(cv2.__file__).parent / "data" / name))


def perceptual_hash(image: "Image") -> int:
    """64-bit DCT perceptual hash; similar images have a small Hamming distance."""
    import cv2  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    gray = cv2.cvtColor(cv2.resize(image, (32, 32), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
    coefficients = cv2.dct(gray.astype(np.float32))[:8, :8].ravel()
    bits = coefficients > np.median(coefficients[1:])
    return int("".join("1" if bit else "0" for bit in bits), 2)
