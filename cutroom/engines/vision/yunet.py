"""Face detection with YuNet on OpenCV."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.types import Box
from cutroom.engines.vision.port import Face

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MIN_SCORE = 0.5
NMS_THRESHOLD = 0.3
MAX_SIDE = 640  # input size in pixels; detects faces down to 16 pixels
MIN_SIDE = 64  # for smaller inputs OpenCV leaves parts of the output buffer uninitialized
MAX_FACES = 50
_FILE = "face_detection_yunet_2023mar.onnx"


class YuNetFaceDetector:
    """Shares one model in the process; concurrent calls are serialized."""

    name = "yunet"

    def __init__(self, folder: Path) -> None:
        """`folder` is the model's folder in the model store."""
        try:
            import cv2  # noqa: PLC0415 - keeps the import out of the API process
        except ImportError as error:
            raise EngineUnavailableError("opencv-python-headless is not installed.") from error
        try:
            self._network = cv2.FaceDetectorYN.create(
                str(folder / _FILE), "", (MAX_SIDE, MAX_SIDE), MIN_SCORE, NMS_THRESHOLD, MAX_FACES
            )
        except cv2.error as error:
            raise EngineUnavailableError(f"The model {self.name} cannot be loaded.") from error
        self._lock = threading.Lock()  # the input size is state of the network

    def detect(self, image: "Image") -> list[Face]:
        import cv2  # noqa: PLC0415 - as above
        import numpy as np  # noqa: PLC0415 - as above

        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
            raise EngineError("Images must be 8-bit RGB arrays.")
        height, width = image.shape[:2]
        scale = min(1.0, MAX_SIDE / max(width, height))
        size = max(1, round(width * scale)), max(1, round(height * scale))
        small = cv2.resize(image, size, interpolation=cv2.INTER_AREA) if scale < 1 else image
        bottom, right = max(0, MIN_SIDE - size[1]), max(0, MIN_SIDE - size[0])
        small = cv2.copyMakeBorder(small, 0, bottom, 0, right, cv2.BORDER_CONSTANT)
        with self._lock:
            self._network.setInputSize((small.shape[1], small.shape[0]))
            _, found = self._network.detect(cv2.cvtColor(small, cv2.COLOR_RGB2BGR))
        # Each row: x, y, width, height, five landmarks, score. OpenCV returns None without faces, despite its stubs.
        rows = [[float(each) for each in row] for row in (found if np.ndim(found) else ())]
        faces = [Face(_clipped(row[:4], size), min(1.0, row[-1])) for row in rows]
        visible = [face for face in faces if face.box.width > 0 and face.box.height > 0]
        return sorted(visible, key=lambda face: -face.score)


def _clipped(row: list[float], size: tuple[int, int]) -> Box:
    """As shares of the image, clipped to it."""
    x, y, width, height = row
    left, top = min(max(x / size[0], 0.0), 1.0), min(max(y / size[1], 0.0), 1.0)
    right, bottom = min(max((x + width) / size[0], 0.0), 1.0), min(max((y + height) / size[1], 0.0), 1.0)
    return Box(left, top, right - left, bottom - top)
