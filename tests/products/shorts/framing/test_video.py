"""End-to-end test of framing with a real face, from frames to the cropped video."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.vision.saliency import is_screen, saliency_center_x
from cutroom.engines.vision.shots import detect_cuts
from cutroom.engines.vision.yunet import YuNetFaceDetector
from cutroom.media.crop_plan import SceneFit
from cutroom.media.framing import framing_filter
from cutroom.products.shorts.framing.paths import MAX_SPEED
from cutroom.products.shorts.framing.planner import CropSource, plan_crops
from cutroom.products.shorts.framing.quality import face_coverage, max_speed, reversals
from cutroom.products.shorts.framing.tracks import FrameAnalysis
from dev.fixtures.photographs import cropped_photograph, photograph, slide
from tests.engines.recognition.recognizer_suite import model_folder

if TYPE_CHECKING:
    from cutroom.engines.types import Image

WIDTH, HEIGHT, RATE = 640, 360, 25
OUTPUT_SIZE = 180, 320
STILL, WALK, TALK, SLIDE = 25, 160, 40, 25  # frames of each shot
CUTS = [STILL, STILL + WALK, STILL + WALK + TALK]


def with_people(background: "Image", *lefts: int, size: int = 260) -> "Image":
    person = cv2.resize(photograph("astronaut.png"), (size, size), interpolation=cv2.INTER_AREA)
    image = background.copy()
    for left in lefts:
        image[HEIGHT - size :, left : left + size] = person
    return image


def shots() -> Iterator["Image"]:
    """A person on the left, a person walking right, two distant people, and a slide."""
    coffee, rocket = (cropped_photograph(name, width=WIDTH, height=HEIGHT) for name in ("coffee.png", "rocket.jpg"))
    for _ in range(STILL):
        yield with_people(coffee, 10)
    for index in range(WALK):
        yield with_people(rocket, min(max(20 + 2 * (index - 15), 20), 270), size=240)
    for _ in range(TALK):
        yield with_people(coffee, 0, 380)
    for _ in range(SLIDE):
        yield cv2.resize(slide(), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA).astype(np.uint8)


def render(frames: list["Image"], graph: str, *, folder: Path) -> list["Image"]:
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(RATE), "-i", "-"]
    out = ["-filter_complex", graph, "-map", "[framed]", "-f", "rawvideo", "-pix_fmt", "rgb24", "-y"]
    path = folder / "framed.rgb"
    command = ["ffmpeg", "-v", "error", *raw, *out, str(path)]
    subprocess.run(command, input=b"".join(frame.tobytes() for frame in frames), check=True, timeout=500)
    return list(np.frombuffer(path.read_bytes(), np.uint8).reshape(-1, OUTPUT_SIZE[1], OUTPUT_SIZE[0], 3))


def test_crops_follow_the_faces(tmp_path: Path) -> None:
    detector = YuNetFaceDetector(model_folder("yunet"))
    frames = list(shots())
    cuts = detect_cuts(frames, rate=RATE)
    assert cuts == pytest.approx([cut / RATE for cut in CUTS])
    analyzed = [
        FrameAnalysis(index / RATE, tuple(detector.detect(frame)), saliency_center_x(frame), is_screen(frame))
        for index, frame in list(enumerate(frames))[::5]
    ]
    plan = plan_crops(analyzed, CropSource(WIDTH, HEIGHT, RATE, (9, 16)), cuts=cuts, clip_seconds=len(frames) / RATE)
    assert [scene.fit for scene in plan.scenes] == [SceneFit.CROP, SceneFit.CROP, SceneFit.SPLIT, SceneFit.CONTAIN]
    assert face_coverage(plan, analyzed) >= 0.95
    assert max_speed(plan) <= MAX_SPEED
    assert reversals(plan) == 0
    output_frames = render(frames, framing_filter(plan, width=OUTPUT_SIZE[0], height=OUTPUT_SIZE[1]), folder=tmp_path)
    assert len(output_frames) == len(frames)

    def face_counts(start: int, end: int) -> list[int]:
        """Of every third frame."""
        return [sum(face.score >= 0.6 for face in detector.detect(frame)) for frame in output_frames[start:end:3]]

    assert set(face_counts(0, STILL)) == {1}
    assert set(face_counts(CUTS[1], CUTS[2])) == {2}
    assert set(face_counts(CUTS[2], len(frames))) == {0}
    walk = face_counts(STILL, CUTS[1])
    assert sum(count >= 1 for count in walk) >= 0.9 * len(walk)
