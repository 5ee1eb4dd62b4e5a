"""Measures thumbnails: OCR accuracy, contrast, faces, and perceptual hash distance."""

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
from tests.support.ocr import headline_lines, preview, read_lines, read_text, word_accuracy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

SIZE = (1280, 720)
MIN_FACE_SCORE = 0.6  # as in the detector's tests; cats come close to it
EDGE = 0.004  # relative distance below which a face counts as cut
HASH_SIDE = 8


@dataclass(frozen=True, slots=True)
class MeasuredThumbnail:
    """Measurements of one thumbnail."""

    size: tuple[int, int]
    read_full: float  # share of the headline's characters recognized by OCR
    read_small: float
    contrast: float | None
    faces: int
    faces_cut: int
    text_over_faces: int


def measure(path: Path, headline: str | None, detector: FaceDetector) -> MeasuredThumbnail:
    image = load(path)
    lines = headline_lines(headline, read_lines(image)) if headline else []
    faces = [face.box for face in detector.detect(image) if face.score >= MIN_FACE_SCORE]
    return MeasuredThumbnail(
        size=(image.shape[1], image.shape[0]),
        read_full=word_accuracy(headline, read_text(image)) if headline else 1.0,
        read_small=word_accuracy(headline, read_text(preview(image))) if headline else 1.0,
        contrast=min((contrast_of(image, line.box) for line in lines), default=None),
        faces=len(faces),
        faces_cut=sum(_is_cut(box) for box in faces),
        text_over_faces=sum(bool(_covered_share(line.box, box) > 0.05) for line in lines for box in faces),
    )


@cache
def load(path: Path) -> "Image":
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    assert image is not None, path
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB).astype(np.uint8)


def contrast_of(image: "Image", box: Box) -> float:
    """WCAG contrast ratio between text and its background in a box, separated by Otsu's threshold."""
    height, width = image.shape[:2]
    top, bottom = int(box.y * height), int((box.y + box.height) * height)
    left, right = int(box.x * width), int((box.x + box.width) * width)
    light = _luminance(image[top:bottom, left:right])
    levels = np.clip(light * 255, 0, 255).astype(np.uint8)
    threshold, _ = cv2.threshold(levels, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    bright, dark = light[levels > threshold], light[levels <= threshold]
    if not len(bright) or not len(dark):
        return 1.0
    return float((np.median(bright) + 0.05) / (np.median(dark) + 0.05))


def _luminance(image: "Image") -> "NDArray[np.float64]":
    share = image.astype(np.float64) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def _is_cut(box: Box) -> bool:
    return bool(box.x <= EDGE or box.y <= EDGE or box.x + box.width >= 1 - EDGE or box.y + box.height >= 1 - EDGE)


def _covered_share(text: Box, face: Box) -> float:
    """Share of a face covered by a line of text."""
    across = min(text.x + text.width, face.x + face.width) - max(text.x, face.x)
    down = min(text.y + text.height, face.y + face.height) - max(text.y, face.y)
    return max(across, 0.0) * max(down, 0.0) / (face.width * face.height)


def min_distance(paths: Sequence[Path]) -> int:
    """Smallest Hamming distance between the perceptual hashes of two images."""
    codes = [_hash(load(path)) for path in paths]
    return min((int(np.count_nonzero(one != two)) for one, two in combinations(codes, 2)), default=64)


def _hash(image: "Image") -> "NDArray[np.bool_]":
    """64-bit DCT perceptual hash."""
    gray = cv2.resize(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), (32, 32), interpolation=cv2.INTER_AREA)
    low = cv2.dct(gray.astype(np.float32))[:HASH_SIDE, :HASH_SIDE]
    return np.asarray(low > np.median(low))
