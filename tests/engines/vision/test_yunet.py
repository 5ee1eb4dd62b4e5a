"""YuNet passes the conformance suite of face detectors."""

from pathlib import Path

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.vision.yunet import YuNetFaceDetector
from cutroom.platform.settings import Settings
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.vision.face_detector_suite import FaceDetectorSuite

MODEL = "yunet"


class TestYuNet(FaceDetectorSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def detector(cls) -> YuNetFaceDetector:
        return YuNetFaceDetector(model_folder(MODEL))


def test_missing_or_broken_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailableError, match=MODEL):
        YuNetFaceDetector(tmp_path)
    (tmp_path / "face_detection_yunet_2023mar.onnx").write_bytes(b"no model")
    with pytest.raises(EngineUnavailableError, match=MODEL):
        YuNetFaceDetector(tmp_path)


def test_settings_select_the_detector(tmp_path: Path) -> None:
    secrets = dict.fromkeys(("database_url", "redis_url", "s3_access_key", "s3_secret_key"), "none")
    store = model_folder(MODEL).parent
    engines = Engines(Settings(**secrets, secret_key="k" * 32, models_dir=store))  # type: ignore[arg-type]
    assert engines.face_detector() is engines.face_detector()
    missing = Engines(Settings(**secrets, secret_key="k" * 32, models_dir=tmp_path))  # type: ignore[arg-type]
    with pytest.raises(EngineUnavailableError, match=MODEL):
        missing.face_detector()
