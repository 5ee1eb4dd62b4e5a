"""Tests for parsing shorts options."""

from typing import Any

import pytest

from cutroom.products.shorts.captions.styles import CaptionStyle
from cutroom.products.shorts.rules import AspectRatio, ShortsKind, parse_options


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
def test_count_and_bounds_depend_on_the_kind(plan: dict[str, Any], count: int, bounds: tuple[float, float]) -> None:
    options = parse_options(plan)
    assert (options.count, (options.min_seconds, options.max_seconds)) == (count, bounds)


def test_fields_of_other_kinds_are_ignored() -> None:
    clips = parse_options({"kind": "clips", "aspectRatio": "9:16", "includeSoundtrack": True})
    assert (clips.aspect_ratio, clips.soundtrack) == (AspectRatio.LANDSCAPE, False)
    shorts = parse_options({"includeSoundtrack": True, "includeGeneratedThumbnail": True})
    assert (shorts.kind, shorts.soundtrack, shorts.generated_thumbnail) == (ShortsKind.SHORTS, False, False)


def test_defaults() -> None:
    options = parse_options({"clipSelectionPrompt": "  "})
    assert (options.aspect_ratio, options.caption_style, options.caption_position.value, options.prompt) == (
        AspectRatio.PORTRAIT,
        CaptionStyle.DEFAULT,
        "bottom",
        None,
    )
