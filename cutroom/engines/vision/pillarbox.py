"""Finds upright pictures that were recorded into a wide frame, over a blurred copy of themselves or a plain color."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

ANALYSIS_WIDTH = 640  # pixels
MAX_FILL_DETAIL = 2.0  # mean Laplacian of a column, of 255; sharp pictures have five and more
SEAM_STEP, MIN_SEAM_ROWS = 4.0, 0.5  # of 255, and the share of the rows that differ by it on both sides of the seam
SEAM_WIDTH = 2  # columns
MIN_SIDE, MIN_PICTURE = 0.04, 0.25  # of the frame width
MAX_ASPECT_RATIO = 0.95  # of an upright picture; wider ones fill most of the frame and stay as they are


def upright_picture(image: "Image") -> "Image":
    """The picture without the fill beside it; the whole image if there is none."""
    import cv2  # noqa: PLC0415 - keeps the import out of the API process
    import numpy as np  # noqa: PLC0415 - as above

    height, width = image.shape[:2]
    scale = ANALYSIS_WIDTH / width
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    if scale < 1:
        gray = cv2.resize(gray, (ANALYSIS_WIDTH, max(1, round(height * scale))), interpolation=cv2.INTER_AREA)
    detail = np.abs(cv2.Laplacian(gray.astype(np.float32), cv2.CV_32F)).mean(axis=0)
    seams = (np.abs(np.diff(gray.astype(np.float32), axis=1)) >= SEAM_STEP).mean(axis=0)
    columns = gray.shape[1]
    left, right = _fill_width(detail, seams), columns - _fill_width(detail[::-1], seams[::-1])
    if not MIN_PICTURE * columns <= right - left <= MAX_ASPECT_RATIO * gray.shape[0]:
        return image
    start, end = (round(each * width / columns) for each in (left, right))
    return np.ascontiguousarray(image[:, start:end])


def _fill_width(detail: "NDArray[np.float32]", seams: "NDArray[np.float64]") -> int:
    """Columns without detail at the start, if they end in a straight seam."""
    import numpy as np  # noqa: PLC0415 - as above

    width = int(np.argmax(detail > MAX_FILL_DETAIL)) if (detail > MAX_FILL_DETAIL).any() else 0
    near = seams[max(0, width - SEAM_WIDTH) : width + SEAM_WIDTH + 1]
    is_fill = width >= MIN_SIDE * len(detail) and near.max() >= MIN_SEAM_ROWS
    return width + SEAM_WIDTH if is_fill else 0  # the seam itself is not of the picture
