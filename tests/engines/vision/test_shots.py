"""Cuts are detected to the frame; pans, flashes and motion are not."""

import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.vision.shots import detect_cuts
from dev.fixtures.photographs import cropped_photograph, photograph

if TYPE_CHECKING:
    from cutroom.engines.types import Image

RATE = 10.0
NAMES = ("astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg")


def held(image: "Image", frames: int, *, seed: int = 0) -> Iterator["Image"]:
    """A handheld shot with sensor noise."""
    random = np.random.default_rng(seed)
    for _ in range(frames):
        shift = random.integers(-2, 3, 2)
        noisy = np.roll(image, shift, axis=(0, 1)).astype(np.int16) + random.integers(-6, 7, image.shape)
        yield np.clip(noisy, 0, 255).astype(np.uint8)


def pan(name: str, frames: int, *, step: int) -> Iterator["Image"]:
    """A camera pan: a window of 320 pixels that moves over an enlarged photograph."""
    large = cv2.resize(photograph(name), (1280, 900), interpolation=cv2.INTER_CUBIC).astype(np.uint8)
    for at in range(frames):
        x = min(at * step, 1280 - 320)
        yield large[300:480, x : x + 320]


def test_hard_cuts_are_exact_to_the_frame() -> None:
    lengths = [17, 4, 30, 9, 12, 5]
    frames = [
        frame for at, length in enumerate(lengths) for frame in held(cropped_photograph(NAMES[at % 4]), length, seed=at)
    ]
    expected = np.cumsum(lengths)[:-1] / RATE
    assert detect_cuts(frames, rate=RATE) == pytest.approx(list(expected))


def test_cut_between_two_plain_colors_is_detected() -> None:
    red, blue = np.full((90, 160, 3), (200, 20, 20), np.uint8), np.full((90, 160, 3), (20, 20, 200), np.uint8)
    assert detect_cuts([red] * 12 + [blue] * 12, rate=RATE) == [1.2]


def test_cut_in_the_dark_is_detected() -> None:
    dark = [frame // 5 for name in NAMES[:2] for frame in held(cropped_photograph(name), 10)]
    assert detect_cuts(dark, rate=RATE) == [1.0]


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_flash_is_not_a_cut(frames: int) -> None:
    shot = list(held(cropped_photograph("coffee.png"), 30))
    for at in range(12, 12 + frames):
        shot[at] = np.full_like(shot[at], 250)
    assert detect_cuts(shot, rate=RATE) == []


@pytest.mark.parametrize("step", [5, 40, 100])
@pytest.mark.parametrize("name", NAMES)
def test_pan_is_not_a_cut(name: str, step: int) -> None:
    """Up to a third of the width per frame."""
    assert detect_cuts(pan(name, 30, step=step), rate=RATE) == []


def test_moving_subject_is_not_a_cut() -> None:
    frames = []
    for at, frame in enumerate(held(cropped_photograph("coffee.png"), 40)):
        x = at * 37 % 200
        frame[40:160, x : x + 90] = cropped_photograph("astronaut.png")[40:160, 100:190]
        frames.append(frame)
    assert detect_cuts(frames, rate=RATE) == []


def test_shot_below_the_minimum_length_is_ignored() -> None:
    one, two, three = (list(held(cropped_photograph(name), 20)) for name in NAMES[:3])
    assert detect_cuts(one + two[:2] + three, rate=RATE) == [2.0]
    assert detect_cuts(one[:2] + two, rate=RATE) == []
    assert detect_cuts(one + two[:2], rate=RATE) == []


def test_cuts_survive_encoding(tmp_path: Path) -> None:
    """Shots of about half a second at 25 frames per second, in H.264."""
    frames = [frame for at in range(4) for frame in held(cropped_photograph(NAMES[at]), 13 + at, seed=at)]
    video = tmp_path / "video.mp4"
    write = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "320x180", "-r", "25", "-i", "-", "-pix_fmt", "yuv420p"]
    command = ["ffmpeg", "-v", "error", *write, "-c:v", "libx264", "-crf", "32", str(video)]
    subprocess.run(command, input=b"".join(frame.tobytes() for frame in frames), check=True, timeout=500)
    read = ["ffmpeg", "-v", "error", "-i", str(video), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(read, check=True, capture_output=True, timeout=500).stdout
    decoded = np.frombuffer(raw, np.uint8).reshape(-1, 180, 320, 3)
    assert detect_cuts(decoded, rate=25.0) == pytest.approx([13 / 25, 27 / 25, 42 / 25])


def test_memory_does_not_grow_with_duration() -> None:
    images = [cropped_photograph(name) for name in NAMES]

    def video(frames: int) -> Iterator["Image"]:
        return (images[at // 20 % 4] for at in range(frames))

    def peak(frames: int) -> int:
        tracemalloc.start()
        found = detect_cuts(video(frames), rate=RATE)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(found) == frames // 20 - 1
        return most

    peak(40)  # excludes one-time allocations
    assert peak(240) < 1.2 * peak(80) + 50_000


@pytest.mark.parametrize(
    "frame", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 3), np.float32), np.zeros((0, 9, 3), np.uint8)]
)
def test_other_array_types_are_rejected(frame: "Image") -> None:
    with pytest.raises(EngineError, match="8-bit RGB"):
        detect_cuts([frame], rate=RATE)


def test_no_frames_have_no_cuts() -> None:
    assert detect_cuts([], rate=RATE) == []
    with pytest.raises(EngineError, match="rate"):
        detect_cuts([], rate=0)
