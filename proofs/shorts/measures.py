"""How good shorts are: measured on what the film is known to show, on the files, and on captions as they are drawn."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.types import Box
from cutroom.media.crop_plan import CropPlan, SceneFit
from tests.support.shorts_stage import RenderedOutput, Word
from tests.support.shorts_video import ShortsVideo

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What platforms leave free of an upright picture: left, top, right and bottom, as shares.
SAFE = (0.06, 0.12, 0.88, 0.78)
SMALL = (270, 480)  # captions are looked at in this size
LOOKS_A_SECOND = 5
DRAWN = 60  # of 255: text on black; shadows and outlines are black themselves
TOUCHES = 0.02  # of a face: less is an edge
TURN_SECONDS = 0.5
HIGHLIGHT = re.compile(r"^Dialogue: 4,([\d:.]+),", re.MULTILINE)  # in `modern`, the word that is being said


def faces_kept(video: ShortsVideo, made: RenderedOutput) -> tuple[int, int]:
    """Of the frames that show a face, those in which a whole one is seen; and how many there are."""
    kept = total = 0
    plan = made.crop
    for frame in range(round(made.seconds * plan.fps)):
        seconds = frame / plan.fps
        faces = video.faces(made.source_seconds(seconds))
        if faces:
            total += 1
            kept += any(_is_seen(plan, face, seconds) for face in faces)
    return kept, total


def _is_seen(plan: CropPlan, face: Box, seconds: float) -> bool:
    return any(
        left >= -0.005 and top >= -0.005 and right <= 1.005 and bottom <= 1.005
        for left, top, right, bottom in _in_panes(plan, face, seconds)
    )


def _in_panes(plan: CropPlan, face: Box, seconds: float) -> Iterator[tuple[float, float, float, float]]:
    scene = plan.scene_at(seconds)
    for pane in scene.panes:
        x, y = pane.at(seconds) if scene.fit is not SceneFit.CONTAIN else (0.0, 0.0)
        left, top = (face.x * plan.source_width - x) / pane.width, (face.y * plan.source_height - y) / pane.height
        width = face.width * plan.source_width / pane.width
        yield left, top, left + width, top + face.height * plan.source_height / pane.height


def fastest(made: RenderedOutput) -> float:
    """Share of the window's width that it moves in one frame, at worst, within a scene; frame by frame."""
    plan, worst = made.crop, 0.0
    for frame in range(round(made.seconds * plan.fps) - 1):
        one, two = frame / plan.fps, (frame + 1) / plan.fps
        scene = plan.scene_at(one)
        if scene is not plan.scene_at(two):
            continue
        for pane in scene.panes:
            moved = np.hypot(*np.subtract(pane.at(two), pane.at(one)))
            worst = max(worst, float(moved) / pane.width)
    return worst


def turns(made: RenderedOutput) -> int:
    """How often a window moves back less than half a second after it moved on."""
    plan, found = made.crop, 0
    for scene in plan.scenes:
        for pane in scene.panes:
            direction, ended = 0, -1.0
            for one, two in pairwise(pane.path):
                moved = int(np.sign(round(two.x - one.x, 2)))
                if moved:
                    found += moved == -direction and one.seconds - ended < TURN_SECONDS
                    direction, ended = moved, two.seconds
    return found


def cut_words(made: RenderedOutput, words: Sequence[Word]) -> int:
    """Words that begin before a cut and end after it."""
    edges = [edge for start, length in made.ranges for edge in (start, start + length)]
    return sum(word.start + 0.02 < edge < word.end - 0.02 for edge in edges for word in words)


def caption_errors(made: RenderedOutput, words: Sequence[Word]) -> list[float]:
    """Of each word that is lit up, how far that is from when it is said, in milliseconds; for the look `modern`."""
    lit = sorted(_seconds(match[1]) for match in HIGHLIGHT.finditer(made.plan["captions"]))
    said = []
    passed = 0.0
    for start, length in made.ranges:
        inside = [word for word in words if word.start >= start - 1e-6 and word.end <= start + length + 0.05]
        said += [word.start - start + passed for word in inside]
        passed += length
    # Parts of one word may be lit as one; each light belongs to the nearest word.
    return [1000 * min(abs(at - word) for word in said) for at in lit] if said else []


def lit_share(made: RenderedOutput, words: Sequence[Word]) -> float:
    """How many of the words that are heard are lit up at all."""
    lit = len(HIGHLIGHT.findall(made.plan["captions"]))
    heard = sum(
        word.start >= start - 1e-6 and word.end <= start + length + 0.05
        for start, length in made.ranges
        for word in words
    )
    return lit / heard if heard else 1.0


def _seconds(clock: str) -> float:
    hours, minutes, seconds = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def caption_places(video: ShortsVideo, made: RenderedOutput, folder: Path) -> tuple[int, int, int]:
    """Captions drawn alone on black: in how many looks there is text, is all of it safe, is some over a face."""
    drawn = inside = over = 0
    for number, picture in enumerate(_captions_alone(made, folder)):
        rows, columns = np.nonzero(picture > DRAWN)
        if not len(rows):
            continue
        drawn += 1
        left, right = columns.min() / SMALL[0], (columns.max() + 1) / SMALL[0]
        top, bottom = rows.min() / SMALL[1], (rows.max() + 1) / SMALL[1]
        inside += left >= SAFE[0] and top >= SAFE[1] and right <= SAFE[2] and bottom <= SAFE[3]
        over += _covers(video, made, picture, number / LOOKS_A_SECOND)
    return drawn, inside, over


def _captions_alone(made: RenderedOutput, folder: Path) -> Iterator["NDArray[np.uint8]"]:
    (folder / "captions.ass").write_text(made.plan["captions"])
    ground = f"color=black:s=1080x1920:r={LOOKS_A_SECOND}:d={made.seconds:.3f}"
    command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", ground, "-vf"]
    command += [f"ass=captions.ass,scale={SMALL[0]}:{SMALL[1]}:flags=area,format=gray", "-f", "rawvideo", "-"]
    raw = subprocess.run(command, check=True, capture_output=True, cwd=folder).stdout
    yield from np.frombuffer(raw, np.uint8).reshape(-1, SMALL[1], SMALL[0])


def _covers(video: ShortsVideo, made: RenderedOutput, picture: "NDArray[np.uint8]", seconds: float) -> bool:
    """Whether text lies on a face that is seen whole."""
    plan = made.crop
    scene = plan.scene_at(seconds)
    if scene.fit is SceneFit.CONTAIN:
        return False  # nobody is on the screen of this film
    for face in video.faces(made.source_seconds(seconds)):
        for at, (left, top, right, bottom) in enumerate(_in_panes(plan, face, seconds)):
            share, aside = (0.5, at) if scene.fit is SceneFit.SPLIT else (1.0, 0)  # one pane above the other
            rows = slice(
                max(0, round((top + aside) * share * SMALL[1])), max(0, round((bottom + aside) * share * SMALL[1]))
            )
            columns = slice(max(0, round(left * SMALL[0])), max(0, round(right * SMALL[0])))
            region = picture[rows, columns]
            if region.size and (region > DRAWN).mean() > TOUCHES:
                return True
    return False


def loudness(path: Path) -> float:
    command = ["ffmpeg", "-hide_banner", "-nostats", "-i", str(path), "-af", "ebur128", "-f", "null", "-"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return float(re.findall(r"I:\s+(-?[\d.]+) LUFS", told)[-1])


def stream_of(path: Path) -> tuple[int, int, float]:
    """Width, height and seconds of the picture."""
    command = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-of", "csv=p=0"]
    command += ["-show_entries", "stream=width,height,duration", str(path)]
    width, height, seconds = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(",")[:3]
    return int(width), int(height), float(seconds)
