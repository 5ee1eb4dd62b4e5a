"""The filters of a crop plan, as ffmpeg applies them: the wanted part of each frame, and every frame."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.media.crop_plan import CropPlan, Fit, Key, Pane, Scene
from cutroom.media.formats import Container
from cutroom.media.framing import MAX_PIECES, framing_filter
from cutroom.media.probe import reading
from cutroom.media.sandbox import INPUT, Limits, Sandbox, ffmpeg
from tests.media.conftest import Encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frames = NDArray[np.uint8]

WIDTH, HEIGHT = 320, 180
LIMITS = Limits(wall_seconds=60, cpu_seconds=60)
# Grey tells the column: 40 at the left and 200 at the right.
RAMP = "40+160*X/W"


@pytest.fixture(scope="session")
def ramp(encode: Encode) -> Path:
    """4 s of 25 frames whose grey rises from left to right and by one each frame from top to bottom of a strip."""
    return made(encode, "ramp.mkv", "25", "4")


def made(encode: Encode, name: str, rate: str, seconds: str) -> Path:
    """The left half of the top rows has the frame's number, as its grey."""
    source = f"color=s={WIDTH}x{HEIGHT}:r={rate}:d={seconds},format=yuv420p"
    grey = f"geq=lum='if(lt(Y,20),16+2*mod(N,100),{RAMP})':cb=128:cr=128"
    return encode(name, "-f", "lavfi", "-i", f"{source},{grey}", "-c:v", "ffv1", "-level", "3")


async def frames_of(path: Path, plan: CropPlan, width: int, height: int, *, output: Path) -> "Frames":
    """Grey planes of what comes out."""
    graph = framing_filter(plan, width=width, height=height)
    arguments = [*reading(Container.MATROSKA), "-filter_complex", graph, "-map", "[framed]"]
    arguments += ["-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-f", "rawvideo", "framed.yuv"]
    await ffmpeg(Sandbox(), arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    raw = np.frombuffer((output / "framed.yuv").read_bytes(), np.uint8).reshape(-1, width * height * 3 // 2)
    return raw[:, : width * height].reshape(-1, height, width)


def left_edge(row: "NDArray[np.uint8]", window: int) -> float:
    """Where a row of the ramp starts, in pixels of the source: by a line through its greys."""
    middle = float(row.mean())
    return (middle - 40) / 160 * WIDTH - (window - 1) / 2


def still(x: float, y: float = 0.0, *, at: float = 0.0, width: int = 100, height: int = HEIGHT) -> Pane:
    return Pane(width, height, (Key(at, x, y),))


def planned(*scenes: Scene, fps: float = 25.0) -> CropPlan:
    return CropPlan(WIDTH, HEIGHT, fps, scenes)


async def test_a_cut_is_exact_to_the_frame(ramp: Path, tmp_path: Path) -> None:
    cut = 37
    plan = planned(
        Scene(0.0, cut / 25, Fit.CROP, (still(20),)), Scene(cut / 25, 4.0, Fit.CROP, (still(200, at=cut / 25),))
    )
    frames = await frames_of(ramp, plan, 100, 180, output=tmp_path)
    assert len(frames) == 100
    edges = [left_edge(frame[100], 100) for frame in frames]
    assert edges[:cut] == pytest.approx([20] * cut, abs=1)
    assert edges[cut:] == pytest.approx([200] * (100 - cut), abs=1)
    assert numbers(frames) == list(range(100))


def numbers(frames: "Frames") -> list[int]:
    return [round((float(frame[2:8].mean()) - 16) / 2) for frame in frames]


async def test_a_moving_window_follows_its_way_within_a_pixel(ramp: Path, tmp_path: Path) -> None:
    path = (Key(0.5, 10.0, 0.0), Key(1.5, 110.0, 0.0), Key(2.0, 110.0, 0.0), Key(3.5, 37.0, 0.0))
    plan = planned(Scene(0.0, 4.0, Fit.CROP, (Pane(100, HEIGHT, path),)))
    frames = await frames_of(ramp, plan, 100, 180, output=tmp_path)
    edges = [left_edge(frame[100], 100) for frame in frames]
    wanted = [plan.scenes[0].panes[0].at(at / 25)[0] for at in range(100)]
    assert edges == pytest.approx(wanted, abs=1.0)
    assert numbers(frames) == list(range(100))


async def test_every_kind_of_scene_shows_its_own_frames(ramp: Path, tmp_path: Path) -> None:
    moving = Pane(100, HEIGHT, (Key(2.6, 50.0, 0.0), Key(3.6, 90.0, 0.0)))
    two = (still(10, 30, at=1.2, width=90, height=80), still(210, 30, at=1.2, width=90, height=80))
    plan = planned(
        Scene(0.0, 1.2, Fit.CROP, (still(60),)),
        Scene(1.2, 1.8, Fit.SPLIT, two),
        Scene(1.8, 2.6, Fit.WHOLE, (still(0, at=1.8, width=WIDTH),)),
        Scene(2.6, 4.0, Fit.CROP, (moving,)),
    )
    frames = await frames_of(ramp, plan, 90, 160, output=tmp_path)
    assert len(frames) == 100
    for at, frame in enumerate(frames):
        if at < 30:
            assert left_edge(frame[100], 100) == pytest.approx(60, abs=1)
        elif at < 45:
            assert left_edge(frame[40], 90) == pytest.approx(10, abs=1)
            assert left_edge(frame[120], 90) == pytest.approx(210, abs=1)
        elif at < 65:
            # 90x50 in the middle, and above and below it the ground, which is darker.
            assert left_edge(frame[90], WIDTH) == pytest.approx(0, abs=2)
            assert float(frame[20].mean()) < 0.75 * float(frame[90].mean())
        else:
            assert left_edge(frame[100], 100) == pytest.approx(moving.at(at / 25)[0], abs=1)


async def test_a_square_has_its_two_side_by_side(ramp: Path, tmp_path: Path) -> None:
    plan = planned(Scene(0.0, 4.0, Fit.SPLIT, (still(10, width=90), still(210, width=90))))
    frames = await frames_of(ramp, plan, 180, 180, output=tmp_path)
    assert left_edge(frames[50][100][:90], 90) == pytest.approx(10, abs=1)
    assert left_edge(frames[50][100][90:], 90) == pytest.approx(210, abs=1)


async def test_long_ways_and_many_scenes_are_exact_too(encode: Encode, tmp_path: Path) -> None:
    """At 30000/1001 frames a second, of which times are never round."""
    fps = 30000 / 1001
    path = made(encode, "film.mkv", "30000/1001", "8")
    keys = tuple(Key(at * 0.05, 40.0 + 30 * (at % 2), 0.0) for at in range(3 * MAX_PIECES // 2))
    busy = round(keys[-1].seconds * fps)
    scenes = [Scene(0.0, busy / fps, Fit.CROP, (Pane(100, HEIGHT, keys),))]
    bounds = [*range(busy, 220, 2), 240]
    for at, (start, end) in enumerate(pairwise(bounds)):
        pane = still(20 + at, at=start / fps, width=100 if at % 3 else 98)
        scenes.append(Scene(start / fps, end / fps, Fit.CROP, (pane,)))
    plan = planned(*scenes, fps=fps)
    frames = await frames_of(path, plan, 100, 180, output=tmp_path)
    assert len(frames) == 240
    for at, frame in enumerate(frames):
        pane = plan.scene_at(at / fps).panes[0]
        assert left_edge(frame[100], pane.width) == pytest.approx(pane.at(at / fps)[0], abs=1.2), at


async def test_frames_keep_their_times(ramp: Path, tmp_path: Path) -> None:
    plan = planned(
        Scene(0.0, 1.0, Fit.CROP, (still(20),)), Scene(1.0, 4.0, Fit.WHOLE, (still(0, at=1.0, width=WIDTH),))
    )
    graph = framing_filter(plan, width=90, height=160)
    arguments = [*reading(Container.MATROSKA), "-filter_complex", graph, "-map", "[framed]", "-f", "framecrc", "times"]
    await ffmpeg(Sandbox(), arguments, inputs={INPUT: ramp}, output=tmp_path, limits=LIMITS)
    lines = [line.split(",") for line in (tmp_path / "times").read_text().splitlines() if not line.startswith("#")]
    assert [int(line[1]) for line in lines] == list(range(100))


def test_odd_sizes_are_refused() -> None:
    plan = planned(Scene(0.0, 4.0, Fit.CROP, (still(20),)))
    with pytest.raises(ValueError, match="even"):
        framing_filter(plan, width=91, height=160)


def test_a_plan_is_written_and_read() -> None:
    plan = planned(Scene(0.0, 4.0, Fit.CROP, (Pane(100, HEIGHT, (Key(0.0, 1.5, 0.0), Key(2.0, 3.0, 0.0))),)))
    assert CropPlan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(Scene(0.0, 4.0, Fit.CROP, (still(20, width=101),)), id="odd"),
        pytest.param(Scene(0.0, 4.0, Fit.CROP, (still(221),)), id="outside"),
        pytest.param(Scene(0.0, 4.0, Fit.CROP, (still(-1),)), id="before the left edge"),
        pytest.param(Scene(0.0, 4.0, Fit.SPLIT, (still(20),)), id="one pane of two"),
        pytest.param(Scene(1.0, 4.0, Fit.CROP, (still(20),)), id="a late start"),
        pytest.param(Scene(0.0, 0.0, Fit.CROP, (still(20),)), id="no length"),
        pytest.param(Scene(0.0, 4.0, Fit.CROP, (Pane(100, HEIGHT, ()),)), id="no way"),
        pytest.param(Scene(0.0, 4.0, Fit.CROP, (still(float("nan")),)), id="no number"),
    ],
)
def test_what_cannot_be_shown_is_no_plan(scene: Scene) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        planned(scene)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version":2}', '{"version":1,"scenes":[{}]}', '{"version":1}'])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        CropPlan.from_json(text)


def test_another_version_is_refused() -> None:
    plan = planned(Scene(0.0, 4.0, Fit.CROP, (still(20),)))
    with pytest.raises(ValueError, match="version"):
        CropPlan.from_json(plan.to_json().replace('"version":1', '"version":9'))
    assert replace(plan, fps=30.0).fps == 30.0
