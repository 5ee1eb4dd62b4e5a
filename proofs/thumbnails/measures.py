"""Looking at thumbnails as somebody would who did not make them: reading, contrast, faces, and how alike they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.types import Box
from cutroom.engines.vision.port import FaceDetector
from tests.support.ocr import OcrLine, headline_lines, preview, read_lines, read_text, word_accuracy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

SIZE = (1280, 720)
SURE = 0.6  # from which the detector means a person, as its own suite has it: cats come close to that
EDGE = 0.004  # of the width: nearer than this a face is cut
HASH_SIDE = 8


@dataclass(frozen=True, slots=True)
class Looked:
    """One thumbnail, measured."""

    size: tuple[int, int]
    read_full: float  # share of the headline's characters that were read
    read_small: float
    contrast: float | None
    faces: int
    faces_cut: int
    text_over_faces: int


def look(path: Path, headline: str | None, detector: FaceDetector) -> Looked:
    picture = load(path)
    lines = headline_lines(headline, read_lines(picture)) if headline else []
    faces = [face.box for face in detector.detect(picture) if face.score >= SURE]
    return Looked(
        size=(picture.shape[1], picture.shape[0]),
        read_full=word_accuracy(headline, read_text(picture)) if headline else 1.0,
        read_small=word_accuracy(headline, read_text(preview(picture))) if headline else 1.0,
        contrast=min((contrast_of(picture, line.box) for line in lines), default=None),
        faces=len(faces),
        faces_cut=sum(_is_cut(box) for box in faces),
        text_over_faces=sum(bool(_share(line.box, box) > 0.05) for line in lines for box in faces),
    )


@cache
def load(path: Path) -> "Image":
    read = cv2.imread(str(path), cv2.IMREAD_COLOR)
    assert read is not None, path
    return cv2.cvtColor(read, cv2.COLOR_BGR2RGB).astype(np.uint8)


def contrast_of(picture: "Image", box: Box) -> float:
    """By WCAG, between the letters in a box and what is directly around them: two clusters of its pixels."""
    height, width = picture.shape[:2]
    top, bottom = int(box.y * height), int((box.y + box.height) * height)
    left, right = int(box.x * width), int((box.x + box.width) * width)
    light = _luminance(picture[top:bottom, left:right])
    levels = np.clip(light * 255, 0, 255).astype(np.uint8)
    threshold, _ = cv2.threshold(levels, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    bright, dark = light[levels > threshold], light[levels <= threshold]
    if not len(bright) or not len(dark):
        return 1.0
    return float((np.median(bright) + 0.05) / (np.median(dark) + 0.05))


def _luminance(picture: "Image") -> "NDArray[np.float64]":
    share = picture.astype(np.float64) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def _is_cut(box: Box) -> bool:
    return bool(box.x <= EDGE or box.y <= EDGE or box.x + box.width >= 1 - EDGE or box.y + box.height >= 1 - EDGE)


def _share(text: Box, face: Box) -> float:
    """How much of a face lies under a line of text."""
    across = min(text.x + text.width, face.x + face.width) - max(text.x, face.x)
    down = min(text.y + text.height, face.y + face.height) - max(text.y, face.y)
    return max(across, 0.0) * max(down, 0.0) / (face.width * face.height)


def least_distance(paths: Sequence[Path]) -> int:
    """Bits of 64 in which the two most alike differ."""
    codes = [_hash(load(path)) for path in paths]
    return min((int(np.count_nonzero(one != two)) for one, two in combinations(codes, 2)), default=64)


def _hash(picture: "Image") -> "NDArray[np.bool_]":
    """Whether each of 8 times 8 low frequencies is above their median."""
    grey = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), (32, 32), interpolation=cv2.INTER_AREA)
    low = cv2.dct(grey.astype(np.float32))[:HASH_SIDE, :HASH_SIDE]
    return np.asarray(low > np.median(low))


__all__ = ["SIZE", "Looked", "OcrLine", "least_distance", "load", "look"]
