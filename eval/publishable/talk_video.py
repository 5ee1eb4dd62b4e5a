"""Renders the pictures of a talk at its estimated times: the photographs that it names, and else the speaker.

There are photographs of two people. They stand in for all speakers: the first fills the frame, as a camera shows a
speaker; the second is an upright picture over a blurred copy of itself, as a telephone records one.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.types import Box
from dev.fixtures.photographs import FACE, HOPPER_FACE, HOPPER_TOP, photograph
from eval.publishable.texts import spoken
from eval.talks import EvaluationTalk

if TYPE_CHECKING:
    from cutroom.engines.types import Image

WIDTH, HEIGHT, FPS = 1280, 720, 5
CAMERA, TELEPHONE = "astronaut.png", "grace_hopper.jpg"
# Left, top and width of camera windows around the face, and left edges of the upright picture.
CAMERA_WINDOWS = ((0, 14, 512), (112, 20, 384), (0, 20, 400))
TELEPHONE_LEFTS = (0.5, 0.12, 0.88)  # of the free width
BLUR = 30  # sigma in pixels


@dataclass(frozen=True, slots=True)
class TalkShot:
    """What is shown for a time; shots with the same name look the same."""

    name: str
    start_seconds: float
    end_seconds: float


@dataclass(frozen=True, slots=True)
class TalkVideo:
    """A silent video and its shots."""

    path: Path
    shots: tuple[TalkShot, ...]

    def shot_at(self, seconds: float) -> TalkShot:
        return next((shot for shot in self.shots if seconds < shot.end_seconds), self.shots[-1])


def plan_shots(talk: EvaluationTalk) -> tuple[TalkShot, ...]:
    """One shot per turn or photograph; a new picture of the talk is also a new camera position."""
    lines = spoken(talk).segments
    names = [_shot_name(talk, number) for number in range(1, len(lines) + 1)]
    starts = [0.0, *(line.start_seconds for line in lines[1:])]
    changes = [at for at in range(len(names)) if at == 0 or names[at] != names[at - 1]]
    ends = [*(starts[at] for at in changes[1:]), spoken(talk).duration_seconds]
    return tuple(TalkShot(names[at], starts[at], end) for at, end in zip(changes, ends, strict=True))


def _shot_name(talk: EvaluationTalk, line_number: int) -> str:
    scene = max(at for at, picture in enumerate(talk.pictures) if picture.at_line <= line_number)
    asset = talk.pictures[scene].asset
    if asset is not None:
        return asset
    seat = [speaker.id for speaker in talk.speakers].index(talk.lines[line_number - 1].speaker)
    mirrored = " mirrored" if seat > 1 else ""
    return f"{(CAMERA, TELEPHONE)[seat % 2]} {(scene + seat) % len(CAMERA_WINDOWS) + 1}{mirrored}"


def render_video(talk: EvaluationTalk, *, folder: Path) -> TalkVideo:
    """Writes `<slug>.mp4` to the folder."""
    shots = plan_shots(talk)
    for name in {shot.name for shot in shots}:
        cv2.imwrite(str(_still_path(folder, name)), cv2.cvtColor(draw_still(name), cv2.COLOR_RGB2BGR))
    listing = folder / f"{talk.slug}.ffconcat"
    listing.write_text("\n".join(["ffconcat version 1.0", *_entries(shots, folder)]) + "\n", encoding="utf-8")
    path = folder / f"{talk.slug}.mp4"
    command = ["ffmpeg", "-v", "error", "-y", "-safe", "0", "-i", str(listing), "-vf", f"format=yuv420p,fps={FPS}"]
    command += ["-c:v", "libx264", "-preset", "ultrafast", "-crf", "18", "-t", f"{shots[-1].end_seconds:.3f}"]
    subprocess.run([*command, str(path)], check=True)
    return TalkVideo(path, shots)


def _entries(shots: tuple[TalkShot, ...], folder: Path) -> Iterator[str]:
    for shot in shots:
        yield f"file '{_still_path(folder, shot.name)}'"
        yield f"duration {shot.end_seconds - shot.start_seconds:.3f}"
    yield f"file '{_still_path(folder, shots[-1].name)}'"  # the demuxer ignores the duration of the last file


def _still_path(folder: Path, name: str) -> Path:
    return folder / f"{name.replace('.', '-').replace(' ', '-')}.png"


def draw_still(name: str) -> "Image":
    asset, _, rest = name.partition(" ")
    if not rest:
        return _filled(photograph(asset))
    position, _, mirrored = rest.partition(" ")
    at = int(position) - 1
    still = _camera(CAMERA_WINDOWS[at]) if asset == CAMERA else _telephone(photograph(asset), TELEPHONE_LEFTS[at])
    return np.ascontiguousarray(still[:, ::-1]) if mirrored else still


def face_in(name: str) -> Box | None:
    """Where the face of a shot is, in shares of the frame; None if the shot shows no person."""
    asset, _, rest = name.partition(" ")
    if not rest:
        return None
    position, _, mirrored = rest.partition(" ")
    at = int(position) - 1
    x, y, width, height = _camera_face(CAMERA_WINDOWS[at]) if asset == CAMERA else _telephone_face(TELEPHONE_LEFTS[at])
    return Box(1 - x - width if mirrored else x, y, width, height)


def _camera_face(window: tuple[int, int, int]) -> tuple[float, float, float, float]:
    left, top, across = window
    side, down = photograph(CAMERA).shape[1], across * HEIGHT / WIDTH
    x, y, width, height = (side * share for share in FACE)
    return (x - left) / across, (y - top) / down, width / across, height / down


def _telephone_face(share: float) -> tuple[float, float, float, float]:
    rows, side = photograph(TELEPHONE).shape[:2]
    x, y, width, height = (side * each for each in HOPPER_FACE)
    scale = HEIGHT / rows
    left = share * (WIDTH - side * scale)
    return (left + x * scale) / WIDTH, (y + HOPPER_TOP) / rows, width * scale / WIDTH, height / rows


def _camera(window: tuple[int, int, int]) -> "Image":
    left, top, width = window
    return _filled(photograph(CAMERA)[top : top + width * HEIGHT // WIDTH, left : left + width])


def _telephone(image: "Image", share: float) -> "Image":
    still = cv2.GaussianBlur(_filled(image), (0, 0), BLUR).astype(np.uint8)
    width = round(image.shape[1] * HEIGHT / image.shape[0])
    left = round(share * (WIDTH - width))
    still[:, left : left + width] = cv2.resize(image, (width, HEIGHT), interpolation=cv2.INTER_LANCZOS4)
    return still


def _filled(image: "Image") -> "Image":
    """The middle of an image that fills the frame."""
    height, width = image.shape[:2]
    scale = max(WIDTH / width, HEIGHT / height)
    size = max(WIDTH, round(width * scale)), max(HEIGHT, round(height * scale))
    scaled = cv2.resize(image, size, interpolation=cv2.INTER_LANCZOS4)
    left, top = (size[0] - WIDTH) // 2, (size[1] - HEIGHT) // 2
    return np.ascontiguousarray(scaled[top : top + HEIGHT, left : left + WIDTH]).astype(np.uint8)
