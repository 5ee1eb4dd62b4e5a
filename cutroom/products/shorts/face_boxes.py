"""Maps detected faces from source to output coordinates, for captions to avoid."""

from collections.abc import Iterator, Sequence

from cutroom.engines.types import Box, TimeSpan
from cutroom.media.crop_plan import CropPlan, CropScene, SceneFit
from cutroom.products.shorts.captions.safe_zones import FrameRegion
from cutroom.products.shorts.framing.tracks import FrameAnalysis

HOLD_SECONDS = 0.3  # a face is assumed to stay in place this long before and after a sample


def visible_faces(
    plan: CropPlan, frames: Sequence[FrameAnalysis], *, width: int, height: int
) -> list[tuple[TimeSpan, FrameRegion]]:
    """Every detected face as a fraction of the output frame, with the time around its sample."""
    result = []
    for each in frames:
        scene = plan.scene_at(each.seconds)
        start = max(scene.start_seconds, each.seconds - HOLD_SECONDS)
        end = min(scene.end_seconds, each.seconds + HOLD_SECONDS)
        for face in each.faces:
            result += [
                (TimeSpan(start, end), box) for box in _project(plan, scene, face.box, each.seconds, width / height)
            ]
    return result


def _project(plan: CropPlan, scene: CropScene, face: Box, seconds: float, aspect: float) -> Iterator[FrameRegion]:
    """Positions of a source face in the output; none if no window shows it."""
    if scene.fit is SceneFit.CONTAIN:
        source_aspect = plan.source_width / plan.source_height
        width_share, height_share = (
            (1.0, aspect / source_aspect) if source_aspect > aspect else (source_aspect / aspect, 1.0)
        )
        left, top = (1 - width_share) / 2, (1 - height_share) / 2
        right, bottom = face.x + face.width, face.y + face.height
        yield FrameRegion(
            left + face.x * width_share,
            top + face.y * height_share,
            left + right * width_share,
            top + bottom * height_share,
        )
        return
    for index, pane in enumerate(scene.panes):
        x, y = pane.at(seconds)
        left, top = (face.x * plan.source_width - x) / pane.width, (face.y * plan.source_height - y) / pane.height
        right = left + face.width * plan.source_width / pane.width
        bottom = top + face.height * plan.source_height / pane.height
        clipped = FrameRegion(max(0.0, left), max(0.0, top), min(1.0, right), min(1.0, bottom))
        if clipped.area == 0:
            continue
        if scene.fit is SceneFit.CROP:
            yield clipped
        elif aspect < 1:  # stacked
            yield FrameRegion(clipped.left, (clipped.top + index) / 2, clipped.right, (clipped.bottom + index) / 2)
        else:
            yield FrameRegion((clipped.left + index) / 2, clipped.top, (clipped.right + index) / 2, clipped.bottom)
