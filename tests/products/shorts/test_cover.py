"""Tests for the covers of outputs."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from cutroom.media.framing import framing_filter
from cutroom.products.shorts.cover import cover_frame_spec, cover_title
from cutroom.products.shorts.edit import Edit, TimedBox
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


def edit(thumbnail_seconds: float, *, faces: tuple[TimedBox, ...] = ()) -> Edit:
    return Edit(CROP, "[Events]", caption_boxes=(), faces=faces, thumbnail_seconds=thumbnail_seconds)


def test_cover_is_a_frame_of_the_source_with_its_title_instead_of_captions() -> None:
    timeline = Timeline.of([(50.0, 53.0), (80.0, 97.0)], rate=RATE)
    spec = cover_frame_spec(edit(3.0), timeline, rate=RATE, aspect=AspectRatio.PORTRAIT)
    assert [(each.start_seconds, each.seconds) for each in spec.ranges] == [(80.0, 0.04)]
    pane = CropPane(606, 1080, (Keyframe(0.0, 400.0, 0.0),))
    still = CropPlan(1920, 1080, 25.0, (CropScene(0.0, 0.04, SceneFit.CROP, (pane,)),))
    framed = framing_filter(still, width=1080, height=1920, source="joined")
    assert spec.filters == f"{framed};[framed]ass=filename=title.ass[shown]"


def test_enlarged_cover_shows_the_main_face_whole_in_the_frame() -> None:
    face = (0.3, 0.25, 0.7, 0.5)  # of the window at 3 s, which lies at 400
    nearer = replace(edit(3.0, faces=((2.0, 4.0, *face),)), cover_zoom=1.5)
    timeline = Timeline.of([(50.0, 70.0)], rate=RATE)
    spec = cover_frame_spec(nearer, timeline, rate=RATE, aspect=AspectRatio.PORTRAIT)
    pane = CropPane(404, 720, (Keyframe(0.0, 501.0, 117.0),))
    still = CropPlan(1920, 1080, 25.0, (CropScene(0.0, 0.04, SceneFit.CROP, (pane,)),))
    assert spec.filters.startswith(framing_filter(still, width=1080, height=1920, source="joined"))


@pytest.mark.parametrize(
    ("seconds", "face"),
    [
        (3.0, (0.1, 0.1, 0.9, 0.7)),  # it fills the window
        (8.0, (0.3, 0.25, 0.7, 0.5)),  # the whole frame is shown
    ],
)
def test_cover_is_not_enlarged_where_it_would_be_cut(seconds: float, face: tuple[float, float, float, float]) -> None:
    timeline = Timeline.of([(50.0, 70.0)], rate=RATE)
    plain = edit(seconds, faces=((0.0, 20.0, *face),))
    specs = [
        cover_frame_spec(each, timeline, rate=RATE, aspect=AspectRatio.PORTRAIT)
        for each in (plain, replace(plain, cover_zoom=1.5))
    ]
    assert specs[0] == specs[1]


def test_title_avoids_the_face_of_the_frame_only() -> None:
    low_face = (0.2, 0.6, 0.8, 0.8)

    def top(at_seconds: float) -> float:
        shown = cover_title(
            edit(at_seconds, faces=((2.0, 3.0, *low_face),)),
            "A slow drip can waste 5 gallons a day",
            language="en",
            aspect=AspectRatio.PORTRAIT,
        )
        return min(float(y) for y in re.findall(r"\\pos\([\d.]+,([\d.]+)\)", shown))

    assert top(2.5) < 0.6 * 1920 < top(5.0)
