"""Reads text in images with an OCR engine, to verify rendered text."""

import logging
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from cutroom.engines.types import Box

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MIN_SCORE = 0.5  # lower scores are guesses
PREVIEW_WIDTH = 320
READ_WIDTH = 960  # small images are upscaled to this width


@lru_cache(maxsize=1)
def _reader() -> Any:  # noqa: ANN401 - the package has no types
    from rapidocr import RapidOCR  # noqa: PLC0415 - loaded only when needed

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    # One thread: with several, onnxruntime's threads busy-wait for each other.
    return RapidOCR(params={"Global.log_level": "error", "EngineConfig.onnxruntime.intra_op_num_threads": 1})


def read_text(image: "Image") -> str:
    """All text in an image, one line per line, top to bottom."""
    if image.shape[1] < READ_WIDTH:
        size = READ_WIDTH, round(image.shape[0] * READ_WIDTH / image.shape[1])
        image = cv2.resize(image, size, interpolation=cv2.INTER_CUBIC).astype(np.uint8)
    found = _reader()(cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    if found.txts is None:
        return ""
    lines = [
        (float(np.mean(box, axis=0)[1]), text)
        for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if score >= MIN_SCORE
    ]
    return "\n".join(text for _, text in sorted(lines))


def preview(image: "Image", *, width: int = PREVIEW_WIDTH) -> "Image":
    """Downscaled to the size shown in video lists."""
    size = width, round(image.shape[0] * width / image.shape[1])
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA).astype(np.uint8)


def character_accuracy(expected: str, read: str) -> float:
    """Share of the expected characters that were read, ignoring line order, whitespace and punctuation.

    Additional text in the image, such as on a shirt, is not penalized.
    """
    target, found = Counter(_plain(expected)), Counter(_plain(read))
    total = sum(target.values())
    return sum((target & found).values()) / total if total else 1.0


def word_accuracy(expected: str, read: str) -> float:
    """Share of the expected letters that were read in the right order.

    Each recognized line counts with its longest run that occurs in the expected text; each position counts once.
    """
    left = _plain(expected)
    total = len(left)
    matched = 0
    for line in sorted((_plain(each) for each in read.splitlines()), key=len, reverse=True):
        run = _longest_run(left, line)
        if len(run) >= min(2, total):
            matched += len(run)
            left = left.replace(run, "\n", 1)
    return matched / total if total else 1.0


def _longest_run(text: str, line: str) -> str:
    for length in range(min(len(text), len(line)), 0, -1):
        for start in range(len(line) - length + 1):
            if line[start : start + length] in text:
                return line[start : start + length]
    return ""


def _plain(text: str) -> str:
    """Upper-case letters and digits only."""
    folded = unicodedata.normalize("NFKC", text).upper()
    return "".join(each for each in folded if unicodedata.category(each)[0] in "LN")


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A recognized line and its box."""

    text: str
    box: Box


def read_lines(image: "Image") -> list[OcrLine]:
    """All lines, top to bottom."""
    found = _reader()(np.ascontiguousarray(image[..., ::-1]))
    if found.boxes is None or found.txts is None:
        return []
    height, width = image.shape[:2]
    lines = []
    for corners, text in zip(found.boxes, found.txts, strict=True):
        left, top = (float(each) for each in corners.min(axis=0))
        right, bottom = (float(each) for each in corners.max(axis=0))
        box = Box(left / width, top / height, (right - left) / width, (bottom - top) / height)
        lines.append(OcrLine(text, box))
    return sorted(lines, key=lambda line: (round(line.box.y * 12), line.box.x))


def headline_lines(headline: str, lines: Sequence[OcrLine]) -> list[OcrLine]:
    """The lines that belong to a headline; frames may contain other text."""
    plain = _plain(headline)
    return [line for line in lines if 2 * len(_longest_run(plain, _plain(line.text))) > len(_plain(line.text))]
