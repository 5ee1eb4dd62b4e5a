"""Tests for crop planning: layouts per shot, and bounds on window movement."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cutroom.engines.types import Box, TimeSpan
from cutroom.engines.vision.port import Face
from cutroom.media.crop_plan import CropPlan, SceneFit
from cutroom.products.shorts.framing.paths import MAX_SPEED
from cutroom.products.shorts.framing.planner import CropSource, plan_crops
from cutroom.products.shorts.framing.quality import face_coverage, max_speed, reversals
from cutroom.products.shorts.framing.tracks import FrameAnalysis

UPRIGHT = CropSource(1920, 1080, 25.0, (9, 16))
RATE = 5  # samples per second


def face(center: float, *, height: float = 0.3, score: float = 0.9, y: float = 0.2) -> Face:
    width = height * 0.45  # as fractions of 16:9
    return Face(Box(center - width / 2, y, width, height), score)


def sampled(
    seconds: float, faces: Callable[[float], Sequence[Face]], *, saliency: float = 0.5, screen: bool = False
) -> list[FrameAnalysis]:
    times = [index / RATE for index in range(int(seconds * RATE))]
    return [FrameAnalysis(time, tuple(faces(time)), saliency, screen) for time in times]


def plan(
    frames: Sequence[FrameAnalysis],
    seconds: float,
    *,
    cuts: Sequence[float] = (),
    turns: Sequence[tuple[TimeSpan, str]] = (),
    source: CropSource = UPRIGHT,
) -> CropPlan:
    return plan_crops(frames, source, cuts=cuts, clip_seconds=seconds, turns=turns)


def center_at(planned: CropPlan, seconds: float, pane: int = 0) -> float:
    """Center of a window, as a fraction of the frame width."""
    pane_at = planned.scene_at(seconds).panes[pane]
    return (pane_at.at(seconds)[0] + pane_at.width / 2) / planned.source_width


def test_static_face_gets_a_static_window() -> None:
    frames = sampled(8, lambda time: [face(0.6 + 0.02 * (int(time * 5) % 3 - 1))])
    planned = plan(frames, 8)
    [scene] = planned.scenes
    assert (scene.start_seconds, scene.end_seconds, scene.fit) == (0, 8, SceneFit.CROP)
    [pane] = scene.panes
    assert (pane.width, pane.height, len(pane.path)) == (606, 1080, 1)
    assert center_at(planned, 4) == pytest.approx(0.6, abs=0.001)


def test_moving_face_is_followed_smoothly() -> None:
    def walk(time: float) -> list[Face]:
        return [face(0.25 + 0.5 * min(max((time - 4) / 8, 0), 1))]

    frames = sampled(16, walk)
    planned = plan(frames, 16)
    assert face_coverage(planned, frames) == 1.0
    assert reversals(planned) == 0
    assert 0 < max_speed(planned) <= MAX_SPEED
    # At rest before and after, with one move in between.
    assert center_at(planned, 0) == pytest.approx(center_at(planned, 2.5), abs=0.001)
    assert center_at(planned, 14) == pytest.approx(center_at(planned, 16), abs=0.001)
    assert center_at(planned, 0) == pytest.approx(0.25, abs=0.05)
    assert center_at(planned, 16) == pytest.approx(0.75, abs=0.05)


def test_fast_face_is_dropped_briefly() -> None:
    frames = sampled(16, lambda time: [face(0.2 if time < 6 else 0.6)])
    planned = plan(frames, 16)
    assert max_speed(planned) <= MAX_SPEED
    assert face_coverage(planned, frames) > 0.75  # the move takes about 4 s
    unreachable = plan(sampled(4, lambda time: [face(0.1 if time < 2.5 else 0.9)]), 4)
    assert center_at(unreachable, 4) == pytest.approx(center_at(unreachable, 0), abs=0.05)


def test_oscillating_face_does_not_move_the_window() -> None:
    frames = sampled(10, lambda time: [face(0.5 + (0.12 if int(time * 2.5) % 2 else -0.12), height=0.4)])
    planned = plan(frames, 10)
    assert reversals(planned) == 0
    assert max_speed(planned) <= MAX_SPEED


def test_windows_jump_only_at_cuts_on_frames() -> None:
    frames = sampled(6, lambda time: [face(0.2 if time < 2.6 else 0.8)])
    planned = plan(frames, 6, cuts=[2.61])
    first, second = planned.scenes
    assert first.end_seconds == second.start_seconds == pytest.approx(65 / 25)
    assert center_at(planned, 2.56) == pytest.approx(0.2, abs=0.01)
    assert center_at(planned, 2.6) == pytest.approx(0.8, abs=0.01)
    assert face_coverage(planned, frames) == 1.0


@pytest.mark.parametrize(
    ("height", "aspect", "fit"),
    [
        (0.6, (9, 16), SceneFit.CROP),
        (0.8, (9, 16), SceneFit.CONTAIN),  # a face of 36 % of the width; the window has 32 %
        (0.8, (1, 1), SceneFit.CROP),
        (0.8, (16, 9), SceneFit.CROP),
    ],
)
def test_face_larger_than_the_window_is_shown_whole(height: float, aspect: tuple[int, int], fit: SceneFit) -> None:
    frames = sampled(6, lambda _: [face(0.5, height=height, y=0.1)])
    planned = plan(frames, 6, source=CropSource(1920, 1080, 25.0, aspect))
    assert [scene.fit for scene in planned.scenes] == [fit]
    assert face_coverage(planned, frames) == 1.0


def test_invalid_cuts_are_ignored() -> None:
    planned = plan(sampled(4, lambda _: []), 4, cuts=[-1, 0, 0.04, 2, 2.01, 2.04, 3.99, 4, 9])
    assert [scene.start_seconds for scene in planned.scenes] == [0, 2]


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(lambda time: [face(0.9)] if time == 2.0 else [], id="seen once"),
        pytest.param(lambda _: [face(0.9, score=0.5)], id="doubtful"),
        pytest.param(lambda _: [face(0.9, height=0.03)], id="tiny"),
    ],
)
def test_false_detections_are_ignored(noise: Callable[[float], list[Face]]) -> None:
    planned = plan(sampled(6, lambda time: [face(0.3), *noise(time)]), 6)
    assert center_at(planned, 2) == pytest.approx(0.3, abs=0.001)
    assert planned.scenes[0].fit is SceneFit.CROP


def test_short_gaps_are_bridged() -> None:
    frames = sampled(8, lambda time: [] if 3 < time < 3.8 else [face(0.3)])
    planned = plan(frames, 8, cuts=[])
    assert center_at(planned, 3.4) == pytest.approx(0.3, abs=0.001)


LEFT, RIGHT = 0.2, 0.8


def both(_: float) -> list[Face]:
    return [face(LEFT), face(RIGHT, height=0.34)]


def test_two_faces_that_fit_share_a_window() -> None:
    frames = sampled(6, lambda _: [face(0.45, height=0.2), face(0.6, height=0.2)])
    planned = plan(frames, 6)
    [scene] = planned.scenes
    assert scene.fit is SceneFit.CROP
    assert center_at(planned, 3) == pytest.approx(0.525, abs=0.01)


@pytest.mark.parametrize(
    ("turns", "fit"),
    [
        pytest.param([], SceneFit.SPLIT, id="unknown speakers"),
        pytest.param([(TimeSpan(0, 4), "a"), (TimeSpan(4, 8), "b")], SceneFit.SPLIT, id="both speak"),
        pytest.param([(TimeSpan(0, 8), "a")], SceneFit.CROP, id="one speaks"),
        pytest.param([(TimeSpan(0, 7.6), "a"), (TimeSpan(7.6, 8), "b")], SceneFit.CROP, id="the other says a word"),
    ],
)
def test_split_screen_requires_two_speakers(turns: list[tuple[TimeSpan, str]], fit: SceneFit) -> None:
    frames = sampled(8, both)
    planned = plan(frames, 8, turns=turns)
    [scene] = planned.scenes
    assert scene.fit is fit
    assert face_coverage(planned, frames) == 1.0
    if fit is SceneFit.CROP:
        assert center_at(planned, 4) == pytest.approx(RIGHT, abs=0.05)  # the larger one
    else:
        top, bottom = scene.panes
        assert (top.width, top.height) == (bottom.width, bottom.height)
        assert top.width / top.height == pytest.approx(9 / 8, abs=0.01)
        assert center_at(planned, 4, 0) == pytest.approx(LEFT, abs=0.02)
        assert center_at(planned, 4, 1) == pytest.approx(RIGHT, abs=0.05)


def test_square_output_is_split_side_by_side() -> None:
    planned = plan(sampled(8, lambda _: [face(0.1), face(0.9)]), 8, source=CropSource(1920, 1080, 25.0, (1, 1)))
    [scene] = planned.scenes
    assert scene.fit is SceneFit.SPLIT
    assert scene.panes[0].width / scene.panes[0].height == pytest.approx(1 / 2, abs=0.01)


def test_speaker_is_inferred_from_visibility() -> None:
    """Close-ups of each speaker, at the positions that they also have in the wide shot."""

    def faces(time: float) -> list[Face]:
        if time < 6:
            return [face(LEFT)]
        if time < 12:
            return [face(RIGHT, height=0.34)]
        return both(time)

    turns = [(TimeSpan(0, 6), "a"), (TimeSpan(6, 12), "b"), (TimeSpan(12, 16), "a")]
    planned = plan(sampled(16, faces), 16, cuts=[6, 12], turns=turns)
    assert [scene.fit for scene in planned.scenes] == [SceneFit.CROP] * 3
    assert center_at(planned, 14) == pytest.approx(LEFT, abs=0.05)  # the smaller one, who speaks


def test_much_smaller_face_gets_no_split_screen() -> None:
    planned = plan(sampled(8, lambda _: [face(LEFT, height=0.1), face(RIGHT, height=0.4)]), 8)
    assert planned.scenes[0].fit is SceneFit.CROP
    assert center_at(planned, 4) > 0.7


@pytest.mark.parametrize(
    ("faces", "fit"),
    [
        pytest.param([], SceneFit.CONTAIN, id="a screen"),
        pytest.param([face(0.9, height=0.15)], SceneFit.CONTAIN, id="a screen with a small webcam"),
        pytest.param([face(0.5, height=0.4)], SceneFit.CROP, id="a presenter in front of a screen"),
    ],
)
def test_screens_are_not_cropped(faces: list[Face], fit: SceneFit) -> None:
    [scene] = plan(sampled(5, lambda _: faces, screen=True), 5).scenes
    assert scene.fit is fit
    if fit is SceneFit.CONTAIN:
        assert (scene.panes[0].width, scene.panes[0].height) == (1920, 1080)


def test_window_follows_saliency_without_faces() -> None:
    planned = plan(sampled(5, lambda _: [], saliency=0.7), 5)
    assert center_at(planned, 2) == pytest.approx(0.7, abs=0.01)
    assert center_at(plan([], 5), 2) == pytest.approx(0.5, abs=0.01)


def test_moving_saliency_is_followed() -> None:
    frames = [FrameAnalysis(index / RATE, (), 0.2 + 0.6 * index / 100, is_screen=False) for index in range(100)]
    planned = plan(frames, 20)
    assert center_at(planned, 1) < 0.35
    assert center_at(planned, 19) > 0.65
    assert max_speed(planned) <= MAX_SPEED


@pytest.mark.parametrize(
    ("width", "height", "aspect", "window"),
    [
        (1920, 1080, (16, 9), (1920, 1080)),
        (1920, 1080, (1, 1), (1080, 1080)),
        (1080, 1920, (9, 16), (1080, 1920)),
        (1080, 1920, (16, 9), (1080, 606)),
        (1080, 1920, (1, 1), (1080, 1080)),
        (640, 480, (9, 16), (270, 480)),
        (480, 1080, (9, 16), (480, 852)),  # narrower than the aspect ratio
        (641, 361, (9, 16), (202, 360)),
        (641, 361, (16, 9), (640, 360)),
    ],
)
def test_windows_are_even_and_as_large_as_possible(
    width: int, height: int, aspect: tuple[int, int], window: tuple[int, int]
) -> None:
    frames = sampled(4, lambda _: [face(0.3, height=0.2)])
    planned = plan(frames, 4, source=CropSource(width, height, 30.0, aspect))
    [pane] = planned.scenes[0].panes
    assert (pane.width, pane.height) == window
    assert face_coverage(planned, frames) == 1.0


def test_screen_with_the_output_aspect_is_cropped() -> None:
    [scene] = plan(sampled(4, lambda _: [], screen=True), 4, source=CropSource(1920, 1080, 25.0, (16, 9))).scenes
    assert scene.fit is SceneFit.CROP


arbitrary_faces = st.builds(
    lambda x, y, height, score: Face(Box(x, y, min(height * 0.5, 1 - x), min(height, 1 - y)), score),
    st.floats(0, 0.9),
    st.floats(0, 0.9),
    st.floats(0.02, 0.9),
    st.floats(0.3, 1),
)
arbitrary_sources = st.builds(
    CropSource,
    st.integers(64, 2000),
    st.integers(64, 2000),
    st.sampled_from([10.0, 23.976, 25.0, 30000 / 1001, 60.0]),
    st.sampled_from([(9, 16), (1, 1), (16, 9)]),
)


def require_valid(planned: CropPlan, clip_seconds: float) -> None:
    assert max_speed(planned) <= MAX_SPEED
    assert reversals(planned) == 0
    assert planned.scenes[0].start_seconds == 0
    assert planned.scenes[-1].end_seconds == pytest.approx(clip_seconds)
    assert all(one.end_seconds == two.start_seconds for one, two in pairwise(planned.scenes))
    assert CropPlan.from_json(planned.to_json()) == planned  # also validates every window


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.lists(arbitrary_faces, max_size=3), st.floats(0, 1), st.booleans()), max_size=40),
    arbitrary_sources,
    st.lists(st.floats(-1, 12), max_size=4),
    st.lists(st.tuples(st.floats(0, 8), st.floats(0, 4), st.sampled_from("abc")), max_size=5),
)
def test_windows_are_always_inside_slow_and_without_reversals(
    drawn: list[tuple[list[Face], float, bool]],
    source: CropSource,
    cuts: list[float],
    spoken_spans: list[tuple[float, float, str]],
) -> None:
    frames = [
        FrameAnalysis(index / RATE, tuple(faces), saliency, screen)
        for index, (faces, saliency, screen) in enumerate(drawn)
    ]
    seconds = max(0.2, len(drawn) / RATE)
    turns = [(TimeSpan(start, start + length), label) for start, length, label in spoken_spans]
    require_valid(plan_crops(frames, source, cuts=cuts, clip_seconds=seconds, turns=turns), seconds)


@settings(max_examples=150, deadline=None)
@example(legs=[(1.5, -1.0), (1.0, 1.0), (1.0, 1.0)], start=0.5, height=0.5, fps=30.0)
@example(legs=[(2.0, -1.0), (1.0, 1.0), (1.0, 1.0)], start=0.5, height=0.5, fps=30.0)
@given(
    st.lists(st.tuples(st.floats(1.0, 4.0), st.floats(-1, 1)), min_size=1, max_size=12),
    st.floats(0.1, 0.9),
    st.floats(0.08, 0.5),
    st.sampled_from([24.0, 25.0, 30.0]),
)
def test_slow_face_never_leaves_the_window(
    legs: list[tuple[float, float]], start: float, height: float, fps: float
) -> None:
    source = CropSource(1920, 1080, fps, (9, 16))
    max_face_speed = 0.8 * MAX_SPEED * fps * source.window()[0] / source.width  # fractions of the frame per second
    corners = [(0.0, start)]
    for length, speed in legs:
        time, position = corners[-1]
        corners.append((time + length, min(max(position + speed * max_face_speed * length, 0.05), 0.95)))

    def position_at(time: float) -> float:
        for (since, one), (until, two) in pairwise(corners):
            if time <= until:
                return one + (two - one) * (time - since) / (until - since)
        return corners[-1][1]

    seconds = corners[-1][0]
    width = height * 0.45

    def frame_at(time: float) -> FrameAnalysis:
        center = min(max(position_at(time), width / 2), 1 - width / 2)
        return FrameAnalysis(time, (face(center, height=height),), 0.5, is_screen=False)

    samples = [frame_at(index / RATE) for index in range(int(seconds * RATE) + 1)]
    planned = plan_crops(samples, source, cuts=[], clip_seconds=seconds)
    require_valid(planned, seconds)
    assert face_coverage(planned, samples[:-1]) == 1.0
    # A face that turns between two samples may briefly be farther out than either of them.
    every_frame = [frame_at(index / fps) for index in range(int(seconds * fps))]
    missed = round((1 - face_coverage(planned, every_frame)) * len(every_frame))
    assert missed <= max(0.02 * len(every_frame), len(corners))
