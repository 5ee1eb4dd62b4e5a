"""MediaPipe's models pass the conformance suite of face landmarkers."""

from pathlib import Path

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.vision.mediapipe import EYE_FILE, MESH_FILE, MediaPipeFaceLandmarker
from cutroom.platform.settings import Settings
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.vision.face_landmarker_suite import FaceLandmarkerSuite

MODEL = "mediapipe-face"


class TestMediaPipe(FaceLandmarkerSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def landmarker(cls) -> MediaPipeFaceLandmarker:
        return MediaPipeFaceLandmarker(model_folder(MODEL))


def test_missing_or_broken_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=MODEL):
        MediaPipeFaceLandmarker(tmp_path)
    for name in (MESH_FILE, EYE_FILE):
        (tmp_path / name).write_bytes(b"no model")
    with pytest.raises(EngineUnavailableError, match=MODEL):
        MediaPipeFaceLandmarker(tmp_path)


def test_landmarks_are_optional(tmp_path: Path) -> None:
    secrets = dict.fromkeys(("database_url", "redis_url", "s3_access_key", "s3_secret_key"), "none")

    def engines(models_dir: Path, **values: str) -> Engines:
        return Engines(Settings(**secrets, secret_key="k" * 32, models_dir=models_dir, **values))  # type: ignore[arg-type]

    installed = engines(model_folder(MODEL).parent)
    assert installed.face_landmarker() is installed.face_landmarker() is not None
    assert engines(tmp_path).face_landmarker() is None
    assert engines(model_folder(MODEL).parent, face_landmarker="none").face_landmarker() is None
    with pytest.raises(EngineUnavailableError, match="Unknown"):
        engines(tmp_path, face_landmarker="other").face_landmarker()
