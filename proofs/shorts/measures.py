"""Measures shorts: framing against known faces, cuts against known words, rendered captions, and file properties."""

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

# Area of a vertical video not covered by platform controls: left, top, right and bottom, relative.
SAFE_ZONE = (0.06, 0.12, 0.88, 0.78)
SAMPLE_SIZE = (270, 480)  # captions are rendered at this size
SAMPLES_PER_SECOND = 5
TEXT_LEVEL = 60  # of 255: text on black; shadows and outlines are black themselves
MIN_OVERLAP = 0.02  # of a face; less is an edge
REVERSAL_SECONDS = 0.5
HIGHLIGHT = re.compile(r"^Dialogue: 4,([\d:.]+),", re.MULTILINE)  # in `modern`, the word being spoken


def complete_faces(video: ShortsVideo, output: RenderedOutput) -> tuple[int, int]:
    """Frames that show a complete face, and frames whose source has faces."""
    complete = total = 0
    plan = output.crop
    for frame in range(round(output.seconds * plan.fps)):
        seconds = frame / plan.fps
        faces = video.faces(output.source_seconds(seconds))
        if faces:
            total += 1
            complete += any(_is_complete(plan, face, seconds) for face in faces)
    return complete, total


def _is_complete(plan: CropPlan, face: Box, seconds: float) -> bool:
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


def max_pan_speed(output: RenderedOutput) -> float:
    """Largest movement of a crop window between two frames of a scene, relative to its width."""
    plan, worst = output.crop, 0.0
    for frame in range(round(output.seconds * plan.fps) - 1):
        one, two = frame / plan.fps, (frame + 1) / plan.fps
        scene = plan.scene_at(one)
        if scene is not plan.scene_at(two):
            continue
        for pane in scene.panes:
            moved = np.hypot(*np.subtract(pane.at(two), pane.at(one)))
            worst = max(worst, float(moved) / pane.width)
    return worst


def pan_reversals(output: RenderedOutput) -> int:
    """Number of times a crop window reverses direction within half a second."""
    plan, found = output.crop, 0
    for scene in plan.scenes:
        for pane in scene.panes:
            direction, ended = 0, -1.0
            for one, two in pairwise(pane.path):
                moved = int(np.sign(round(two.x - one.x, 2)))
                if moved:
                    found += moved == -direction and one.seconds - ended < REVERSAL_SECONDS
                    direction, ended = moved, two.seconds
    return found


def cut_words(output: RenderedOutput, words: Sequence[Word]) -> int:
    """Words that start before a cut and end after it."""
    edges = [edge for start, length in output.ranges for edge in (start, start + length)]
    return sum(word.start + 0.02 < edge < word.end - 0.02 for edge in edges for word in words)


def caption_errors(output: RenderedOutput, words: Sequence[Word]) -> list[float]:
    """Offset of each highlight from the nearest word start, in milliseconds; for the style `modern`."""
    highlights = sorted(_seconds(match[1]) for match in HIGHLIGHT.finditer(output.plan["captions"]))
    starts = []
    offset = 0.0
    for start, length in output.ranges:
        inside = [word for word in words if word.start >= start - 1e-6 and word.end <= start + length + 0.05]
        starts += [word.start - start + offset for word in inside]
        offset += length
    # Several words may share a highlight, so each highlight is compared with the nearest word.
    return [1000 * min(abs(at - word) for word in starts) for at in highlights] if starts else []


def highlighted_share(output: RenderedOutput, words: Sequence[Word]) -> float:
    """Share of the spoken words that are highlighted."""
    highlighted = len(HIGHLIGHT.findall(output.plan["captions"]))
    spoken = sum(
        word.start >= start - 1e-6 and word.end <= start + length + 0.05
        for start, length in output.ranges
        for word in words
    )
    return highlighted / spoken if spoken else 1.0


def _seconds(clock: str) -> float:
    hours, minutes, seconds = clock.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def caption_positions(video: ShortsVideo, output: RenderedOutput, folder: Path) -> tuple[int, int, int]:
    """Samples with captions; of these, samples fully inside the safe zone, and samples covering a face."""
    drawn = inside = over = 0
    for number, frame in enumerate(_render_captions(output, folder)):
        rows, columns = np.nonzero(frame > TEXT_LEVEL)
        if not len(rows):
            continue
        drawn += 1
        left, right = columns.min() / SAMPLE_SIZE[0], (columns.max() + 1) / SAMPLE_SIZE[0]
        top, bottom = rows.min() / SAMPLE_SIZE[1], (rows.max() + 1) / SAMPLE_SIZE[1]
        inside += left >= SAFE_ZONE[0] and top >= SAFE_ZONE[1] and right <= SAFE_ZONE[2] and bottom <= SAFE_ZONE[3]
        over += _covers_face(video, output, frame, number / SAMPLES_PER_SECOND)
    return drawn, inside, over


def _render_captions(output: RenderedOutput, folder: Path) -> Iterator["NDArray[np.uint8]"]:
    """Render the captions alone on black."""
    (folder / "captions.ass").write_text(output.plan["captions"])
    background = f"color=black:s=1080x1920:r={SAMPLES_PER_SECOND}:d={output.seconds:.3f}"
    command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", background, "-vf"]
    command += [
        f"ass=captions.ass,scale={SAMPLE_SIZE[0]}:{SAMPLE_SIZE[1]}:flags=area,format=gray",
        "-f",
        "rawvideo",
        "-",
    ]
    raw = subprocess.run(command, check=True, capture_output=True, cwd=folder).stdout
    yield from np.frombuffer(raw, np.uint8).reshape(-1, SAMPLE_SIZE[1], SAMPLE_SIZE[0])


def _covers_face(video: ShortsVideo, output: RenderedOutput, frame: "NDArray[np.uint8]", seconds: float) -> bool:
    """Whether captions overlap a visible face."""
    plan = output.crop
    scene = plan.scene_at(seconds)
    if scene.fit is SceneFit.CONTAIN:
        return False  # the test video has no faces in contained scenes
    for face in video.faces(output.source_seconds(seconds)):
        for at, (left, top, right, bottom) in enumerate(_in_panes(plan, face, seconds)):
            share, offset = (0.5, at) if scene.fit is SceneFit.SPLIT else (1.0, 0)  # panes are stacked
            rows = slice(
                max(0, round((top + offset) * share * SAMPLE_SIZE[1])),
                max(0, round((bottom + offset) * share * SAMPLE_SIZE[1])),
            )
            columns = slice(max(0, round(left * SAMPLE_SIZE[0])), max(0, round(right * SAMPLE_SIZE[0])))
            region = frame[rows, columns]
            if region.size and (region > TEXT_LEVEL).mean() > MIN_OVERLAP:
                return True
    return False


def loudness(path: Path) -> float:
    command = ["ffmpeg", "-hide_banner", "-nostats", "-i", str(path), "-af", "ebur128", "-f", "null", "-"]
    log = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return float(re.findall(r"I:\s+(-?[\d.]+) LUFS", log)[-1])


def stream_of(path: Path) -> tuple[int, int, float]:
    """Width, height and duration of the video stream."""
    command = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-of", "csv=p=0"]
    command += ["-show_entries", "stream=width,height,duration", str(path)]
    width, height, seconds = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split(",")[:3]
    return int(width), int(height), float(seconds)
