"""Faces by the YuNet network, which OpenCV runs."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.types import Box
from cutroom.engines.vision.port import Face

if TYPE_CHECKING:
    from cutroom.engines.types import Image

MIN_SCORE = 0.5
OVERLAP = 0.3  # from which two findings are one face
MAX_SIDE = 640  # pixels that the network sees; a face of 16 of them is still found
MIN_SIDE = 64  # below this OpenCV leaves parts of what the network answers as they were in memory
MAX_FACES = 50
_FILE = "face_detection_yunet_2023mar.onnx"


class YuNetFaceDetector:
    """One network for all calls of the process; calls from several threads wait for each other."""

    name = "yunet"

    def __init__(self, folder: Path) -> None:
        """The model's folder, as the store gives it."""
        try:
            import cv2  # noqa: PLC0415 - the API process must be able to import this room without it
        except ImportError as error:
            raise EngineUnavailableError("opencv-python-headless is not installed.") from error
        try:
            self._network = cv2.FaceDetectorYN.create(
                str(folder / _FILE), "", (MAX_SIDE, MAX_SIDE), MIN_SCORE, OVERLAP, MAX_FACES
            )
        except cv2.error as error:
            raise EngineUnavailableError(f"The model {self.name} cannot be loaded.") from error
        self._running = threading.Lock()  # the network keeps the size of what it saw last

    def find(self, picture: "Image") -> list[Face]:
        import cv2  # noqa: PLC0415 - as above
        import numpy as np  # noqa: PLC0415 - as above

        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or not picture.size:
            raise EngineError("A picture is rows of pixels of three bytes.")
        height, width = picture.shape[:2]
        scale = min(1.0, MAX_SIDE / max(width, height))
        size = max(1, round(width * scale)), max(1, round(height * scale))
        small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA) if scale < 1 else picture
        below, beside = max(0, MIN_SIDE - size[1]), max(0, MIN_SIDE - size[0])
        small = cv2.copyMakeBorder(small, 0, below, 0, beside, cv2.BORDER_CONSTANT)
        with self._running:
            self._network.setInputSize((small.shape[1], small.shape[0]))
            _, found = self._network.detect(cv2.cvtColor(small, cv2.COLOR_RGB2BGR))
        # Each row: x, y, width, height, five points of the face, score. Without a face there is no array,
        # whatever OpenCV's types say.
        rows = [[float(each) for each in row] for row in (found if np.ndim(found) else ())]
        faces = [Face(_inside(row[:4], size), min(1.0, row[-1])) for row in rows]
        seen = [face for face in faces if face.box.width > 0 and face.box.height > 0]
        return sorted(seen, key=lambda face: -face.score)


def _inside(row: list[float], size: tuple[int, int]) -> Box:
    """In shares, without what lies outside of the picture."""
    x, y, width, height = row
    left, top = min(max(x / size[0], 0.0), 1.0), min(max(y / size[1], 0.0), 1.0)
    right, bottom = min(max((x + width) / size[0], 0.0), 1.0), min(max((y + height) / size[1], 0.0), 1.0)
    return Box(left, top, right - left, bottom - top)
