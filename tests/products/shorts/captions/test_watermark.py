"""Tests for the watermark: its place, and that it can be read in a rendered frame."""

import numpy as np
import pytest

from cutroom.engines.types import TimeSpan
from cutroom.products.shorts.captions.safe_zones import FrameRegion, safe_zone_for
from cutroom.products.shorts.captions.watermark import TEXT, write_watermark
from cutroom.products.shorts.rules import OUTPUT_SIZES, AspectRatio
from tests.products.shorts.captions.scenes import MIN_DRAWN_LEVEL, background, render_captions
from tests.support.ocr import read_text

SPAN = TimeSpan(0.0, 10.0)


@pytest.mark.parametrize("aspect_ratio", AspectRatio)
async def test_watermark_is_legible_and_inside_its_box_in_the_safe_zone(aspect_ratio: AspectRatio) -> None:
    width, height = OUTPUT_SIZES[aspect_ratio]
    watermark = write_watermark(width, height, seconds=10.0)
    assert watermark.box.is_inside(safe_zone_for(width, height).safe)
    [image] = await render_captions([(watermark.ass, 5.0)], width=width, height=height)
    difference = abs(image.astype(np.int16) - background(width, height).astype(np.int16)).max(axis=-1)
    rows, columns = np.nonzero(difference > MIN_DRAWN_LEVEL)
    drawn = FrameRegion(
        columns.min() / width, rows.min() / height, (columns.max() + 1) / width, (rows.max() + 1) / height
    )
    assert drawn.is_inside(watermark.box)
    assert TEXT.replace(" ", "") in read_text(image).replace(" ", "")


def test_watermark_takes_the_corner_that_covers_captions_and_faces_least() -> None:
    safe = safe_zone_for(1080, 1920).safe
    top = FrameRegion(0.0, safe.top, 1.0, safe.top + 0.1)
    bottom_left = FrameRegion(0.0, 0.6, 0.5, 1.0)
    first = write_watermark(1080, 1920, seconds=10.0).box
    assert (first.left, first.top) == (safe.left, safe.top)
    below = write_watermark(1080, 1920, seconds=10.0, occupied=[(SPAN, top)]).box
    assert (below.left, below.bottom) == pytest.approx((safe.left, safe.bottom))
    right = write_watermark(1080, 1920, seconds=10.0, occupied=[(SPAN, top), (SPAN, bottom_left)]).box
    assert (right.right, right.bottom) == pytest.approx((safe.right, safe.bottom))
    brief = [(TimeSpan(0.0, 0.5), top), (SPAN, FrameRegion(0.0, 0.6, 1.0, 1.0))]
    assert write_watermark(1080, 1920, seconds=10.0, occupied=brief).box == first
