"""Renders a test video for shorts: moving faces, cuts, two distant people and a screen, with real speech.

All frames are generated, so the position of every face is known.
"""

import subprocess
import wave
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.types import SAMPLE_RATE, Box
from dev.fixtures.photographs import FACE, HOPPER_FACE, HOPPER_TOP, photograph
from dev.fixtures.speech_clips import clips_folder, ensure_clips, sentences, two_cities
from tests.support.dialogue import ALLISON, prompt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

WIDTH, HEIGHT, FPS = 1280, 720, 25
CARD = 640  # pixels of a portrait's side
PAUSE_SECONDS = 1.0


class Person(Enum):
    """Public domain portraits; the value is the face box."""

    COLLINS = Box(*FACE)
    HOPPER = Box(*HOPPER_FACE)

    def portrait(self) -> "Image":
        import cv2  # noqa: PLC0415 - only here

        square = photograph("astronaut.png")
        if self is Person.HOPPER:
            integer_x = photograph("grace_hopper.jpg")
            square = integer_x[HOPPER_TOP : HOPPER_TOP + integer_x.shape[1]]
        return np.asarray(cv2.resize(square, (CARD, CARD), interpolation=cv2.INTER_CUBIC), np.uint8)


@dataclass(frozen=True, slots=True)
class PlacedPortrait:
    """A portrait placed in a frame by its top left corner."""

    x: float
    y: float
    who: Person

    def face(self) -> Box:
        """The face box as fractions of the frame."""
        face: Box = self.who.value
        return Box(
            (self.x + face.x * CARD) / WIDTH,
            (self.y + face.y * CARD) / HEIGHT,
            face.width * CARD / WIDTH,
            face.height * CARD / HEIGHT,
        )


Scene = Callable[[float, float], list[PlacedPortrait]]  # seconds from its start, and its length


def _walks(seconds_in: float, length: float) -> list[PlacedPortrait]:
    return [PlacedPortrait(20 + 560 * seconds_in / length, 80, Person.COLLINS)]


def _sits(seconds_in: float, _length: float) -> list[PlacedPortrait]:
    return [PlacedPortrait(600 + 14 * float(np.sin(seconds_in * 1.3)), 80, Person.HOPPER)]


def _meet(_at: float, _length: float) -> list[PlacedPortrait]:
    return [PlacedPortrait(-130, 80, Person.COLLINS), PlacedPortrait(760, 80, Person.HOPPER)]


def _turns_back(seconds_in: float, length: float) -> list[PlacedPortrait]:
    fraction = seconds_in / length
    return [PlacedPortrait(560 - 480 * min(fraction, 1 - fraction) * 2, 80, Person.COLLINS)]


def _screen(_at: float, _length: float) -> list[PlacedPortrait]:
    return []


SCENES: Sequence[tuple[Scene, float]] = (
    (_walks, 0.26),
    (_sits, 0.16),
    (_meet, 0.2),
    (_screen, 0.14),
    (_turns_back, 0.24),
)


@dataclass(frozen=True, slots=True)
class ShortsVideo:
    """The rendered video and its ground truth."""

    path: Path
    seconds: float
    cuts: tuple[float, ...]
    screen: tuple[float, float]  # time range in which text is shown

    def faces(self, seconds: float) -> list[Box]:
        scene, start, length = _scene_at(self.seconds, seconds)
        return [placed.face() for placed in scene(seconds - start, length)]


def make_video(folder: Path, *, long: bool) -> ShortsVideo:
    audio, seconds = _audio(folder, long=long)
    return render_video(folder, audio, seconds=seconds)


def render_video(folder: Path, audio: Path, *, seconds: float) -> ShortsVideo:
    """The scenes in proportion to the length of the audio."""
    path = folder / "video.mp4"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}"]
    command += ["-r", str(FPS), "-i", "-", "-i", str(audio), "-c:v", "libx264", "-preset", "superfast", "-crf", "23"]
    command += ["-pix_fmt", "yuv420p", "-g", "50", "-c:a", "aac", "-movflags", "+faststart", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None
        for image in _frames(seconds):
            encoder.stdin.write(image.tobytes())
        encoder.stdin.close()
        if encoder.wait() != 0:
            raise RuntimeError("the video could not be encoded")
    bounds = _bounds(seconds)
    index = next(number for number, (scene, _) in enumerate(SCENES) if scene is _screen)
    return ShortsVideo(path, seconds, tuple(bounds[1:-1]), (bounds[index], bounds[index + 1]))


def _bounds(seconds: float) -> list[float]:
    """Scene boundaries on frames."""
    shares = np.cumsum([0.0, *(fraction for _, fraction in SCENES)])
    return [round(float(fraction) * seconds * FPS) / FPS for fraction in shares]


def _scene_at(seconds: float, seconds_in: float) -> tuple[Scene, float, float]:
    bounds = _bounds(seconds)
    number = max(each for each in range(len(SCENES)) if bounds[each] <= seconds_in + 1e-6)
    return SCENES[number][0], bounds[number], bounds[number + 1] - bounds[number]


def _frames(seconds: float) -> "Iterator[Image]":
    page, backgrounds = _page(), [_background(number) for number in range(len(SCENES))]
    cards = {who: who.portrait() for who in Person}
    scenes = [scene for scene, _ in SCENES]
    for number in range(round(seconds * FPS)):
        seconds_in = number / FPS
        scene, start, length = _scene_at(seconds, seconds_in)
        if scene is _screen:
            scrolled = round((seconds_in - start) * 30) % (len(page) - HEIGHT)
            yield page[scrolled : scrolled + HEIGHT]
            continue
        image = backgrounds[scenes.index(scene)].copy()
        for placed in scene(seconds_in - start, length):
            _paste(image, cards[placed.who], placed)
        yield image


def _paste(image: "Image", card: "Image", placed: PlacedPortrait) -> None:
    """Pastes with subpixel precision, so that slow movement is smooth."""
    import cv2  # noqa: PLC0415 - only here

    integer_x = int(np.floor(placed.x))
    shift = np.array([[1, 0, placed.x - integer_x], [0, 1, 0]], np.float32)
    moved = cv2.warpAffine(card, shift, (CARD, CARD), borderMode=cv2.BORDER_REPLICATE)
    left, top = max(0, integer_x), round(placed.y)
    right = min(WIDTH, integer_x + CARD)
    image[top : top + CARD, left:right] = moved[: HEIGHT - top, left - integer_x : right - integer_x]


def _background(number: int) -> "Image":
    """A soft blurred background with different lighting per scene."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    waves = [np.sin(x / 170 + y / 300) * 30 + 110, np.sin(x / 230 + 1) * 25 + 120, np.cos(y / 200) * 30 + 130]
    return (np.stack(waves, axis=2) * (0.7 + 0.15 * (number * 2 % 3))).astype(np.uint8)


def _page() -> "Image":
    """A scrollable page of text."""
    import cv2  # noqa: PLC0415 - only here

    page = np.full((HEIGHT + 1200, WIDTH, 3), 250, np.uint8)
    for line in range(page.shape[0] // 36):
        text = (
            f"{line + 1:3}  def step_{line}(state, *, budget={line * 7}): return advance(state, limit={line * 13 % 97})"
        )
        cv2.putText(page, text, (40, 30 + line * 36), cv2.FONT_HERSHEY_SIMPLEX, 0.75, (30, 40, 60), 1, cv2.LINE_AA)
    return page


def _audio(folder: Path, *, long: bool) -> tuple[Path, float]:
    """Speech of two people; more of both in a long video."""
    clips = ensure_clips(clips_folder())
    parts = [prompt(ALLISON, "demo-congrats"), two_cities(clips).samples]
    if long:
        parts += [prompt(ALLISON, "demo-instruct"), *(clip.samples for clip in sentences(clips))]
    pause = np.zeros(round(PAUSE_SECONDS * SAMPLE_RATE), np.float32)
    samples = np.concatenate([pause, *(chunk for part in parts for chunk in (part / np.abs(part).max() * 0.5, pause))])
    seconds = int(len(samples) / SAMPLE_RATE * FPS) / FPS
    path = folder / "audio.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((samples[: round(seconds * SAMPLE_RATE)] * 32767).astype("<i2").tobytes())
    return path, seconds
