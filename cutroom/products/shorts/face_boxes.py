"""Where what was seen in the film is in the output: faces as the framing shows them, for captions to keep off."""

from collections.abc import Iterator, Sequence

from cutroom.engines.types import Box, TimeSpan
from cutroom.media.crop_plan import CropPlan, Fit, Scene
from cutroom.products.shorts.captions.zones import Area
from cutroom.products.shorts.framing.tracks import FrameAnalysis

HOLD_SECONDS = 0.3  # a face is taken to be where it was seen for so long before and after


def shown_faces(
    plan: CropPlan, seen: Sequence[FrameAnalysis], *, width: int, height: int
) -> list[tuple[TimeSpan, Area]]:
    """Every face of every picture that was looked at, in shares of the output, with the time around it."""
    found = []
    for each in seen:
        scene = plan.scene_at(each.seconds)
        start = max(scene.start_seconds, each.seconds - HOLD_SECONDS)
        end = min(scene.end_seconds, each.seconds + HOLD_SECONDS)
        for face in each.faces:
            found += [
                (TimeSpan(start, end), box) for box in _shown(plan, scene, face.box, each.seconds, width / height)
            ]
    return found


def _shown(plan: CropPlan, scene: Scene, face: Box, seconds: float, shape: float) -> Iterator[Area]:
    """Where a face of the film is seen in the output; nowhere, if no window shows it."""
    if scene.fit is Fit.WHOLE:
        film = plan.source_width / plan.source_height
        wide, high = (1.0, shape / film) if film > shape else (film / shape, 1.0)
        left, top = (1 - wide) / 2, (1 - high) / 2
        right, bottom = face.x + face.width, face.y + face.height
        yield Area(left + face.x * wide, top + face.y * high, left + right * wide, top + bottom * high)
        return
    for at, pane in enumerate(scene.panes):
        x, y = pane.at(seconds)
        left, top = (face.x * plan.source_width - x) / pane.width, (face.y * plan.source_height - y) / pane.height
        right = left + face.width * plan.source_width / pane.width
        bottom = top + face.height * plan.source_height / pane.height
        clipped = Area(max(0.0, left), max(0.0, top), min(1.0, right), min(1.0, bottom))
        if clipped.area == 0:
            continue
        if scene.fit is Fit.CROP:
            yield clipped
        elif shape < 1:  # one above the other
            yield Area(clipped.left, (clipped.top + at) / 2, clipped.right, (clipped.bottom + at) / 2)
        else:
            yield Area((clipped.left + at) / 2, clipped.top, (clipped.right + at) / 2, clipped.bottom)
