"""Which pictures of a film are worth showing: sharp, well lit, with faces that are large and whole, and different."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from cutroom.engines.ports import Face, FaceFinder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.ports import Picture

SIDE = 480  # to which pictures are made small before they are judged
ALIKE = 6  # bits of 64: pictures that differ in fewer show the same
FLAT = 6.0  # deviation of the brightness below which nothing is to be seen
SHARP = 300.0  # variance of edges at which a picture counts as sharp
EDGE = 0.01  # of a side: faces nearer to it are cut
LARGE_FACE = 0.35  # of the height: more adds nothing


class Shown(Protocol):
    """A picture that can be chosen."""

    @property
    def picture(self) -> "Picture": ...


Each = TypeVar("Each", bound=Shown)


def choose_frames(candidates: Sequence[Each], finder: FaceFinder, *, count: int) -> list[Each]:
    """The best that all differ, the best first; fades and empty pictures only where there is nothing else."""
    judged = [(score(each.picture, finder.find(each.picture)), each) for each in candidates]
    kept: list[tuple[NDArray[np.bool_], Each]] = []
    for _, each in sorted(judged, key=lambda one: -one[0]):
        code = _hash(each.picture)
        if all(int((code != other).sum()) >= ALIKE for other, _ in kept):
            kept.append((code, each))
        if len(kept) == count:
            break
    return [each for _, each in kept]


def score(picture: "Picture", faces: Sequence[Face]) -> float:
    """From 0 to about 3: sharpness, light, colour, and the most prominent face."""
    import cv2  # noqa: PLC0415 (the API imports this room, and never looks at pictures)
    import numpy as np  # noqa: PLC0415 (as above)

    scale = min(1.0, SIDE / max(picture.shape[:2]))
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32)
    if float(grey.std()) < FLAT:
        return 0.0
    sharpness = min(1.0, float(cv2.Laplacian(grey, cv2.CV_32F).var()) / SHARP)
    light = 1 - abs(float(grey.mean()) / 255 - 0.5) * 2
    saturation = float(cv2.cvtColor(small, cv2.COLOR_RGB2HSV)[..., 1].mean()) / 255
    return 0.8 * sharpness + 0.4 * light + 0.3 * saturation + max(map(_worth, faces), default=0.0)


def _worth(face: Face) -> float:
    box = face.box
    is_cut = box.x < EDGE or box.y < EDGE or box.x + box.width > 1 - EDGE or box.y + box.height > 1 - EDGE
    return face.score * min(box.height, LARGE_FACE) / LARGE_FACE * (0.3 if is_cut else 1.0)


def _hash(picture: "Picture") -> "NDArray[np.bool_]":
    """Whether each of 64 low frequencies is above their median."""
    import cv2  # noqa: PLC0415 (as above)
    import numpy as np  # noqa: PLC0415 (as above)

    grey = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), (32, 32), interpolation=cv2.INTER_AREA)
    low = cv2.dct(grey.astype(np.float32))[:8, :8]
    return np.asarray(low > np.median(low))
