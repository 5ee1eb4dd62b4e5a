"""Crop plans: which regions of a video's frames are shown when, and their JSON format.

    {"version": 1, "source_width": 1920, "source_height": 1080, "fps": 25.0, "scenes": [
        {"start_seconds": 0.0, "end_seconds": 4.0, "fit": "crop", "panes": [
            {"width": 606, "height": 1080, "path": [[0.0, 300.0, 0.0], [4.0, 420.0, 0.0]]}]}]}

Each path entry is a keyframe: time, left and top of the crop window.
"""

import json
from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

VERSION = 1
MAX_SCENES = 10_000
MAX_KEYFRAMES = 100_000


class SceneFit(StrEnum):
    """How a scene fills the output frame."""

    CROP = "crop"  # one window
    SPLIT = "split"  # two windows, stacked in portrait output and side by side otherwise
    CONTAIN = "contain"  # the whole frame over a blurred background


@dataclass(frozen=True, slots=True)
class Keyframe:
    """Top left corner of a crop window at a time from the start of the video, in source pixels."""

    seconds: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class CropPane:
    """A crop window moving along linear keyframes; constant before the first and after the last."""

    width: int
    height: int
    path: tuple[Keyframe, ...]

    def at(self, seconds: float) -> tuple[float, float]:
        """The top left corner."""
        after = bisect_right(self.path, seconds, key=lambda keyframe: keyframe.seconds)
        if after == 0 or after == len(self.path):
            keyframe = self.path[min(after, len(self.path) - 1)]
            return keyframe.x, keyframe.y
        one, two = self.path[after - 1], self.path[after]
        fraction = (seconds - one.seconds) / (two.seconds - one.seconds)
        return one.x + fraction * (two.x - one.x), one.y + fraction * (two.y - one.y)


@dataclass(frozen=True, slots=True)
class CropScene:
    """A time range with one layout; windows jump only between scenes."""

    start_seconds: float
    end_seconds: float
    fit: SceneFit
    panes: tuple[CropPane, ...]


@dataclass(frozen=True, slots=True)
class CropPlan:
    """Contiguous scenes; each starts with the frame at its start time."""

    source_width: int
    source_height: int
    fps: float
    scenes: tuple[CropScene, ...]

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise ValueError(problem)

    def scene_at(self, seconds: float) -> CropScene:
        after = bisect_right(self.scenes, seconds + 0.5 / self.fps, key=lambda scene: scene.start_seconds)
        return self.scenes[max(0, after - 1)]

    def to_json(self) -> str:
        scenes = [
            {
                "start_seconds": scene.start_seconds,
                "end_seconds": scene.end_seconds,
                "fit": scene.fit.value,
                "panes": [
                    {
                        "width": pane.width,
                        "height": pane.height,
                        "path": [[keyframe.seconds, keyframe.x, keyframe.y] for keyframe in pane.path],
                    }
                    for pane in scene.panes
                ],
            }
            for scene in self.scenes
        ]
        size = {"source_width": self.source_width, "source_height": self.source_height, "fps": self.fps}
        return json.dumps({"version": VERSION, **size, "scenes": scenes}, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "CropPlan":
        """Parses the output of `to_json`; raises ValueError for anything else."""
        try:
            data = json.loads(text)
            if data["version"] != VERSION:
                raise ValueError(f"Unknown crop plan version {data['version']}.")
            scenes = tuple(_read_scene(each) for each in data["scenes"])
            size = int(data["source_width"]), int(data["source_height"]), float(data["fps"])
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"Invalid crop plan: {error}") from error
        return cls(*size, scenes)


def _read_scene(data: dict[str, Any]) -> CropScene:
    panes = tuple(
        CropPane(
            int(each["width"]), int(each["height"]), tuple(Keyframe(*map(float, keyframe)) for keyframe in each["path"])
        )
        for each in data["panes"]
    )
    return CropScene(float(data["start_seconds"]), float(data["end_seconds"]), SceneFit(data["fit"]), panes)


def _problem(plan: CropPlan) -> str | None:
    """The first violated invariant; ffmpeg would fail on it or render wrongly."""
    panes = [pane for scene in plan.scenes for pane in scene.panes]
    bounds = [plan.scenes[0].start_seconds, *(scene.end_seconds for scene in plan.scenes)] if plan.scenes else []
    starts = [scene.start_seconds for scene in plan.scenes]
    rules = {
        "The frame rate must be positive, and the number of scenes within bounds.": plan.fps > 0
        and 0 < len(plan.scenes) <= MAX_SCENES,
        "The source must have at least 2 x 2 pixels.": min(plan.source_width, plan.source_height) >= 2,
        "A split scene must have two panes, and any other scene one.": all(
            len(scene.panes) == (2 if scene.fit is SceneFit.SPLIT else 1) for scene in plan.scenes
        ),
        "Scenes must be contiguous and start at 0.": bounds[:1] == [0]
        and bounds[:-1] == starts
        and all(one < two for one, two in pairwise(bounds)),
        "The plan has too many keyframes.": sum(len(pane.path) for pane in panes) <= MAX_KEYFRAMES,
        "A window must have even sides and keyframes, and lie within the frame.": all(
            _is_inside(pane, plan) for pane in panes
        ),
    }
    return next((rule for rule, holds in rules.items() if not holds), None)


def _is_inside(pane: CropPane, plan: CropPlan) -> bool:
    if pane.width % 2 or pane.height % 2 or min(pane.width, pane.height) < 2 or not pane.path:
        return False
    widest, highest = plan.source_width - pane.width, plan.source_height - pane.height
    times = [keyframe.seconds for keyframe in pane.path]
    in_order = all(one < two for one, two in pairwise(times))
    return in_order and all(0 <= keyframe.x <= widest and 0 <= keyframe.y <= highest for keyframe in pane.path)
