"""Background removal with ISNet on onnxruntime."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError
from cutroom.engines.models.device import Device
from cutroom.engines.models.onnx import open_session, open_session_with_weights

if TYPE_CHECKING:
    from cutroom.engines.types import Image
    from cutroom.engines.vision.port import Mask

# The published graph of the small model convolves quantized activations, which takes twice the processor time.
GRAPHS = {"isnet-small": Path(__file__).with_name("isnet-small.onnx")}
SIDE = 1024  # input side in pixels, for any aspect ratio
MEAN, RANGE = 128.0, 256.0  # input normalization
_INPUT, _OUTPUT = "input", "output"  # published graphs have further, intermediate outputs
MIN_ALPHA = 0.02  # lower values are noise


class IsnetBackgroundRemover:
    """Shares one model in the process; concurrent calls are serialized."""

    def __init__(self, folder: Path, *, name: str, cpu_threads: int, device: Device = Device.CPU) -> None:
        """`folder` is the model's folder in the model store."""
        self.name = name
        graph = GRAPHS.get(name)
        self._session = (
            open_session_with_weights(graph, folder, name=name, cpu_threads=cpu_threads, device=device)
            if graph
            else open_session(folder / f"{name}.onnx", name=name, cpu_threads=cpu_threads, device=device)
        )
        self._lock = threading.Lock()  # one run uses all threads and a gigabyte of memory

    def mask(self, image: "Image") -> "Mask":
        import cv2  # noqa: PLC0415 - keeps the import out of the API process
        import numpy as np  # noqa: PLC0415 - as above

        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
            raise EngineError("Images must be 8-bit RGB arrays.")
        height, width = image.shape[:2]
        shrinks = min(height, width) > SIDE
        resized = cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
        normalized = ((resized.astype(np.float32) - MEAN) / RANGE).transpose(2, 0, 1)[None]
        with self._lock:
            output = self._session.run([_OUTPUT], {_INPUT: normalized})[0]
        alpha = np.asarray(output, np.float32).reshape(SIDE, SIDE)
        alpha = np.where(alpha < MIN_ALPHA, 0.0, np.clip(alpha, 0.0, 1.0)).astype(np.float32)
        large = cv2.resize(alpha, (width, height), interpolation=cv2.INTER_LINEAR)
        return np.rint(large * 255).astype(np.uint8)
