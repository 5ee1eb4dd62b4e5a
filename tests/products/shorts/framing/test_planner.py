"""What of each shot is shown, and that windows behave whatever they follow."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cutroom.engines.types import Box, TimeSpan
from cutroom.engines.vision.port import Face
from cutroom.media.crop_plan import CropPlan, Fit
from cutroom.products.shorts.framing.measures import face_share, reversals, worst_speed
from cutroom.products.shorts.framing.paths import MAX_SPEED
from cutroom.products.shorts.framing.planner import Source, plan_crops
from cutroom.products.shorts.framing.tracks import FrameAnalysis

UPRIGHT = Source(1920, 1080, 25.0, (9, 16))
RATE = 5  # samples a second


def face(middle: float, *, height: float = 0.3, score: float = 0.9, y: float = 0.2) -> Face:
    width = height * 0.45  # as shares of 16:9
    return Face(Box(middle - width / 2, y, width, height), score)


def sampled(
    seconds: float, faces: Callable[[float], Sequence[Face]], *, interest: float = 0.5, screen: bool = False
) -> list[FrameAnalysis]:
    times = [at / RATE for at in range(int(seconds * RATE))]
    return [FrameAnalysis(time, tuple(faces(time)), interest, screen) for time in times]


def plan(
    seen: Sequence[FrameAnalysis],
    seconds: float,
    *,
    cuts: Sequence[float] = (),
    talking: Sequence[tuple[TimeSpan, str]] = (),
    source: Source = UPRIGHT,
) -> CropPlan:
    return plan_crops(seen, source, cuts=cuts, clip_seconds=seconds, talking=talking)


def middle_at(made: CropPlan, seconds: float, pane: int = 0) -> float:
    """Of a window, as a share of the picture."""
    shown = made.scene_at(seconds).panes[pane]
    return (shown.at(seconds)[0] + shown.width / 2) / made.source_width


def test_a_face_that_stays_is_met_by_a_window_that_stands() -> None:
    seen = sampled(8, lambda time: [face(0.6 + 0.02 * (int(time * 5) % 3 - 1))])
    made = plan(seen, 8)
    [scene] = made.scenes
    assert (scene.start_seconds, scene.end_seconds, scene.fit) == (0, 8, Fit.CROP)
    [pane] = scene.panes
    assert (pane.width, pane.height, len(pane.path)) == (606, 1080, 1)
    assert middle_at(made, 4) == pytest.approx(0.6, abs=0.001)


def test_a_face_that_walks_is_followed_gently() -> None:
    def walk(time: float) -> list[Face]:
        return [face(0.25 + 0.5 * min(max((time - 4) / 8, 0), 1))]

    seen = sampled(16, walk)
    made = plan(seen, 16)
    assert face_share(made, seen) == 1.0
    assert reversals(made) == 0
    assert 0 < worst_speed(made) <= MAX_SPEED
    # Still before and after, one move between.
    assert middle_at(made, 0) == pytest.approx(middle_at(made, 2.5), abs=0.001)
    assert middle_at(made, 14) == pytest.approx(middle_at(made, 16), abs=0.001)
    assert middle_at(made, 0) == pytest.approx(0.25, abs=0.05)
    assert middle_at(made, 16) == pytest.approx(0.75, abs=0.05)


def test_a_face_that_is_too_fast_is_given_up_for_as_short_as_can_be() -> None:
    seen = sampled(16, lambda time: [face(0.2 if time < 6 else 0.6)])
    made = plan(seen, 16)
    assert worst_speed(made) <= MAX_SPEED
    assert face_share(made, seen) > 0.75  # the way takes some 4 s, the face's own width spares a few
    never = plan(sampled(4, lambda time: [face(0.1 if time < 2.5 else 0.9)]), 4)
    assert middle_at(never, 4) == pytest.approx(middle_at(never, 0), abs=0.05)


def test_swaying_to_and_fro_does_not_sway_the_window() -> None:
    seen = sampled(10, lambda time: [face(0.5 + (0.12 if int(time * 2.5) % 2 else -0.12), height=0.4)])
    made = plan(seen, 10)
    assert reversals(made) == 0
    assert worst_speed(made) <= MAX_SPEED


def test_windows_jump_only_with_a_cut_and_on_a_frame() -> None:
    seen = sampled(6, lambda time: [face(0.2 if time < 2.6 else 0.8)])
    made = plan(seen, 6, cuts=[2.61])
    first, second = made.scenes
    assert first.end_seconds == second.start_seconds == pytest.approx(65 / 25)
    assert middle_at(made, 2.56) == pytest.approx(0.2, abs=0.01)
    assert middle_at(made, 2.6) == pytest.approx(0.8, abs=0.01)
    assert face_share(made, seen) == 1.0


def test_cuts_outside_and_too_near_make_no_scene() -> None:
    made = plan(sampled(4, lambda _: []), 4, cuts=[-1, 0, 0.04, 2, 2.01, 2.04, 3.99, 4, 9])
    assert [scene.start_seconds for scene in made.scenes] == [0, 2]


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(lambda time: [face(0.9)] if time == 2.0 else [], id="seen once"),
        pytest.param(lambda _: [face(0.9, score=0.5)], id="doubtful"),
        pytest.param(lambda _: [face(0.9, height=0.03)], id="tiny"),
    ],
)
def test_what_is_no_face_moves_nothing(noise: Callable[[float], list[Face]]) -> None:
    made = plan(sampled(6, lambda time: [face(0.3), *noise(time)]), 6)
    assert middle_at(made, 2) == pytest.approx(0.3, abs=0.001)
    assert made.scenes[0].fit is Fit.CROP


def test_a_face_that_turns_away_for_a_moment_stays_the_same() -> None:
    seen = sampled(8, lambda time: [] if 3 < time < 3.8 else [face(0.3)])
    made = plan(seen, 8, cuts=[])
    assert middle_at(made, 3.4) == pytest.approx(0.3, abs=0.001)


LEFT, RIGHT = 0.2, 0.8


def both(_: float) -> list[Face]:
    return [face(LEFT), face(RIGHT, height=0.34)]


def test_two_that_fit_are_shown_together() -> None:
    seen = sampled(6, lambda _: [face(0.45, height=0.2), face(0.6, height=0.2)])
    made = plan(seen, 6)
    [scene] = made.scenes
    assert scene.fit is Fit.CROP
    assert middle_at(made, 3) == pytest.approx(0.525, abs=0.01)


@pytest.mark.parametrize(
    ("talking", "fit"),
    [
        pytest.param([], Fit.SPLIT, id="nobody knows who speaks"),
        pytest.param([(TimeSpan(0, 4), "a"), (TimeSpan(4, 8), "b")], Fit.SPLIT, id="both speak"),
        pytest.param([(TimeSpan(0, 8), "a")], Fit.CROP, id="one speaks"),
        pytest.param([(TimeSpan(0, 7.6), "a"), (TimeSpan(7.6, 8), "b")], Fit.CROP, id="the other says a word"),
    ],
)
def test_two_that_do_not_fit_share_the_picture_if_both_speak(talking: list[tuple[TimeSpan, str]], fit: Fit) -> None:
    seen = sampled(8, both)
    made = plan(seen, 8, talking=talking)
    [scene] = made.scenes
    assert scene.fit is fit
    assert face_share(made, seen) == 1.0
    if fit is Fit.CROP:
        assert middle_at(made, 4) == pytest.approx(RIGHT, abs=0.05)  # the larger one
    else:
        top, bottom = scene.panes
        assert (top.width, top.height) == (bottom.width, bottom.height)
        assert top.width / top.height == pytest.approx(9 / 8, abs=0.01)
        assert middle_at(made, 4, 0) == pytest.approx(LEFT, abs=0.02)
        assert middle_at(made, 4, 1) == pytest.approx(RIGHT, abs=0.05)


def test_a_square_is_split_side_by_side() -> None:
    made = plan(sampled(8, lambda _: [face(0.1), face(0.9)]), 8, source=Source(1920, 1080, 25.0, (1, 1)))
    [scene] = made.scenes
    assert scene.fit is Fit.SPLIT
    assert scene.panes[0].width / scene.panes[0].height == pytest.approx(1 / 2, abs=0.01)


def test_who_speaks_is_told_by_who_is_seen_when() -> None:
    """Close shots of each while they speak, from the places that they have in the wide shot as well."""

    def faces(time: float) -> list[Face]:
        if time < 6:
            return [face(LEFT)]
        if time < 12:
            return [face(RIGHT, height=0.34)]
        return both(time)

    talking = [(TimeSpan(0, 6), "a"), (TimeSpan(6, 12), "b"), (TimeSpan(12, 16), "a")]
    made = plan(sampled(16, faces), 16, cuts=[6, 12], talking=talking)
    assert [scene.fit for scene in made.scenes] == [Fit.CROP] * 3
    assert middle_at(made, 14) == pytest.approx(LEFT, abs=0.05)  # the smaller one, who speaks


def test_a_far_smaller_face_does_not_share_the_picture() -> None:
    made = plan(sampled(8, lambda _: [face(LEFT, height=0.1), face(RIGHT, height=0.4)]), 8)
    assert made.scenes[0].fit is Fit.CROP
    assert middle_at(made, 4) > 0.7


@pytest.mark.parametrize(
    ("faces", "fit"),
    [
        pytest.param([], Fit.WHOLE, id="a screen"),
        pytest.param([face(0.9, height=0.15)], Fit.WHOLE, id="a screen and a small picture of who speaks"),
        pytest.param([face(0.5, height=0.4)], Fit.CROP, id="somebody before a screen"),
    ],
)
def test_screens_are_shown_whole(faces: list[Face], fit: Fit) -> None:
    [scene] = plan(sampled(5, lambda _: faces, screen=True), 5).scenes
    assert scene.fit is fit
    if fit is Fit.WHOLE:
        assert (scene.panes[0].width, scene.panes[0].height) == (1920, 1080)


def test_without_faces_the_window_is_where_most_happens() -> None:
    made = plan(sampled(5, lambda _: [], interest=0.7), 5)
    assert middle_at(made, 2) == pytest.approx(0.7, abs=0.01)
    assert middle_at(plan([], 5), 2) == pytest.approx(0.5, abs=0.01)


def test_interest_that_wanders_far_is_followed() -> None:
    seen = [FrameAnalysis(at / RATE, (), 0.2 + 0.6 * at / 100, is_screen=False) for at in range(100)]
    made = plan(seen, 20)
    assert middle_at(made, 1) < 0.35
    assert middle_at(made, 19) > 0.65
    assert worst_speed(made) <= MAX_SPEED


@pytest.mark.parametrize(
    ("width", "height", "aspect", "window"),
    [
        (1920, 1080, (16, 9), (1920, 1080)),
        (1920, 1080, (1, 1), (1080, 1080)),
        (1080, 1920, (9, 16), (1080, 1920)),
        (1080, 1920, (16, 9), (1080, 606)),
        (1080, 1920, (1, 1), (1080, 1080)),
        (640, 480, (9, 16), (270, 480)),
        (480, 1080, (9, 16), (480, 852)),  # narrower than wanted
        (641, 361, (9, 16), (202, 360)),
        (641, 361, (16, 9), (640, 360)),
    ],
)
def test_windows_are_even_and_as_large_as_they_can(
    width: int, height: int, aspect: tuple[int, int], window: tuple[int, int]
) -> None:
    seen = sampled(4, lambda _: [face(0.3, height=0.2)])
    made = plan(seen, 4, source=Source(width, height, 30.0, aspect))
    [pane] = made.scenes[0].panes
    assert (pane.width, pane.height) == window
    assert face_share(made, seen) == 1.0


def test_a_screen_that_has_the_wanted_shape_is_not_framed() -> None:
    [scene] = plan(sampled(4, lambda _: [], screen=True), 4, source=Source(1920, 1080, 25.0, (16, 9))).scenes
    assert scene.fit is Fit.CROP


faces_drawn = st.builds(
    lambda x, y, height, score: Face(Box(x, y, min(height * 0.5, 1 - x), min(height, 1 - y)), score),
    st.floats(0, 0.9),
    st.floats(0, 0.9),
    st.floats(0.02, 0.9),
    st.floats(0.3, 1),
)
sources_drawn = st.builds(
    Source,
    st.integers(64, 2000),
    st.integers(64, 2000),
    st.sampled_from([10.0, 23.976, 25.0, 30000 / 1001, 60.0]),
    st.sampled_from([(9, 16), (1, 1), (16, 9)]),
)


def require_good(made: CropPlan, clip_seconds: float) -> None:
    assert worst_speed(made) <= MAX_SPEED
    assert reversals(made) == 0
    assert made.scenes[0].start_seconds == 0
    assert made.scenes[-1].end_seconds == pytest.approx(clip_seconds)
    assert all(one.end_seconds == two.start_seconds for one, two in pairwise(made.scenes))
    assert CropPlan.from_json(made.to_json()) == made  # which checks that every window is even and inside


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.lists(faces_drawn, max_size=3), st.floats(0, 1), st.booleans()), max_size=40),
    sources_drawn,
    st.lists(st.floats(-1, 12), max_size=4),
    st.lists(st.tuples(st.floats(0, 8), st.floats(0, 4), st.sampled_from("abc")), max_size=5),
)
def test_whatever_is_seen_windows_are_inside_slow_and_steady(
    drawn: list[tuple[list[Face], float, bool]],
    source: Source,
    cuts: list[float],
    said: list[tuple[float, float, str]],
) -> None:
    seen = [
        FrameAnalysis(at / RATE, tuple(faces), interest, screen) for at, (faces, interest, screen) in enumerate(drawn)
    ]
    seconds = max(0.2, len(drawn) / RATE)
    talking = [(TimeSpan(start, start + length), label) for start, length, label in said]
    require_good(plan_crops(seen, source, cuts=cuts, clip_seconds=seconds, talking=talking), seconds)


@settings(max_examples=150, deadline=None)
@example(legs=[(1.5, -1.0), (1.0, 1.0), (1.0, 1.0)], start=0.5, height=0.5, fps=30.0)
@example(legs=[(2.0, -1.0), (1.0, 1.0), (1.0, 1.0)], start=0.5, height=0.5, fps=30.0)
@given(
    st.lists(st.tuples(st.floats(1.0, 4.0), st.floats(-1, 1)), min_size=1, max_size=12),
    st.floats(0.1, 0.9),
    st.floats(0.08, 0.5),
    st.sampled_from([24.0, 25.0, 30.0]),
)
def test_a_face_that_is_no_faster_than_a_window_never_leaves_it(
    legs: list[tuple[float, float]], start: float, height: float, fps: float
) -> None:
    source = Source(1920, 1080, fps, (9, 16))
    fastest = 0.8 * MAX_SPEED * fps * source.window()[0] / source.width  # shares of the picture in a second
    corners = [(0.0, start)]
    for length, speed in legs:
        time, place = corners[-1]
        corners.append((time + length, min(max(place + speed * fastest * length, 0.05), 0.95)))

    def place_at(time: float) -> float:
        for (since, one), (until, two) in pairwise(corners):
            if time <= until:
                return one + (two - one) * (time - since) / (until - since)
        return corners[-1][1]

    seconds = corners[-1][0]
    width = height * 0.45

    def seen_at(time: float) -> FrameAnalysis:
        middle = min(max(place_at(time), width / 2), 1 - width / 2)
        return FrameAnalysis(time, (face(middle, height=height),), 0.5, is_screen=False)

    looks = [seen_at(at / RATE) for at in range(int(seconds * RATE) + 1)]
    made = plan_crops(looks, source, cuts=[], clip_seconds=seconds)
    require_good(made, seconds)
    assert face_share(made, looks[:-1]) == 1.0
    # A face that turns between two looks may have been a little farther than anybody saw, for a frame or so.
    every_frame = [seen_at(at / fps) for at in range(int(seconds * fps))]
    missed = round((1 - face_share(made, every_frame)) * len(every_frame))
    assert missed <= max(0.02 * len(every_frame), len(corners))
