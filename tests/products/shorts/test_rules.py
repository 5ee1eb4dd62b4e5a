"""What a plan asks for, of a request as of a recipe."""

from typing import Any

import pytest

from cutroom.products.shorts.captions.looks import Look
from cutroom.products.shorts.rules import Aspect, Kind, parse_options


@pytest.mark.parametrize(
    ("plan", "count", "bounds"),
    [
        ({}, 3, (15, 180)),
        ({"kind": "shorts", "numClips": 7, "minDuration": 20, "maxDuration": 40}, 7, (20, 40)),
        ({"kind": "promo", "numClips": 7, "minDuration": 20}, 1, (45, 60)),
        ({"kind": "clips"}, 1, (300, 1500)),
        ({"kind": "clips", "numClips": 9, "maxDuration": 40}, 4, (300, 1500)),
        ({"kind": "clips", "numClips": -1}, 1, (300, 1500)),
    ],
)
def test_counts_and_bounds_follow_the_kind(plan: dict[str, Any], count: int, bounds: tuple[float, float]) -> None:
    wanted = parse_options(plan)
    assert (wanted.count, (wanted.min_seconds, wanted.max_seconds)) == (count, bounds)


def test_fields_of_another_kind_count_for_nothing() -> None:
    clips = parse_options({"kind": "clips", "aspectRatio": "9:16", "includeSoundtrack": True})
    assert (clips.aspect, clips.soundtrack) == (Aspect.LANDSCAPE, False)
    shorts = parse_options({"includeSoundtrack": True, "includeGeneratedThumbnail": True})
    assert (shorts.kind, shorts.soundtrack, shorts.generated_thumbnail) == (Kind.SHORTS, False, False)


def test_what_is_not_said_has_a_meaning() -> None:
    wanted = parse_options({"clipSelectionPrompt": "  "})
    assert (wanted.aspect, wanted.look, wanted.position.value, wanted.prompt) == (
        Aspect.PORTRAIT,
        Look.DEFAULT,
        "bottom",
        None,
    )
