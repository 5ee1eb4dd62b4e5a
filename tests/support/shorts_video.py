"""A film for shorts: faces that move, cuts, two people far apart and a screen, with people who really speak.

Every picture is made here, so it is known where each face is in each of them.
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

    Picture = NDArray[np.uint8]

WIDTH, HEIGHT, FPS = 1280, 720, 25
CARD = 640  # pixels of a portrait's side
PAUSE_SECONDS = 1.0


class Person(Enum):
    """Whose portrait; both were taken for the state and given to the public. The value is the face in it."""

    COLLINS = Box(*FACE)
    HOPPER = Box(*HOPPER_FACE)

    def portrait(self) -> "Picture":
        import cv2  # noqa: PLC0415 - only here

        square = photograph("astronaut.png")
        if self is Person.HOPPER:
            whole = photograph("grace_hopper.jpg")
            square = whole[HOPPER_TOP : HOPPER_TOP + whole.shape[1]]
        return np.asarray(cv2.resize(square, (CARD, CARD), interpolation=cv2.INTER_CUBIC), np.uint8)


@dataclass(frozen=True, slots=True)
class Placed:
    """A portrait in a picture, by its upper left corner."""

    x: float
    y: float
    who: Person

    def face(self) -> Box:
        """In shares of the picture."""
        face: Box = self.who.value
        return Box(
            (self.x + face.x * CARD) / WIDTH,
            (self.y + face.y * CARD) / HEIGHT,
            face.width * CARD / WIDTH,
            face.height * CARD / HEIGHT,
        )


Scene = Callable[[float, float], list[Placed]]  # seconds from its start, and its length


def _walks(at: float, length: float) -> list[Placed]:
    return [Placed(20 + 560 * at / length, 80, Person.COLLINS)]


def _sits(at: float, _length: float) -> list[Placed]:
    return [Placed(600 + 14 * float(np.sin(at * 1.3)), 80, Person.HOPPER)]


def _meet(_at: float, _length: float) -> list[Placed]:
    return [Placed(-130, 80, Person.COLLINS), Placed(760, 80, Person.HOPPER)]


def _turns_back(at: float, length: float) -> list[Placed]:
    share = at / length
    return [Placed(560 - 480 * min(share, 1 - share) * 2, 80, Person.COLLINS)]


def _screen(_at: float, _length: float) -> list[Placed]:
    return []


SCENES: Sequence[tuple[Scene, float]] = (
    (_walks, 0.26),
    (_sits, 0.16),
    (_meet, 0.2),
    (_screen, 0.14),
    (_turns_back, 0.24),
)


@dataclass(frozen=True, slots=True)
class Film:
    """A film, and what is known of it."""

    path: Path
    seconds: float
    cuts: tuple[float, ...]
    screen: tuple[float, float]  # from when to when text is shown

    def faces(self, seconds: float) -> list[Box]:
        scene, start, length = _scene_at(self.seconds, seconds)
        return [placed.face() for placed in scene(seconds - start, length)]


def make_film(folder: Path, *, long: bool) -> Film:
    sound, seconds = _sound(folder, long=long)
    path = folder / "film.mp4"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}"]
    command += ["-r", str(FPS), "-i", "-", "-i", str(sound), "-c:v", "libx264", "-preset", "superfast", "-crf", "23"]
    command += ["-pix_fmt", "yuv420p", "-g", "50", "-c:a", "aac", "-movflags", "+faststart", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None
        for picture in _pictures(seconds):
            encoder.stdin.write(picture.tobytes())
        encoder.stdin.close()
        if encoder.wait() != 0:
            raise RuntimeError("the film could not be encoded")
    bounds = _bounds(seconds)
    at = next(number for number, (scene, _) in enumerate(SCENES) if scene is _screen)
    return Film(path, seconds, tuple(bounds[1:-1]), (bounds[at], bounds[at + 1]))


def _bounds(seconds: float) -> list[float]:
    """On frames."""
    shares = np.cumsum([0.0, *(share for _, share in SCENES)])
    return [round(float(share) * seconds * FPS) / FPS for share in shares]


def _scene_at(seconds: float, at: float) -> tuple[Scene, float, float]:
    bounds = _bounds(seconds)
    number = max(each for each in range(len(SCENES)) if bounds[each] <= at + 1e-6)
    return SCENES[number][0], bounds[number], bounds[number + 1] - bounds[number]


def _pictures(seconds: float) -> "Iterator[Picture]":
    page, grounds = _page(), [_ground(number) for number in range(len(SCENES))]
    cards = {who: who.portrait() for who in Person}
    scenes = [scene for scene, _ in SCENES]
    for number in range(round(seconds * FPS)):
        at = number / FPS
        scene, start, length = _scene_at(seconds, at)
        if scene is _screen:
            scrolled = round((at - start) * 30)
            yield page[scrolled : scrolled + HEIGHT]
            continue
        picture = grounds[scenes.index(scene)].copy()
        for placed in scene(at - start, length):
            _paste(picture, cards[placed.who], placed)
        yield picture


def _paste(picture: "Picture", card: "Picture", placed: Placed) -> None:
    """To a part of a pixel, so that slow movement is smooth."""
    import cv2  # noqa: PLC0415 - only here

    whole = int(np.floor(placed.x))
    shift = np.array([[1, 0, placed.x - whole], [0, 1, 0]], np.float32)
    moved = cv2.warpAffine(card, shift, (CARD, CARD), borderMode=cv2.BORDER_REPLICATE)
    left, top = max(0, whole), round(placed.y)
    right = min(WIDTH, whole + CARD)
    picture[top : top + CARD, left:right] = moved[: HEIGHT - top, left - whole : right - whole]


def _ground(number: int) -> "Picture":
    """Soft colours, as of a room out of focus; each scene has a light of its own, as cameras have."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    waves = [np.sin(x / 170 + y / 300) * 30 + 110, np.sin(x / 230 + 1) * 25 + 120, np.cos(y / 200) * 30 + 130]
    return (np.stack(waves, axis=2) * (0.7 + 0.15 * (number * 2 % 3))).astype(np.uint8)


def _page() -> "Picture":
    """A screen of text that can be scrolled."""
    import cv2  # noqa: PLC0415 - only here

    page = np.full((HEIGHT + 1200, WIDTH, 3), 250, np.uint8)
    for line in range(page.shape[0] // 36):
        text = (
            f"{line + 1:3}  def step_{line}(state, *, budget={line * 7}): return advance(state, limit={line * 13 % 97})"
        )
        cv2.putText(page, text, (40, 30 + line * 36), cv2.FONT_HERSHEY_SIMPLEX, 0.75, (30, 40, 60), 1, cv2.LINE_AA)
    return page


def _sound(folder: Path, *, long: bool) -> tuple[Path, float]:
    """A woman who explains a telephone exchange and a man who reads Dickens; more of both in a long film."""
    clips = ensure_clips(clips_folder())
    parts = [prompt(ALLISON, "demo-congrats"), two_cities(clips).samples]
    if long:
        parts += [prompt(ALLISON, "demo-instruct"), *(clip.samples for clip in sentences(clips))]
    pause = np.zeros(round(PAUSE_SECONDS * SAMPLE_RATE), np.float32)
    samples = np.concatenate([pause, *(piece for part in parts for piece in (part / np.abs(part).max() * 0.5, pause))])
    seconds = int(len(samples) / SAMPLE_RATE * FPS) / FPS
    path = folder / "sound.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((samples[: round(seconds * SAMPLE_RATE)] * 32767).astype("<i2").tobytes())
    return path, seconds
