"""Recognizes closed eyes in a finished picture; shares the eye model with the product, but no code.

The product measures lid distances at eyes that a face mesh locates. Here, eyes are expected at their usual place in a
face of OpenCV's cascade, centered once on what the model sees, and measured by their visible area.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from eval.publishable.picture_checks import PixelBox

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]  # height x width x RGB

EYE_FROM_SIDE, EYE_FROM_TOP, FIRST_CROP = 0.31, 0.4, 0.45  # of a face's width and height
SECOND_CROP = 2.3  # eye widths
MODEL_SIDE = 64  # pixels
CONTOUR = [*range(9), *range(15, 8, -1)]  # the lower lid, then the upper one
CLOSED_AREA = 0.175  # of a square as wide as the eye; open eyes have 0.20 to 0.27, closed ones 0.08 to 0.15
MODEL_FILE = Path("mediapipe-face") / "iris_landmark.tflite"


def has_closed_eyes(image: "Image", face: PixelBox, models: Path) -> bool:
    areas = [_visible_area(image, face, models, is_left=is_left) for is_left in (True, False)]
    return sum(areas) / len(areas) < CLOSED_AREA


def main_face(faces: list[PixelBox]) -> PixelBox | None:
    return max(faces, key=lambda face: face[2] * face[3], default=None)


def _visible_area(image: "Image", face: PixelBox, models: Path, *, is_left: bool) -> float:
    left, top, wide, tall = face
    x = left + (EYE_FROM_SIDE if is_left else 1 - EYE_FROM_SIDE) * wide
    y, side = top + EYE_FROM_TOP * tall, FIRST_CROP * wide
    contour = _contour(image, x, y, side, models, is_left=is_left)
    center, width = (contour[0] + contour[8]) / 2, abs(float(contour[8, 0] - contour[0, 0]))
    contour = _contour(image, center[0], center[1], SECOND_CROP * max(width, 0.1 * wide), models, is_left=is_left)
    across = float(np.sum((contour[8] - contour[0]) ** 2))
    return cv2.contourArea(contour[CONTOUR].astype(np.float32)) / across


def _contour(image: "Image", x: float, y: float, side: float, models: Path, *, is_left: bool) -> "NDArray[np.float64]":
    """Sixteen points around an eye, in pixels of the image."""
    crop = cv2.getRectSubPix(image, (round(side), round(side)), (float(x), float(y)))
    small = cv2.resize(crop, (MODEL_SIDE, MODEL_SIDE)).astype(np.float32) / 255
    seen = small[:, ::-1] if is_left else small  # the model knows eyes on the right
    model = _model(models / MODEL_FILE)
    model.set_tensor(model.get_input_details()[0]["index"], seen[None])
    model.invoke()
    [output] = [each for each in model.get_output_details() if each["name"] == "output_eyes_contours_and_brows"]
    points = model.get_tensor(output["index"]).reshape(-1, 3)[:16, :2].astype(np.float64)
    if is_left:
        points[:, 0] = MODEL_SIDE - points[:, 0]
    return np.asarray((points / MODEL_SIDE - 0.5) * side + (x, y))


@cache
def _model(path: Path) -> Any:  # noqa: ANN401 - an untyped interpreter
    from ai_edge_litert.interpreter import Interpreter  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415 - optional

    model = Interpreter(model_path=str(path), num_threads=1)
    model.allocate_tensors()
    return model
