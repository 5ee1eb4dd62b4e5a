"""A film with a real face in it, from its pictures to the framed film: the face is in it, shot by shot."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.vision.saliency import interest_x, is_screen
from cutroom.engines.vision.shots import find_cuts
from cutroom.engines.vision.yunet import YuNetFaceDetector
from cutroom.media.crop_plan import Fit
from cutroom.media.framing import framing_filter
from cutroom.products.shorts.framing.measures import face_share, reversals, worst_speed
from cutroom.products.shorts.framing.paths import MAX_SPEED
from cutroom.products.shorts.framing.planner import Source, plan_crops
from cutroom.products.shorts.framing.tracks import FrameAnalysis
from dev.fixtures.photographs import photograph, slide, wide
from tests.engines.recognition.recognizer_suite import model_folder

if TYPE_CHECKING:
    from cutroom.engines.types import Image

WIDTH, HEIGHT, RATE = 640, 360, 25
OUT = 180, 320
STILL, WALK, TALK, SLIDE = 25, 160, 40, 25  # frames of each shot
CUTS = [STILL, STILL + WALK, STILL + WALK + TALK]


def with_people(ground: "Image", *lefts: int, size: int = 260) -> "Image":
    person = cv2.resize(photograph("astronaut.png"), (size, size), interpolation=cv2.INTER_AREA)
    picture = ground.copy()
    for left in lefts:
        picture[HEIGHT - size :, left : left + size] = person
    return picture


def shots() -> Iterator["Image"]:
    """Somebody at the left, somebody who walks from left to right, two far apart, and a slide."""
    coffee, rocket = (wide(name, width=WIDTH, height=HEIGHT) for name in ("coffee.png", "rocket.jpg"))
    for _ in range(STILL):
        yield with_people(coffee, 10)
    for at in range(WALK):
        yield with_people(rocket, min(max(20 + 2 * (at - 15), 20), 270), size=240)
    for _ in range(TALK):
        yield with_people(coffee, 0, 380)
    for _ in range(SLIDE):
        yield cv2.resize(slide(), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA).astype(np.uint8)


def framed(frames: list["Image"], graph: str, *, folder: Path) -> list["Image"]:
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(RATE), "-i", "-"]
    out = ["-filter_complex", graph, "-map", "[framed]", "-f", "rawvideo", "-pix_fmt", "rgb24", "-y"]
    path = folder / "framed.rgb"
    command = ["ffmpeg", "-v", "error", *raw, *out, str(path)]
    subprocess.run(command, input=b"".join(frame.tobytes() for frame in frames), check=True, timeout=60)
    return list(np.frombuffer(path.read_bytes(), np.uint8).reshape(-1, OUT[1], OUT[0], 3))


def test_a_film_is_framed_by_its_faces(tmp_path: Path) -> None:
    finder = YuNetFaceDetector(model_folder("yunet"))
    frames = list(shots())
    cuts = find_cuts(frames, rate=RATE)
    assert cuts == pytest.approx([cut / RATE for cut in CUTS])
    seen = [
        FrameAnalysis(at / RATE, tuple(finder.find(frame)), interest_x(frame), is_screen(frame))
        for at, frame in list(enumerate(frames))[::5]
    ]
    plan = plan_crops(seen, Source(WIDTH, HEIGHT, RATE, (9, 16)), cuts=cuts, clip_seconds=len(frames) / RATE)
    assert [scene.fit for scene in plan.scenes] == [Fit.CROP, Fit.CROP, Fit.SPLIT, Fit.WHOLE]
    assert face_share(plan, seen) >= 0.95
    assert worst_speed(plan) <= MAX_SPEED
    assert reversals(plan) == 0
    shown = framed(frames, framing_filter(plan, width=OUT[0], height=OUT[1]), folder=tmp_path)
    assert len(shown) == len(frames)
    counts = [sum(face.score >= 0.6 for face in finder.find(frame)) for frame in shown]
    assert counts[:STILL] == [1] * STILL
    assert counts[CUTS[1] : CUTS[2]] == [2] * TALK
    assert counts[CUTS[2] :] == [0] * SLIDE
    walk = counts[STILL : CUTS[1]]
    assert sum(count >= 1 for count in walk) >= 0.9 * WALK
