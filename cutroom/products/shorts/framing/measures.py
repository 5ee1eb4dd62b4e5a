"""How good a crop plan is: what it keeps of the faces, how fast it moves and how often it turns."""

from collections.abc import Sequence
from itertools import pairwise
from math import hypot

from cutroom.engines.types import Box
from cutroom.media.crop_plan import CropPlan, Pane
from cutroom.products.shorts.framing.paths import QUIET_SECONDS
from cutroom.products.shorts.framing.tracks import FrameAnalysis, counted

ROUNDING_PIXELS = 1.0


def face_share(plan: CropPlan, seen: Sequence[FrameAnalysis]) -> float:
    """Of the samples that have a face, the share in which all of the main one, the largest, is shown."""
    kept = []
    for sample in seen:
        faces = counted(sample.faces)
        if faces:
            main = max(faces, key=lambda face: face.box.width * face.box.height).box
            panes = plan.scene_at(sample.seconds).panes
            kept.append(any(shows(plan, pane, main, seconds=sample.seconds) for pane in panes))
    return sum(kept) / len(kept) if kept else 1.0


def shows(plan: CropPlan, pane: Pane, box: Box, *, seconds: float) -> bool:
    """Whether all of a box is in a pane."""
    x, y = pane.at(seconds)
    left, top = box.x * plan.source_width - x, box.y * plan.source_height - y
    right, bottom = left + box.width * plan.source_width, top + box.height * plan.source_height
    fits_across = left >= -ROUNDING_PIXELS and right <= pane.width + ROUNDING_PIXELS
    return fits_across and top >= -ROUNDING_PIXELS and bottom <= pane.height + ROUNDING_PIXELS


def worst_speed(plan: CropPlan) -> float:
    """The fastest that a window moves within a shot, as a share of its width in a frame."""
    speeds = [
        hypot(two.x - one.x, two.y - one.y) / (two.seconds - one.seconds) / plan.fps / pane.width
        for scene in plan.scenes
        for pane in scene.panes
        for one, two in pairwise(pane.path)
    ]
    return max(speeds, default=0.0)


def reversals(plan: CropPlan) -> int:
    """How often a window turns back within QUIET_SECONDS of a move."""
    paths = [pane.path for scene in plan.scenes for pane in scene.panes]
    across = [[(key.seconds, key.x) for key in path] for path in paths]
    down = [[(key.seconds, key.y) for key in path] for path in paths]
    return sum(_turns(way) for way in across + down)


def _turns(way: Sequence[tuple[float, float]]) -> int:
    count, direction, ended = 0, 0, 0.0
    for (since, start), (until, end) in pairwise(way):
        moved = (end > start) - (end < start)
        if moved:
            count += moved == -direction and since - ended < QUIET_SECONDS
            direction, ended = moved, until
    return count
