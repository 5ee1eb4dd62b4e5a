"""Reading the words in a picture back, with an engine that had no part in writing them."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from rapidocr import RapidOCR
from rapidocr.utils.output import RapidOCROutput

from cutroom.engines.ports import Box

if TYPE_CHECKING:
    from cutroom.engines.ports import Picture


@dataclass(frozen=True, slots=True)
class Line:
    """Words that were read, and where they stand."""

    text: str
    box: Box


@cache
def _engine() -> RapidOCR:
    return RapidOCR(params={"Global.log_level": "error"})


def read_lines(picture: "Picture") -> list[Line]:
    """From top to bottom."""
    found = _engine()(np.ascontiguousarray(picture[..., ::-1]))
    assert isinstance(found, RapidOCROutput)
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


def accuracy(told: str, lines: Sequence[Line]) -> float:
    """The share of the letters and digits that were read, in their order; how lines are broken does not matter."""
    wanted, read = _letters(told), _letters("".join(line.text for line in lines))
    return max(0.0, 1 - _distance(wanted, read) / len(wanted)) if wanted else 1.0


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(sign for sign in folded if sign.isalnum())


def _distance(wanted: str, read: str) -> int:
    """Letters that have to be put in, left out or changed."""
    row = list(range(len(read) + 1))
    for number, sign in enumerate(wanted, start=1):
        before, row[0] = row[0], number
        for at, other in enumerate(read, start=1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (sign != other))
    return row[-1]
