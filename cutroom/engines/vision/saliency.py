"""What a picture is like where there is no face: whether it is a screen of text, and where the eye goes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

    Plane = NDArray[np.float32]

WIDTH = 320  # pictures are looked at in this width
LEVEL_BITS = 4  # of each colour: finer differences are noise

# Screens, measured on drawn slides, pages and terminals against photographs: see the tests.
FLAT_STEP = 3  # of 255 between neighbours, up to which a region is flat
MIN_FLAT = 0.4
MIN_TOP_COLOURS = 0.6  # of the pixels that have one of the commonest colours
TOP_COLOURS = 6
SHARP_STEP = 48  # of 255 between neighbours: the edge of a letter or a line
MIN_SHARP = 0.02
STROKE_PIXELS = 5  # how wide a stroke of a letter may be
MIN_STROKES = 0.9  # of the sharp edges in rows that have their counterpart so near

RESIDUAL_SIDE = 64
CENTRE_BIAS = 0.35  # of the width: how wide the bell is by which the middle counts more
STRONGEST = 0.1  # of the pixels that draw the eye


@dataclass(frozen=True, slots=True)
class ScreenMarks:
    """What tells screens from footage, as shares from 0 to 1."""

    flat: float
    top_colours: float
    sharp: float
    strokes: float


def is_screen(picture: "Image") -> bool:
    """Whether this is a slide, a page or a program's window rather than footage."""
    marks = screen_marks(picture)
    is_flat = marks.flat >= MIN_FLAT and marks.top_colours >= MIN_TOP_COLOURS
    return is_flat and marks.sharp >= MIN_SHARP and marks.strokes >= MIN_STROKES


def screen_marks(picture: "Image") -> ScreenMarks:
    """Flat regions of few colours, and on them strokes: edges that are sharp and come in pairs."""
    import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

    small = _small(picture)
    grey = small.astype(np.int16).mean(axis=2)
    across, down = np.abs(np.diff(grey, axis=1))[:-1], np.abs(np.diff(grey, axis=0))[:, :-1]
    step = np.maximum(across, down)
    levels = (small >> (8 - LEVEL_BITS)).astype(np.int32)
    codes = (levels[..., 0] << (2 * LEVEL_BITS)) + (levels[..., 1] << LEVEL_BITS) + levels[..., 2]
    counts = np.sort(np.bincount(codes.ravel()))[::-1]
    return ScreenMarks(
        flat=float((step <= FLAT_STEP).mean()),
        top_colours=float(counts[:TOP_COLOURS].sum() / codes.size),
        sharp=float((step >= SHARP_STEP).mean()),
        strokes=_strokes(np.diff(grey, axis=1)),
    )


def _strokes(steps: "Plane") -> float:
    """The share of sharp edges, from left to right, that have one the other way beside them."""
    import numpy as np  # noqa: PLC0415 - as above

    found = edges = 0
    for signed in (steps, -steps):
        sharp, back = signed >= SHARP_STEP, signed <= -SHARP_STEP / 2
        near = np.zeros_like(back)
        for shift in range(1, STROKE_PIXELS + 1):
            near[:, shift:] |= back[:, :-shift]
            near[:, :-shift] |= back[:, shift:]
        found, edges = found + int((sharp & near).sum()), edges + int(sharp.sum())
    return found / edges if edges else 0.0


def interest_x(picture: "Image") -> float:
    """Where the eye goes, as a share of the width."""
    import numpy as np  # noqa: PLC0415 - as above

    eye = interest(picture)
    columns = (np.arange(RESIDUAL_SIDE) + 0.5) / RESIDUAL_SIDE
    total = float(eye.sum())
    return float((eye.sum(axis=0) * columns).sum() / total) if total > 0 else 0.5


def interest(picture: "Image") -> "Plane":
    """How much each part of a picture, a 64th of its sides, draws the eye: what stands out of its own pattern.

    The middle counts more. All but the strongest parts are 0; a flat picture has none.
    """
    import cv2  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    grey = cv2.cvtColor(_small(picture), cv2.COLOR_RGB2GRAY)
    if float(grey.std()) < 1.0:
        return np.zeros((RESIDUAL_SIDE, RESIDUAL_SIDE), np.float32)
    # Spectral residual: what is left of the spectrum without its smooth part is what is unlike everything else.
    side = cv2.resize(grey, (RESIDUAL_SIDE, RESIDUAL_SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
    spectrum = np.fft.fft2(side - side.mean())
    size = np.log(np.abs(spectrum) + 1e-3).astype(np.float32)
    residual = size - cv2.blur(size, (3, 3), borderType=cv2.BORDER_REPLICATE)
    drawn = np.abs(np.fft.ifft2(np.exp(residual + 1j * np.angle(spectrum)))) ** 2
    eye = cv2.GaussianBlur(drawn.astype(np.float32), (0, 0), 2.5)
    columns = (np.arange(RESIDUAL_SIDE) + 0.5) / RESIDUAL_SIDE
    eye *= np.exp(-(((columns - 0.5) / CENTRE_BIAS) ** 2) / 2).astype(np.float32)
    eye[eye < np.quantile(eye, 1 - STRONGEST)] = 0
    return eye.astype(np.float32)


def _small(picture: "Image") -> "Image":
    try:
        import cv2  # noqa: PLC0415 - as above
        import numpy as np  # noqa: PLC0415 - as above
    except ImportError as error:
        raise EngineUnavailableError("opencv-python-headless is not installed.") from error
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or not picture.size:
        raise EngineError("A picture is rows of pixels of three bytes.")
    height, width = picture.shape[:2]
    if width <= WIDTH:
        return picture
    return cv2.resize(picture, (WIDTH, max(2, round(height * WIDTH / width))), interpolation=cv2.INTER_AREA).astype(
        np.uint8
    )
