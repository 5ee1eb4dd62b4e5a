"""Generates six spoken videos of people, an animal, objects and a slide."""

import subprocess
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.photographs import photograph, slide
from dev.fixtures.speech_clips import clips_folder, ensure_clips, sentences, two_cities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

WIDTH, HEIGHT, FPS, SECONDS = 1280, 720, 25, 12


@dataclass(frozen=True, slots=True)
class Subject:
    """A video's image and its thumbnail headline; without one, the headline comes from the transcript."""

    name: str
    photograph: str | None
    overlay: str | None = None
    script: str = "latin"


SUBJECTS: Sequence[Subject] = (
    Subject("an astronaut", "astronaut.png", "To the stars"),
    Subject("a rocket, in Japanese", "rocket.jpg", "宇宙への旅", script="japanese"),
    Subject("a cat", "chelsea.png", "Nine quiet lives"),
    Subject("an admiral, in Arabic", "grace_hopper.jpg", "رحلة في البحر", script="arabic"),
    Subject("a cup of coffee", "coffee.png"),
    Subject("a slide", None, "How it went"),
)


def make_subject_video(folder: Path, number: int, subject: Subject) -> Path:
    """A slow zoom into an image, with recorded speech."""
    path, audio = folder / f"video-{number}.mp4", _write_speech(folder / f"audio-{number}.wav", number)
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}"]
    command += ["-r", str(FPS), "-i", "-", "-i", str(audio), "-c:v", "libx264", "-preset", "superfast", "-crf", "20"]
    command += ["-pix_fmt", "yuv420p", "-c:a", "aac", "-shortest", "-movflags", "+faststart", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None
        still = _still(subject)
        for at in range(SECONDS * FPS):
            encoder.stdin.write(_zoomed(still, 1 + 0.15 * at / (SECONDS * FPS)).tobytes())
        encoder.stdin.close()
        if encoder.wait() != 0:
            raise RuntimeError("the video could not be encoded")
    return path


def _still(subject: Subject) -> "Image":
    """The complete photograph over a blurred copy of itself."""
    if subject.photograph is None:
        return slide()
    image = photograph(subject.photograph)
    background = cv2.GaussianBlur(cv2.resize(image, (WIDTH, HEIGHT)), (0, 0), 30)
    scale = min(WIDTH / image.shape[1], HEIGHT / image.shape[0])
    width, height = round(image.shape[1] * scale), round(image.shape[0] * scale)
    left, top = (WIDTH - width) // 2, (HEIGHT - height) // 2
    background[top : top + height, left : left + width] = cv2.resize(
        image, (width, height), interpolation=cv2.INTER_CUBIC
    )
    return background.astype(np.uint8)


def _zoomed(still: "Image", zoom: float) -> "Image":
    matrix = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 0, zoom)
    return cv2.warpAffine(still, matrix, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR).astype(np.uint8)


def _write_speech(path: Path, number: int) -> Path:
    folder = ensure_clips(clips_folder())
    clips = sentences(folder)
    samples = two_cities(folder).samples if number % 2 else np.concatenate([clip.samples for clip in clips])
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((samples[: SECONDS * SAMPLE_RATE] * 32767).astype("<i2").tobytes())
    return path
