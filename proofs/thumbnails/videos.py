"""Six films for thumbnails: people, an animal, things and a slide, each with somebody who speaks."""

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

    Picture = NDArray[np.uint8]

WIDTH, HEIGHT, FPS, SECONDS = 1280, 720, 25, 12


@dataclass(frozen=True, slots=True)
class Subject:
    """What a film shows, and the words that its thumbnails are to carry; none means what is said in it."""

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


def make_film(folder: Path, number: int, subject: Subject) -> Path:
    """A slow zoom into a picture while somebody reads."""
    path, sound = folder / f"film-{number}.mp4", _sound(folder / f"sound-{number}.wav", number)
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}"]
    command += ["-r", str(FPS), "-i", "-", "-i", str(sound), "-c:v", "libx264", "-preset", "superfast", "-crf", "20"]
    command += ["-pix_fmt", "yuv420p", "-c:a", "aac", "-shortest", "-movflags", "+faststart", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None
        still = _still(subject)
        for at in range(SECONDS * FPS):
            encoder.stdin.write(_zoomed(still, 1 + 0.15 * at / (SECONDS * FPS)).tobytes())
        encoder.stdin.close()
        if encoder.wait() != 0:
            raise RuntimeError("the film could not be encoded")
    return path


def _still(subject: Subject) -> "Picture":
    """The whole photograph over a blurred copy of itself, as broadcasters show tall pictures."""
    if subject.photograph is None:
        return slide()
    picture = photograph(subject.photograph)
    ground = cv2.GaussianBlur(cv2.resize(picture, (WIDTH, HEIGHT)), (0, 0), 30)
    scale = min(WIDTH / picture.shape[1], HEIGHT / picture.shape[0])
    width, height = round(picture.shape[1] * scale), round(picture.shape[0] * scale)
    left, top = (WIDTH - width) // 2, (HEIGHT - height) // 2
    ground[top : top + height, left : left + width] = cv2.resize(
        picture, (width, height), interpolation=cv2.INTER_CUBIC
    )
    return ground.astype(np.uint8)


def _zoomed(still: "Picture", zoom: float) -> "Picture":
    turn = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 0, zoom)
    return cv2.warpAffine(still, turn, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR).astype(np.uint8)


def _sound(path: Path, number: int) -> Path:
    folder = ensure_clips(clips_folder())
    read = sentences(folder)
    samples = two_cities(folder).samples if number % 2 else np.concatenate([clip.samples for clip in read])
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((samples[: SECONDS * SAMPLE_RATE] * 32767).astype("<i2").tobytes())
    return path
