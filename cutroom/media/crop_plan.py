"""What of a film is shown when: the windows that are cut out of its pictures, and how they are written as JSON.

    {"version": 1, "source_width": 1920, "source_height": 1080, "fps": 25.0, "scenes": [
        {"start_seconds": 0.0, "end_seconds": 4.0, "fit": "crop", "panes": [
            {"width": 606, "height": 1080, "path": [[0.0, 300.0, 0.0], [4.0, 420.0, 0.0]]}]}]}

A key of a path is its time, and the left and top of the window then.
"""

import json
from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

VERSION = 1
MAX_SCENES = 10_000
MAX_KEYS = 100_000


class Fit(StrEnum):
    """How a scene fills the picture."""

    CROP = "crop"  # one window
    SPLIT = "split"  # two windows, above each other in an upright picture and else side by side
    WHOLE = "whole"  # all of the source, over a blurred ground


@dataclass(frozen=True, slots=True)
class Key:
    """Where the top left corner of a window is at a time from the film's start, in pixels of the source."""

    seconds: float
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Pane:
    """A window and its way: straight from key to key, and still before the first and after the last."""

    width: int
    height: int
    path: tuple[Key, ...]

    def at(self, seconds: float) -> tuple[float, float]:
        """The top left corner."""
        after = bisect_right(self.path, seconds, key=lambda key: key.seconds)
        if after == 0 or after == len(self.path):
            key = self.path[min(after, len(self.path) - 1)]
            return key.x, key.y
        one, two = self.path[after - 1], self.path[after]
        share = (seconds - one.seconds) / (two.seconds - one.seconds)
        return one.x + share * (two.x - one.x), one.y + share * (two.y - one.y)


@dataclass(frozen=True, slots=True)
class Scene:
    """A stretch that is shown in one way; windows jump only from scene to scene."""

    start_seconds: float
    end_seconds: float
    fit: Fit
    panes: tuple[Pane, ...]


@dataclass(frozen=True, slots=True)
class CropPlan:
    """Scenes that follow each other without a gap, each from the frame at its start on."""

    source_width: int
    source_height: int
    fps: float
    scenes: tuple[Scene, ...]

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise ValueError(problem)

    def scene_at(self, seconds: float) -> Scene:
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
                        "path": [[key.seconds, key.x, key.y] for key in pane.path],
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
        """A plan that was written by `to_json`; whatever is no plan raises ValueError."""
        try:
            told = json.loads(text)
            if told["version"] != VERSION:
                raise ValueError(f"There is no version {told['version']} of a plan.")
            scenes = tuple(_read_scene(each) for each in told["scenes"])
            size = int(told["source_width"]), int(told["source_height"]), float(told["fps"])
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"This is no plan: {error}") from error
        return cls(*size, scenes)


def _read_scene(told: dict[str, Any]) -> Scene:
    panes = tuple(
        Pane(int(each["width"]), int(each["height"]), tuple(Key(*map(float, key)) for key in each["path"]))
        for each in told["panes"]
    )
    return Scene(float(told["start_seconds"]), float(told["end_seconds"]), Fit(told["fit"]), panes)


def _problem(plan: CropPlan) -> str | None:
    """What ffmpeg would choke on, or show wrongly."""
    panes = [pane for scene in plan.scenes for pane in scene.panes]
    bounds = [plan.scenes[0].start_seconds, *(scene.end_seconds for scene in plan.scenes)] if plan.scenes else []
    starts = [scene.start_seconds for scene in plan.scenes]
    rules = {
        "A plan has a frame rate and scenes, and not too many.": plan.fps > 0 and 0 < len(plan.scenes) <= MAX_SCENES,
        "A source has at least two rows and columns.": min(plan.source_width, plan.source_height) >= 2,
        "A scene that is split has two panes, and others have one.": all(
            len(scene.panes) == (2 if scene.fit is Fit.SPLIT else 1) for scene in plan.scenes
        ),
        "Scenes follow each other from 0 on.": bounds[:1] == [0]
        and bounds[:-1] == starts
        and all(one < two for one, two in pairwise(bounds)),
        "A plan has too many keys.": sum(len(pane.path) for pane in panes) <= MAX_KEYS,
        "A window is even, inside the picture, and has a way.": all(_is_inside(pane, plan) for pane in panes),
    }
    return next((rule for rule, holds in rules.items() if not holds), None)


def _is_inside(pane: Pane, plan: CropPlan) -> bool:
    if pane.width % 2 or pane.height % 2 or min(pane.width, pane.height) < 2 or not pane.path:
        return False
    widest, highest = plan.source_width - pane.width, plan.source_height - pane.height
    times = [key.seconds for key in pane.path]
    in_order = all(one < two for one, two in pairwise(times))
    return in_order and all(0 <= key.x <= widest and 0 <= key.y <= highest for key in pane.path)
