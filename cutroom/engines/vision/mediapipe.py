"""Face landmarks with MediaPipe's face mesh and eye contour models on LiteRT."""

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from math import atan2, cos, exp, hypot, sin
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.types import Box
from cutroom.engines.vision.port import Aperture, FaceLandmarks, Point

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Image

    Points = NDArray[np.float64]  # n x 2

MIN_HEIGHT = 32  # pixels; the eyes of smaller faces cannot be measured
MIN_SCORE = 0.5
MAX_TILT = 0.2  # radians; a face that is tilted more is located again in an upright crop
FACE_MARGIN, EYE_MARGIN = 1.5, 2.3  # sides of the square crops, in face heights and eye widths
FACE_SIDE, EYE_SIDE = 192, 64  # inputs of the models in pixels
MESH_FILE, EYE_FILE = "face_landmark.tflite", "iris_landmark.tflite"

# Points of the mesh.
TOP, CHIN = 10, 152
EYE_CORNERS = ((33, 133), (362, 263))  # from left to right in an upright face
EYE_UPPER = ((160, 159, 158), (385, 386, 387))
EYE_LOWER = ((144, 145, 153), (380, 374, 373))
MOUTH_CORNERS, MOUTH_UPPER, MOUTH_LOWER = (78, 308), (82, 13, 312), (87, 14, 317)
# Points of an eye contour, which are ordered from left to right in the crop.
CONTOUR_CORNERS, CONTOUR_UPPER, CONTOUR_LOWER = (0, 8), (11, 12, 13), (3, 4, 5)
MIRRORED_CONTOUR = (*range(8, -1, -1), *range(15, 8, -1))  # lower lid and corners, then upper lid


def is_runtime_installed() -> bool:
    return find_spec("ai_edge_litert") is not None


class MediaPipeFaceLandmarker:
    """Shares the models in the process; concurrent calls are serialized.

    The mesh shows eyes nearly as open when they are closed, so the lids come from the eye contour model. It is run on
    each eye and on its mirror image, because the mean of both is steadier than either.
    """

    name = "mediapipe-face"

    def __init__(self, folder: Path) -> None:
        """`folder` is the model's folder in the model store."""
        self._mesh = _Network(folder / MESH_FILE, name=self.name)
        self._eye = _Network(folder / EYE_FILE, name=self.name)
        self._lock = threading.Lock()  # the input tensors are state of the networks

    def locate(self, image: "Image", box: Box, *, with_lids: bool = True) -> FaceLandmarks | None:
        import numpy as np  # noqa: PLC0415 - keeps the import out of the API process

        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or not image.size:
            raise EngineError("Images must be 8-bit RGB arrays.")
        height, width = image.shape[:2]
        if box.height * height < MIN_HEIGHT:
            return None
        center = (box.x + box.width / 2) * width, (box.y + box.height / 2) * height
        side = FACE_MARGIN * max(box.width * width, box.height * height)
        with self._lock:
            mesh = self._locate_mesh(image, center, side)
            if mesh is None:
                return None
            eyes = [self._eye_contour(image, mesh, at) if with_lids else _mesh_eye(mesh, at) for at in (0, 1)]
        return FaceLandmarks(
            top=_point(mesh[TOP]),
            chin=_point(mesh[CHIN]),
            eyes=(eyes[0], eyes[1]),
            mouth=_aperture(mesh, MOUTH_CORNERS, MOUTH_UPPER, MOUTH_LOWER),
        )

    def _locate_mesh(self, image: "Image", center: Point, side: float) -> "Points | None":
        mesh = self._upright_mesh(image, center, side, tilt=0.0)
        if mesh is None:
            return None
        across = mesh[EYE_CORNERS[1][1]] - mesh[EYE_CORNERS[0][0]]
        tilt = atan2(across[1], across[0])
        return mesh if abs(tilt) <= MAX_TILT else self._upright_mesh(image, center, side, tilt=tilt)

    def _upright_mesh(self, image: "Image", center: Point, side: float, *, tilt: float) -> "Points | None":
        to_image = _crop_transform(center, side / FACE_SIDE, FACE_SIDE, tilt=tilt)
        points, score = self._mesh.run(image, to_image, side=FACE_SIDE)
        is_face = 1 / (1 + exp(-float(score.ravel()[0]))) >= MIN_SCORE
        return _to_image(points, to_image) if is_face else None

    def _eye_contour(self, image: "Image", mesh: "Points", at: int) -> Aperture:
        import numpy as np  # noqa: PLC0415 - as above

        left, right = (mesh[index] for index in EYE_CORNERS[at])
        across = right - left
        center, tilt = _point((left + right) / 2), atan2(across[1], across[0])
        scale = EYE_MARGIN * max(1.0, hypot(*across)) / EYE_SIDE
        contours = []
        for mirrored in (False, True):
            to_image = _crop_transform(center, scale, EYE_SIDE, tilt=tilt, mirrored=mirrored)
            contour = _to_image(self._eye.run(image, to_image, side=EYE_SIDE)[0], to_image)
            contours.append(contour[[*MIRRORED_CONTOUR]] if mirrored else contour[: len(MIRRORED_CONTOUR)])
        return _aperture(np.mean(contours, axis=0), CONTOUR_CORNERS, CONTOUR_UPPER, CONTOUR_LOWER)


class _Network:
    """A LiteRT model with one image as its input; runs on one thread."""

    def __init__(self, path: Path, *, name: str) -> None:
        try:
            from ai_edge_litert.interpreter import Interpreter  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415 - optional
        except ImportError as error:
            raise EngineUnavailableError("Install cutroom[landmarks] to locate eyes and mouths.") from error
        try:
            self._interpreter: Any = Interpreter(model_content=path.read_bytes(), num_threads=1)
            self._interpreter.allocate_tensors()
        except (OSError, RuntimeError, ValueError) as error:
            raise EngineUnavailableError(f"The model {name} cannot be loaded.") from error
        self._input = self._interpreter.get_input_details()[0]["index"]
        self._outputs = [each["index"] for each in self._interpreter.get_output_details()]

    def run(self, image: "Image", to_image: "Points", *, side: int) -> "tuple[NDArray[np.float32], ...]":
        """All outputs for a crop of the image."""
        import cv2  # noqa: PLC0415 - as above
        import numpy as np  # noqa: PLC0415 - as above

        crop = cv2.warpAffine(image, to_image, (side, side), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
        self._interpreter.set_tensor(self._input, crop[None].astype(np.float32) / 255)
        self._interpreter.invoke()
        return tuple(self._interpreter.get_tensor(index) for index in self._outputs)


def _crop_transform(center: Point, scale: float, side: int, *, tilt: float, mirrored: bool = False) -> "Points":
    """Affine transform from a square crop around a point to the image; `scale` is in image pixels per crop pixel."""
    import numpy as np  # noqa: PLC0415 - as above

    across = -scale if mirrored else scale
    linear = np.array([[cos(tilt) * across, -sin(tilt) * scale], [sin(tilt) * across, cos(tilt) * scale]])
    offset = np.array(center) - linear @ np.array([side / 2, side / 2])
    return np.column_stack([linear, offset])


def _to_image(points: "NDArray[np.float32]", to_image: "Points") -> "Points":
    """Moves x, y, z triples of a crop to x and y in the image."""
    import numpy as np  # noqa: PLC0415 - as above

    return np.asarray(points.reshape(-1, 3)[:, :2] @ to_image[:, :2].T + to_image[:, 2], np.float64)


def _mesh_eye(mesh: "Points", at: int) -> Aperture:
    return _aperture(mesh, EYE_CORNERS[at], EYE_UPPER[at], EYE_LOWER[at])


def _aperture(mesh: "Points", corners: tuple[int, int], upper: Sequence[int], lower: Sequence[int]) -> Aperture:
    one, two = (_point(mesh[index]) for index in corners)
    return Aperture(
        (one, two), tuple(_point(mesh[index]) for index in upper), tuple(_point(mesh[index]) for index in lower)
    )


def _point(row: "Points") -> Point:
    return float(row[0]), float(row[1])
