"""Quality metrics of a crop plan: face coverage, window speed and reversals."""

from collections.abc import Sequence
from itertools import pairwise
from math import hypot

from cutroom.engines.types import Box
from cutroom.media.crop_plan import CropPane, CropPlan
from cutroom.products.shorts.framing.paths import MIN_REST_SECONDS
from cutroom.products.shorts.framing.tracks import FrameAnalysis, reliable_faces

ROUNDING_PIXELS = 1.0


def face_coverage(plan: CropPlan, frames: Sequence[FrameAnalysis]) -> float:
    """Fraction of the samples with a face in which the largest one is fully visible."""
    kept = []
    for sample in frames:
        faces = reliable_faces(sample.faces)
        if faces:
            main = max(faces, key=lambda face: face.box.width * face.box.height).box
            panes = plan.scene_at(sample.seconds).panes
            kept.append(any(shows(plan, pane, main, seconds=sample.seconds) for pane in panes))
    return sum(kept) / len(kept) if kept else 1.0


def shows(plan: CropPlan, pane: CropPane, box: Box, *, seconds: float) -> bool:
    """Whether a box is fully inside a pane."""
    x, y = pane.at(seconds)
    left, top = box.x * plan.source_width - x, box.y * plan.source_height - y
    right, bottom = left + box.width * plan.source_width, top + box.height * plan.source_height
    fits_across = left >= -ROUNDING_PIXELS and right <= pane.width + ROUNDING_PIXELS
    return fits_across and top >= -ROUNDING_PIXELS and bottom <= pane.height + ROUNDING_PIXELS


def max_speed(plan: CropPlan) -> float:
    """Maximum window speed within a shot, as a fraction of its width per frame."""
    speeds = [
        hypot(two.x - one.x, two.y - one.y) / (two.seconds - one.seconds) / plan.fps / pane.width
        for scene in plan.scenes
        for pane in scene.panes
        for one, two in pairwise(pane.path)
    ]
    return max(speeds, default=0.0)


def reversals(plan: CropPlan) -> int:
    """Number of direction changes within MIN_REST_SECONDS of a move."""
    paths = [pane.path for scene in plan.scenes for pane in scene.panes]
    across = [[(key.seconds, key.x) for key in path] for path in paths]
    down = [[(key.seconds, key.y) for key in path] for path in paths]
    return sum(_count_reversals(path) for path in across + down)


def _count_reversals(path: Sequence[tuple[float, float]]) -> int:
    count, direction, ended = 0, 0, 0.0
    for (since, start), (until, end) in pairwise(path):
        direction_now = (end > start) - (end < start)
        if direction_now:
            count += direction_now == -direction and since - ended < MIN_REST_SECONDS
            direction, ended = direction_now, until
    return count
