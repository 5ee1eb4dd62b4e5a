"""Tests for crop plans and their ffmpeg filters: window positions, and frame-exact timing."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, Keyframe, SceneFit
from cutroom.media.formats import Container
from cutroom.media.framing import MAX_SEGMENTS, framing_filter
from cutroom.media.probe import input_options
from cutroom.media.sandbox import INPUT, Sandbox, SandboxLimits, ffmpeg
from tests.media.conftest import EncodeFixture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frames = NDArray[np.uint8]

WIDTH, HEIGHT = 320, 180
LIMITS = SandboxLimits(wall_seconds=60, cpu_seconds=60)
# The gray value encodes the column: 40 at the left and 200 at the right.
RAMP = "40+160*X/W"


@pytest.fixture(scope="session")
def ramp(encode: EncodeFixture) -> Path:
    """4 s at 25 fps: a horizontal gray ramp, with the frame number encoded in the top rows."""
    return encode_ramp(encode, "ramp.mkv", "25", "4")


def encode_ramp(encode: EncodeFixture, name: str, rate: str, seconds: str) -> Path:
    """Encodes the frame number as the gray value of the top rows."""
    source = f"color=s={WIDTH}x{HEIGHT}:r={rate}:d={seconds},format=yuv420p"
    gray = f"geq=lum='if(lt(Y,20),16+2*mod(N,100),{RAMP})':cb=128:cr=128"
    return encode(name, "-f", "lavfi", "-i", f"{source},{gray}", "-c:v", "ffv1", "-level", "3")


async def frames_of(path: Path, plan: CropPlan, width: int, height: int, *, output: Path) -> "Frames":
    """Luma planes of the filter output."""
    graph = framing_filter(plan, width=width, height=height)
    arguments = [*input_options(Container.MATROSKA), "-filter_complex", graph, "-map", "[framed]"]
    arguments += ["-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-f", "rawvideo", "framed.yuv"]
    await ffmpeg(Sandbox(), arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    raw = np.frombuffer((output / "framed.yuv").read_bytes(), np.uint8).reshape(-1, width * height * 3 // 2)
    return raw[:, : width * height].reshape(-1, height, width)


def left_edge(row: "NDArray[np.uint8]", window: int) -> float:
    """Source column at which a row of the ramp starts, estimated from its mean gray value."""
    middle = float(row.mean())
    return (middle - 40) / 160 * WIDTH - (window - 1) / 2


def still(x: float, y: float = 0.0, *, at: float = 0.0, width: int = 100, height: int = HEIGHT) -> CropPane:
    return CropPane(width, height, (Keyframe(at, x, y),))


def planned(*scenes: CropScene, fps: float = 25.0) -> CropPlan:
    return CropPlan(WIDTH, HEIGHT, fps, scenes)


async def test_cut_is_frame_exact(ramp: Path, tmp_path: Path) -> None:
    cut = 37
    plan = planned(
        CropScene(0.0, cut / 25, SceneFit.CROP, (still(20),)),
        CropScene(cut / 25, 4.0, SceneFit.CROP, (still(200, at=cut / 25),)),
    )
    frames = await frames_of(ramp, plan, 100, 180, output=tmp_path)
    assert len(frames) == 100
    edges = [left_edge(frame[100], 100) for frame in frames]
    assert edges[:cut] == pytest.approx([20] * cut, abs=1)
    assert edges[cut:] == pytest.approx([200] * (100 - cut), abs=1)
    assert numbers(frames) == list(range(100))


def numbers(frames: "Frames") -> list[int]:
    return [round((float(frame[2:8].mean()) - 16) / 2) for frame in frames]


async def test_moving_window_follows_its_path_within_a_pixel(ramp: Path, tmp_path: Path) -> None:
    path = (Keyframe(0.5, 10.0, 0.0), Keyframe(1.5, 110.0, 0.0), Keyframe(2.0, 110.0, 0.0), Keyframe(3.5, 37.0, 0.0))
    plan = planned(CropScene(0.0, 4.0, SceneFit.CROP, (CropPane(100, HEIGHT, path),)))
    frames = await frames_of(ramp, plan, 100, 180, output=tmp_path)
    edges = [left_edge(frame[100], 100) for frame in frames]
    expected = [plan.scenes[0].panes[0].at(at / 25)[0] for at in range(100)]
    assert edges == pytest.approx(expected, abs=1.0)
    assert numbers(frames) == list(range(100))


async def test_mixed_layouts_keep_every_frame(ramp: Path, tmp_path: Path) -> None:
    moving = CropPane(100, HEIGHT, (Keyframe(2.6, 50.0, 0.0), Keyframe(3.6, 90.0, 0.0)))
    two = (still(10, 30, at=1.2, width=90, height=80), still(210, 30, at=1.2, width=90, height=80))
    plan = planned(
        CropScene(0.0, 1.2, SceneFit.CROP, (still(60),)),
        CropScene(1.2, 1.8, SceneFit.SPLIT, two),
        CropScene(1.8, 2.6, SceneFit.CONTAIN, (still(0, at=1.8, width=WIDTH),)),
        CropScene(2.6, 4.0, SceneFit.CROP, (moving,)),
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
            # 90x50 in the middle; the background above and below is darker.
            assert left_edge(frame[90], WIDTH) == pytest.approx(0, abs=2)
            assert float(frame[20].mean()) < 0.75 * float(frame[90].mean())
        else:
            assert left_edge(frame[100], 100) == pytest.approx(moving.at(at / 25)[0], abs=1)


async def test_square_split_is_side_by_side(ramp: Path, tmp_path: Path) -> None:
    plan = planned(CropScene(0.0, 4.0, SceneFit.SPLIT, (still(10, width=90), still(210, width=90))))
    frames = await frames_of(ramp, plan, 180, 180, output=tmp_path)
    assert left_edge(frames[50][100][:90], 90) == pytest.approx(10, abs=1)
    assert left_edge(frames[50][100][90:], 90) == pytest.approx(210, abs=1)


async def test_long_paths_and_many_scenes_are_frame_exact(encode: EncodeFixture, tmp_path: Path) -> None:
    """At 30000/1001 fps, where frame times are never round."""
    fps = 30000 / 1001
    path = encode_ramp(encode, "sample_video.mkv", "30000/1001", "8")
    keys = tuple(Keyframe(at * 0.05, 40.0 + 30 * (at % 2), 0.0) for at in range(3 * MAX_SEGMENTS // 2))
    busy = round(keys[-1].seconds * fps)
    scenes = [CropScene(0.0, busy / fps, SceneFit.CROP, (CropPane(100, HEIGHT, keys),))]
    bounds = [*range(busy, 220, 2), 240]
    for at, (start, end) in enumerate(pairwise(bounds)):
        pane = still(20 + at, at=start / fps, width=100 if at % 3 else 98)
        scenes.append(CropScene(start / fps, end / fps, SceneFit.CROP, (pane,)))
    plan = planned(*scenes, fps=fps)
    frames = await frames_of(path, plan, 100, 180, output=tmp_path)
    assert len(frames) == 240
    for at, frame in enumerate(frames):
        pane = plan.scene_at(at / fps).panes[0]
        assert left_edge(frame[100], pane.width) == pytest.approx(pane.at(at / fps)[0], abs=1.2), at


async def test_frames_keep_their_timestamps(ramp: Path, tmp_path: Path) -> None:
    plan = planned(
        CropScene(0.0, 1.0, SceneFit.CROP, (still(20),)),
        CropScene(1.0, 4.0, SceneFit.CONTAIN, (still(0, at=1.0, width=WIDTH),)),
    )
    graph = framing_filter(plan, width=90, height=160)
    arguments = [
        *input_options(Container.MATROSKA),
        "-filter_complex",
        graph,
        "-map",
        "[framed]",
        "-f",
        "framecrc",
        "times",
    ]
    await ffmpeg(Sandbox(), arguments, inputs={INPUT: ramp}, output=tmp_path, limits=LIMITS)
    lines = [line.split(",") for line in (tmp_path / "times").read_text().splitlines() if not line.startswith("#")]
    assert [int(line[1]) for line in lines] == list(range(100))


def test_odd_output_size_is_rejected() -> None:
    plan = planned(CropScene(0.0, 4.0, SceneFit.CROP, (still(20),)))
    with pytest.raises(ValueError, match="even"):
        framing_filter(plan, width=91, height=160)


def test_plan_json_round_trip() -> None:
    plan = planned(
        CropScene(0.0, 4.0, SceneFit.CROP, (CropPane(100, HEIGHT, (Keyframe(0.0, 1.5, 0.0), Keyframe(2.0, 3.0, 0.0))),))
    )
    assert CropPlan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(CropScene(0.0, 4.0, SceneFit.CROP, (still(20, width=101),)), id="odd"),
        pytest.param(CropScene(0.0, 4.0, SceneFit.CROP, (still(221),)), id="outside"),
        pytest.param(CropScene(0.0, 4.0, SceneFit.CROP, (still(-1),)), id="before the left edge"),
        pytest.param(CropScene(0.0, 4.0, SceneFit.SPLIT, (still(20),)), id="one pane of two"),
        pytest.param(CropScene(1.0, 4.0, SceneFit.CROP, (still(20),)), id="a late start"),
        pytest.param(CropScene(0.0, 0.0, SceneFit.CROP, (still(20),)), id="no length"),
        pytest.param(CropScene(0.0, 4.0, SceneFit.CROP, (CropPane(100, HEIGHT, ()),)), id="no keyframes"),
        pytest.param(CropScene(0.0, 4.0, SceneFit.CROP, (still(float("nan")),)), id="not a number"),
    ],
)
def test_invalid_scene_is_rejected(scene: CropScene) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        planned(scene)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version":2}', '{"version":1,"scenes":[{}]}', '{"version":1}'])
def test_invalid_json_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        CropPlan.from_json(text)


def test_unknown_version_is_rejected() -> None:
    plan = planned(CropScene(0.0, 4.0, SceneFit.CROP, (still(20),)))
    with pytest.raises(ValueError, match="version"):
        CropPlan.from_json(plan.to_json().replace('"version":1', '"version":9'))
    assert replace(plan, fps=30.0).fps == 30.0
