"""Parts subjects from their background by the ISNet network, which onnxruntime runs."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError
from cutroom.engines.models.onnx import open_session

if TYPE_CHECKING:
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask

SIDE = 1024  # pixels that the network sees, whatever the picture's shape
MIDDLE, RANGE = 128.0, 256.0  # how its colours were scaled in training
_INPUT, _OUTPUT = "input", "output"  # it gives steps on the way to its output too
FAINT = 0.02  # of what it finds: below that is nothing


class IsnetBackgroundRemover:
    """One network for all calls of the process; calls from several threads wait for each other."""

    def __init__(self, folder: Path, *, name: str, cpu_threads: int) -> None:
        """The model's folder, as the store gives it."""
        self.name = name
        self._session = open_session(folder / f"{name}.onnx", name=name, cpu_threads=cpu_threads)
        self._running = threading.Lock()  # a run takes all the threads there are, and a gigabyte

    def cut(self, picture: "Image") -> "Mask":
        import cv2  # noqa: PLC0415 - the API process must be able to import this room without it
        import numpy as np  # noqa: PLC0415 - as above

        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or not picture.size:
            raise EngineError("A picture is rows of pixels of three bytes.")
        height, width = picture.shape[:2]
        shrinks = min(height, width) > SIDE
        seen = cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
        scaled = ((seen.astype(np.float32) - MIDDLE) / RANGE).transpose(2, 0, 1)[None]
        with self._running:
            found = self._session.run([_OUTPUT], {_INPUT: scaled})[0]
        share = np.asarray(found, np.float32).reshape(SIDE, SIDE)
        share = np.where(share < FAINT, 0.0, np.clip(share, 0.0, 1.0)).astype(np.float32)
        large = cv2.resize(share, (width, height), interpolation=cv2.INTER_LINEAR)
        return np.rint(large * 255).astype(np.uint8)
