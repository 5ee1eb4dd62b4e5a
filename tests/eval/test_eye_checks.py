"""The check of the proof recognizes closed eyes without the product's code."""

import cv2
import numpy as np
import pytest

from dev.fixtures.expressions import PORTRAIT, portrait_with_closed_eyes
from dev.fixtures.photographs import photograph
from eval.publishable.eye_checks import has_closed_eyes, main_face
from eval.publishable.picture_checks import find_faces
from tests.engines.recognition.recognizer_suite import model_folder


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("factor", [1.0, 2.5])
def test_closed_eyes_are_recognized(factor: float, mirrored: bool) -> None:  # noqa: FBT001 (a parameter of the test)
    models = model_folder("mediapipe-face").parent
    pictures = [
        (portrait_with_closed_eyes(), True),
        (photograph(PORTRAIT), False),
        (photograph("grace_hopper.jpg"), False),
    ]
    for picture, is_closed in pictures:
        image = cv2.resize(picture[:, ::-1] if mirrored else picture, None, fx=factor, fy=factor).astype(np.uint8)
        face = main_face(find_faces(image))
        assert face is not None
        assert has_closed_eyes(image, face, models) is is_closed
