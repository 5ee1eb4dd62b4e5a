"""Screen recording detection, and spectral residual saliency for frames without faces."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

    Plane = NDArray[np.float32]

WIDTH = 320  # analysis width in pixels
LEVEL_BITS = 4  # color quantization per channel

# Screen thresholds, calibrated on slides, pages and terminals against photographs; see the tests.
FLAT_STEP = 3  # maximum gradient of a flat region, of 255
MIN_FLAT = 0.4
MIN_TOP_COLORS = 0.6  # share of pixels in the most common colors
TOP_COLORS = 6
SHARP_STEP = 48  # minimum gradient of a text or line edge, of 255
MIN_SHARP = 0.02
STROKE_PIXELS = 5  # maximum stroke width of a letter
MIN_STROKES = 0.9  # share of sharp edges with an opposite edge within the stroke width

RESIDUAL_SIDE = 64
CENTER_BIAS = 0.35  # standard deviation of the horizontal center weighting, as a share of the width
STRONGEST = 0.1  # share of cells that count as salient


@dataclass(frozen=True, slots=True)
class ScreenFeatures:
    """Features that separate screen content from footage, as shares from 0 to 1."""

    flat: float
    top_colors: float
    sharp: float
    strokes: float


def is_screen(image: "Image") -> bool:
    """Whether the image is a slide, a document or an application window rather than footage."""
    features = screen_features(image)
    is_flat = features.flat >= MIN_FLAT and features.top_colors >= MIN_TOP_COLORS
    return is_flat and features.sharp >= MIN_SHARP and features.strokes >= MIN_STROKES


def screen_features(image: "Image") -> ScreenFeatures:
    """Screens have flat regions in few colors, and strokes: sharp edges in opposite pairs."""
    import numpy as np  # noqa: PLC0415 - keeps the import out of the API process

    small = _downscaled(image)
    gray = small.astype(np.int16).mean(axis=2)
    across, down = np.abs(np.diff(gray, axis=1))[:-1], np.abs(np.diff(gray, axis=0))[:, :-1]
    step = np.maximum(across, down)
    levels = (small >> (8 - LEVEL_BITS)).astype(np.int32)
    codes = (levels[..., 0] << (2 * LEVEL_BITS)) + (levels[..., 1] << LEVEL_BITS) + levels[..., 2]
    counts = np.sort(np.bincount(codes.ravel()))[::-1]
    return ScreenFeatures(
        flat=float((step <= FLAT_STEP).mean()),
        top_colors=float(counts[:TOP_COLORS].sum() / codes.size),
        sharp=float((step >= SHARP_STEP).mean()),
        strokes=_strokes(np.diff(gray, axis=1)),
    )


def _strokes(gradients: "Plane") -> float:
    """Share of sharp horizontal edges with an opposite edge nearby."""
    import numpy as np  # noqa: PLC0415 - as above

    found = edges = 0
    for signed in (gradients, -gradients):
        sharp, opposite = signed >= SHARP_STEP, signed <= -SHARP_STEP / 2
        near = np.zeros_like(opposite)
        for shift in range(1, STROKE_PIXELS + 1):
            near[:, shift:] |= opposite[:, :-shift]
            near[:, :-shift] |= opposite[:, shift:]
        found, edges = found + int((sharp & near).sum()), edges + int(sharp.sum())
    return found / edges if edges else 0.0


def saliency_center_x(image: "Image") -> float:
    """Horizontal center of saliency, as a share of the width."""
    import numpy as np  # noqa: PLC0415 - as above

    saliency = saliency_map(image)
    columns = (np.arange(RESIDUAL_SIDE) + 0.5) / RESIDUAL_SIDE
    total = float(saliency.sum())
    return float((saliency.sum(axis=0) * columns).sum() / total) if total > 0 else 0.5


def saliency_map(image: "Image") -> "Plane":
    """Spectral residual saliency on a 64 x 64 grid, weighted towards the center.

    Only the strongest cells are nonzero; a flat image has none.
    """
    import cv2  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    gray = cv2.cvtColor(_downscaled(image), cv2.COLOR_RGB2GRAY)
    if float(gray.std()) < 1.0:
        return np.zeros((RESIDUAL_SIDE, RESIDUAL_SIDE), np.float32)
    # The spectrum minus its local average leaves what deviates from the image's own statistics.
    side = cv2.resize(gray, (RESIDUAL_SIDE, RESIDUAL_SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
    spectrum = np.fft.fft2(side - side.mean())
    log_amplitude = np.log(np.abs(spectrum) + 1e-3).astype(np.float32)
    residual = log_amplitude - cv2.blur(log_amplitude, (3, 3), borderType=cv2.BORDER_REPLICATE)
    raw = np.abs(np.fft.ifft2(np.exp(residual + 1j * np.angle(spectrum)))) ** 2
    saliency = cv2.GaussianBlur(raw.astype(np.float32), (0, 0), 2.5)
    columns = (np.arange(RESIDUAL_SIDE) + 0.5) / RESIDUAL_SIDE
    saliency *= np.exp(-(((columns - 0.5) / CENTER_BIAS) ** 2) / 2).astype(np.float32)
    saliency[saliency < np.quantile(saliency, 1 - STRONGEST)] = 0
    return saliency.astype(np.float32)


def _downscaled(image: "Image") -> "Image":
    try:
        import cv2  # noqa: PLC0415 - as above
        import numpy as np  # noqa: PLC0415 - as above
    except ImportError as error:
        raise EngineUnavailableError("opencv-python-headless is not installed.") from error
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
        raise EngineError("Images must be 8-bit RGB arrays.")
    height, width = image.shape[:2]
    if width <= WIDTH:
        return image
    size = WIDTH, max(2, round(height * WIDTH / width))
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA).astype(np.uint8)
