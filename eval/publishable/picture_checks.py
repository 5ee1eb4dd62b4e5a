"""What a reader checks in a picture; shares no code with the compositor or the framing."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]  # height x width x RGB

PixelBox = tuple[int, int, int, int]  # left, top, width, height

WHITE = 236  # of 255, in every channel: an outline
MAX_OUTLINE = 16  # pixels, at a width of 1280
MIN_EDGE = 0.6  # of a face's width: a line this long below it ends the body
EDGE_SHARE = 0.01  # of a side; a face nearer to an edge is cut
HASH_SIDE = 8
SAME_BITS = 6  # of 64; fewer differences are nearly the same picture
_NUMBER = re.compile(r"[$€£#]?\d[\d.,:]*%?$")
_NOUN = re.compile(r"[^\W\d_]{3,}")
_LABELS = frozenset({"number", "page", "chapter", "rule", "part", "step", "room", "número", "página", "regra", "passo"})
# Short words that follow a number without belonging to it.
_FUNCTION_WORDS = frozenset(
    {"and", "but", "for", "from", "with", "into", "when", "then", "was", "were", "are", "the", "that", "this", "who"}
    | {"she", "they", "you", "his", "her", "our", "not", "because", "after", "before", "still", "until"}
    | {"que", "com", "mas", "por", "para", "dos", "das", "uma", "ele", "ela", "foi", "não", "até", "quando", "porque"}
)


def find_faces(image: "Image") -> list[PixelBox]:
    """Frontal faces by OpenCV's Haar cascade, which the product does not use to find faces."""
    gray = cv2.equalizeHist(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))
    side = max(24, gray.shape[0] // 8)
    found = _cascade().detectMultiScale(gray, 1.1, 7, minSize=(side, side))
    return [(int(x), int(y), int(w), int(h)) for x, y, w, h in found]


@cache
def _cascade() -> "cv2.CascadeClassifier":
    return cv2.CascadeClassifier(str(Path(cv2.__file__).parent / "data" / "haarcascade_frontalface_default.xml"))


def floating_cutouts(image: "Image", faces: Sequence[PixelBox]) -> list[PixelBox]:
    """Faces above the white outline of a lower edge that lies inside of the picture."""
    return [face for face in faces if _has_edge_below(image, face)]


def _has_edge_below(image: "Image", face: PixelBox) -> bool:
    height, width = image.shape[:2]
    left, top, wide, tall = face
    thickness = max(3, MAX_OUTLINE * width // 1280)
    columns = slice(max(0, left), min(width, left + wide))
    white = np.asarray((image[:, columns] >= WHITE).all(axis=2))
    covered = _longest_runs(white) >= MIN_EDGE * wide
    start = min(height, top + tall)
    rows = np.flatnonzero(covered[start : height - 2]) + start
    if not rows.size:
        return False
    # A thin line is an outline; a white shirt or wall is thicker. The outline of a band crosses the whole picture.
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    crosses = [(image[run] >= WHITE).all(axis=2).mean() > 0.95 for run in runs]
    return any(len(run) <= thickness and not across for run, across in zip(runs, crosses, strict=True))


def _longest_runs(mask: "NDArray[np.bool_]") -> "NDArray[np.intp]":
    """Length of the longest run in each row; letters are shorter than an edge."""
    longest = np.zeros(len(mask), np.intp)
    current = np.zeros(len(mask), np.intp)
    for column in mask.T:
        current = np.where(column, current + 1, 0)
        longest = np.maximum(longest, current)
    return longest


def cut_faces(image: "Image", faces: Sequence[PixelBox]) -> list[PixelBox]:
    """Faces at an edge of the picture."""
    height, width = image.shape[:2]
    margin = EDGE_SHARE * height
    return [
        (x, y, w, h) for x, y, w, h in faces if min(x, y) < margin or x + w > width - margin or y + h > height - margin
    ]


def orphan_numbers(lines: Sequence[str]) -> list[str]:
    """Neighboring lines that part a number from its noun: "31 / years", "rule number / 2"."""
    found = []
    for one, two in pairwise(lines):
        before, after = (one.split() or [""])[-1], (two.split() or [""])[0]
        noun = _NOUN.match(after)
        follows = _NUMBER.fullmatch(before) and noun and after.lower() not in _FUNCTION_WORDS
        labelled = before.lower() in _LABELS and _NUMBER.fullmatch(after.rstrip(".,:;!?"))
        if (follows and not before.endswith((".", ",", ":"))) or labelled:
            found.append(f"{one} / {two}")
    return found


def same_covers(images: "Sequence[Image]") -> list[tuple[int, int]]:
    """Pairs of nearly the same picture, by position."""
    hashes = [_difference_hash(image) for image in images]
    return [
        (one, two)
        for one, two in combinations(range(len(hashes)), 2)
        if int(np.count_nonzero(hashes[one] != hashes[two])) <= SAME_BITS
    ]


def _difference_hash(image: "Image") -> "NDArray[np.bool_]":
    """64 bits: whether each cell of a small gray copy is lighter than the cell to its left."""
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(gray, (HASH_SIDE + 1, HASH_SIDE), interpolation=cv2.INTER_AREA).astype(np.int16)
    return np.asarray(small[:, 1:] > small[:, :-1])
