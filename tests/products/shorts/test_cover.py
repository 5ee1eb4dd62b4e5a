"""Tests for the covers of outputs."""

from fractions import Fraction
from itertools import pairwise

from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from cutroom.media.framing import framing_filter
from cutroom.products.shorts.cover import cover_frame_spec
from cutroom.products.shorts.edit import Edit
from cutroom.products.shorts.rules import AspectRatio
from cutroom.products.shorts.timeline import Timeline

RATE = Fraction(25)
PANNED = CropPane(606, 1080, (Keyframe(0.0, 100.0, 0.0), Keyframe(4.0, 500.0, 0.0)))
WHOLE = CropPane(1920, 1080, (Keyframe(4.0, 0.0, 0.0),))
CROP = CropPlan(
    1920,
    1080,
    25.0,
    (CropScene(0.0, 4.0, SceneFit.CROP, (PANNED,)), CropScene(4.0, 20.0, SceneFit.CONTAIN, (WHOLE,))),
)


def edit(thumbnail_seconds: float) -> Edit:
    return Edit(CROP, "[Events]", caption_boxes=(), faces=(), thumbnail_seconds=thumbnail_seconds)


def test_cover_is_a_frame_of_the_source_without_captions() -> None:
    timeline = Timeline.of([(50.0, 53.0), (80.0, 97.0)], rate=RATE)
    spec = cover_frame_spec(edit(3.0), timeline, rate=RATE, aspect=AspectRatio.PORTRAIT)
    assert [(each.start_seconds, each.seconds) for each in spec.ranges] == [(80.0, 0.04)]
    pane = CropPane(606, 1080, (Keyframe(0.0, 400.0, 0.0),))
    still = CropPlan(1920, 1080, 25.0, (CropScene(0.0, 0.04, SceneFit.CROP, (pane,)),))
    framed = framing_filter(still, width=1080, height=1920, source="joined")
    assert spec.filters == f"{framed};[framed]null[shown]"


def test_covers_of_one_request_show_different_times() -> None:
    ranges = [(10.0, 30.0), (30.0, 50.0), (75.0, 95.0)]
    specs = [
        cover_frame_spec(edit(19.9), Timeline.of([span], rate=RATE), rate=RATE, aspect=AspectRatio.PORTRAIT)
        for span in ranges
    ]
    times = [spec.ranges[0].start_seconds for spec in specs]
    assert all(later - earlier >= 10 for earlier, later in pairwise(times))
