"""Reads text out of pictures, as a check on letters that we drew."""

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

MIN_SCORE = 0.5  # below that, the reader guesses
SMALL_WIDTH = 320
READ_WIDTH = 960  # to which small pictures are enlarged, as an eye comes nearer


@lru_cache(maxsize=1)
def _reader() -> Any:  # noqa: ANN401 - the package has no types
    from rapidocr import RapidOCR  # noqa: PLC0415 - a proof that does not read need not load it

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    return RapidOCR(params={"Global.log_level": "error"})


def read_text(picture: "Image") -> str:
    """All the text in a picture, from top to bottom, each line parted from the next by a line break."""
    if picture.shape[1] < READ_WIDTH:
        size = READ_WIDTH, round(picture.shape[0] * READ_WIDTH / picture.shape[1])
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_CUBIC).astype(np.uint8)
    found = _reader()(cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
    if found.txts is None:
        return ""
    lines = [
        (float(np.mean(box, axis=0)[1]), text)
        for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if score >= MIN_SCORE
    ]
    return "\n".join(text for _, text in sorted(lines))


def small(picture: "Image", *, width: int = SMALL_WIDTH) -> "Image":
    """As it is seen in a list of films."""
    size = width, round(picture.shape[0] * width / picture.shape[1])
    return cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.uint8)


def character_accuracy(expected: str, read: str) -> float:
    """The share of the expected characters that were read, in any order of lines, without blanks and marks.

    Other text in the picture, such as on a shirt, is no mistake of ours: what is too much does not count.
    """
    wanted, found = Counter(_plain(expected)), Counter(_plain(read))
    total = sum(wanted.values())
    return sum((wanted & found).values()) / total if total else 1.0


def word_accuracy(expected: str, read: str) -> float:
    """Stricter: the share of the expected letters that stand in lines as they were written.

    Each line that was read counts with the longest run that is part of what was expected, each place once.
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
    """Letters and figures in capitals, as one reads them aloud."""
    folded = unicodedata.normalize("NFKC", text).upper()
    return "".join(each for each in folded if unicodedata.category(each)[0] in "LN")


@dataclass(frozen=True, slots=True)
class Line:
    """Words that were read, and where they stand."""

    text: str
    box: Box


def read_lines(picture: "Image") -> list[Line]:
    """From top to bottom, as they stand in the picture."""
    found = _reader()(np.ascontiguousarray(picture[..., ::-1]))
    if found.boxes is None or found.txts is None:
        return []
    height, width = picture.shape[:2]
    lines = []
    for corners, text in zip(found.boxes, found.txts, strict=True):
        left, top = (float(each) for each in corners.min(axis=0))
        right, bottom = (float(each) for each in corners.max(axis=0))
        box = Box(left / width, top / height, (right - left) / width, (bottom - top) / height)
        lines.append(Line(text, box))
    return sorted(lines, key=lambda line: (round(line.box.y * 12), line.box.x))


def of_headline(headline: str, lines: Sequence[Line]) -> list[Line]:
    """Lines that are part of a headline; other text may be in the film's own pictures."""
    plain = _plain(headline)
    return [line for line in lines if 2 * len(_longest_run(plain, _plain(line.text))) > len(_plain(line.text))]
