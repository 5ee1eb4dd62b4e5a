"""Tests for ASS caption files: timing, positions and escaping."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pysubs2
import pytest

from cutroom.engines.recognition.port import Word
from cutroom.engines.types import TimeSpan
from cutroom.products.shorts.captions.ass import CaptionTrack, rounded_box, spoken_spans, write_captions
from cutroom.products.shorts.captions.layout import reads_right_to_left
from cutroom.products.shorts.captions.safe_zones import CaptionPosition, FrameRegion, safe_zone_for
from cutroom.products.shorts.captions.screens import CaptionScreen, group_into_screens
from cutroom.products.shorts.captions.styles import CaptionStyle
from tests.products.shorts.captions.scenes import (
    PORTRAIT,
    SCENES,
    CaptionScene,
    background,
    caption_track,
    evenly_spoken,
    render_captions,
    render_scenes,
)

if TYPE_CHECKING:
    from tests.products.shorts.captions.scenes import Image

HOSTILE = [r"{\fs200}", r"{\an8\pos(0,0)}", r"\N\N\N\N", "{", r"{\p1}m0,0l900,0", "}{", r"\{\fs300\}"]


def captions(
    words: list[Word], caption_style: CaptionStyle = CaptionStyle.DEFAULT, language: str = "en"
) -> CaptionTrack:
    screens = group_into_screens(words, caption_style=caption_style, language=language, **PORTRAIT)
    return write_captions(
        screens, caption_style=caption_style, position=CaptionPosition.BOTTOM, language=language, **PORTRAIT
    )


def visible(track: CaptionTrack, layers: tuple[int, ...] = (3, 4)) -> list[tuple[int, int, str]]:
    events = pysubs2.SSAFile.from_string(track.ass).events
    return [(event.start, event.end, event.plaintext) for event in events if event.layer in layers]


def event_texts(track: CaptionTrack) -> list[str]:
    """Event texts after our own tags."""
    return re.findall(r"^Dialogue: 3,.*?}(.*)$", track.ass, re.MULTILINE)


def test_no_style_is_named_default() -> None:
    for caption_style in CaptionStyle:
        names = re.findall(r"^Style: ([^,]+),", captions(evenly_spoken("so it is"), caption_style).ass, re.MULTILINE)
        assert names
        assert all(name.lower() != "default" for name in names)


def test_words_have_the_times_of_their_screen() -> None:
    track = captions([Word("so", 0.504, 0.9, 1.0), Word("it", 0.9, 1.2361, 1.0)])
    assert visible(track) == [(500, 1540, "SO"), (500, 1540, "IT")]


def test_highlight_moves_when_the_next_word_starts() -> None:
    track = captions(
        [Word("so", 0.5, 0.9, 1.0), Word("it", 0.95, 1.2, 1.0), Word("is", 1.6, 1.9, 1.0)], CaptionStyle.MODERN
    )
    current = visible(track, (4,))
    assert current == [(500, 950, "SO"), (950, 1200, "IT"), (1600, 2200, "IS")]
    resting = visible(track, (3,))
    assert [each for each in resting if each[2] == "IT"] == [(500, 950, "IT"), (1200, 2200, "IT")]


def test_sweep_is_timed_to_its_word() -> None:
    track = captions([Word("so", 0.5, 0.9, 1.0), Word("it", 1.0, 1.25, 1.0)], CaptionStyle.KARAOKE)
    assert re.findall(r"\\k(\d+)\\kf(\d+)", track.ass) == [("0", "40"), ("50", "25")]


def test_right_to_left_words_fill_at_once() -> None:
    track = captions(evenly_spoken("هذه هي"), CaptionStyle.KARAOKE, "ar")
    assert re.findall(r"\\k(\d+)\\k(f?)(\d+)", track.ass) == [("0", "", "30"), ("30", "", "30")]


def test_last_word_is_highlighted_until_the_screen_ends() -> None:
    words = (Word("a", 0.0, 0.2, 1.0), Word("b", 0.6, 0.8, 1.0))
    screen = CaptionScreen((words,), 0.0, 1.1)
    assert list(spoken_spans(screen)) == [TimeSpan(0.0, 0.2), TimeSpan(0.6, 1.1)]


def test_opposite_direction_words_keep_their_order() -> None:
    track = captions(evenly_spoken("شاهد TV HD الآن"), CaptionStyle.SUBTLE, "ar")
    positions = {text: float(x) for x, text in re.findall(r"\\pos\(([\d.]+),.*}(\S+)$", track.ass, re.MULTILINE)}
    assert sorted(positions, key=lambda text: positions[text]) == ["الآن", "TV", "HD", "شاهد"]


@pytest.mark.parametrize(
    ("texts", "language", "expected"),
    [(["abc"], "ar", True), (["שלום", "abc"], "en", True), (["abc", "שלום"], "en", False), (["12"], "en", False)],
)
def test_line_direction(texts: list[str], language: str, *, expected: bool) -> None:
    assert reads_right_to_left(texts, language=language) is expected


def test_empty_captions_have_no_events() -> None:
    track = write_captions(
        [], caption_style=CaptionStyle.DEFAULT, position=CaptionPosition.TOP, language="en", **PORTRAIT
    )
    assert track.boxes == ()
    assert "Dialogue" not in track.ass


def test_captions_avoid_faces_and_stay_until_a_pause() -> None:
    words = [
        *evenly_spoken("One here."),
        *evenly_spoken("Two here.", start_seconds=0.7),
        *evenly_spoken("Three here.", start_seconds=4.0),
    ]
    screens = group_into_screens(words, caption_style=CaptionStyle.DEFAULT, language="en", **PORTRAIT)
    face = FrameRegion(0.3, 0.6, 0.7, 0.8)
    track = write_captions(
        screens,
        caption_style=CaptionStyle.DEFAULT,
        position=CaptionPosition.BOTTOM,
        language="en",
        faces=[(TimeSpan(0.0, 0.5), face)],
        **PORTRAIT,
    )
    first, second, third = (box for _, box in track.boxes)
    assert first.common_area(face) == 0
    assert second.bottom == pytest.approx(first.bottom)
    assert third.bottom == pytest.approx(safe_zone_for(1080, 1920).safe.bottom)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_boxes_are_inside_the_safe_zone(scene: CaptionScene) -> None:
    zone = safe_zone_for(scene.width, scene.height)
    assert all(box.is_inside(zone.safe) for _, box in caption_track(scene).boxes)


async def test_hostile_text_is_rendered_literally() -> None:
    """Rendered next to a plain word, within the reported box."""
    tracks = [captions([Word(text, 0.0, 0.5, 1.0), Word("Hg", 0.5, 1.0, 1.0)], CaptionStyle.SUBTLE) for text in HOSTILE]
    images = await render_captions([(track.ass, 0.2) for track in tracks], **PORTRAIT)
    for text, track, image in zip(HOSTILE, tracks, images, strict=True):
        assert_drawn_inside(track, image)
        assert text in [
            shown.replace("\u2060", "").replace(r"\{", "{").replace(r"\}", "}") for shown in event_texts(track)
        ]


async def test_unescaped_text_would_be_detected() -> None:
    track = captions([Word("BIG", 0.0, 0.5, 1.0)], CaptionStyle.SUBTLE)
    broken = replace(track, ass=track.ass.replace("}BIG", r"}{\fs200}BIG"))
    (image,) = await render_captions([(broken.ass, 0.2)], **PORTRAIT)
    with pytest.raises(AssertionError):
        assert_drawn_inside(broken, image)


async def test_rendered_text_fills_its_reported_box() -> None:
    names = ("subtle-top", "default-middle", "highlight-middle", "thai-default", "arabic-highlight", "japanese-impact")
    scenes = [scene for scene in SCENES if scene.name in names]
    images = await render_scenes(scenes)
    for scene in scenes:
        assert_fills_box(scene, images[scene.name])


def assert_fills_box(scene: CaptionScene, image: "Image") -> None:
    track = caption_track(scene)
    box = next(box for span, box in track.boxes if span.start_seconds <= scene.seconds < span.end_seconds)
    # Soft shadows exceed the box; pixels that differ strongly from the background do not.
    drawn = np.argwhere(abs(image.astype(int) - background(scene.width, scene.height)).max(axis=-1) > 110)
    top, left = drawn.min(axis=0)
    bottom, right = drawn.max(axis=0)
    drawn_region = FrameRegion(
        left / scene.width, top / scene.height, (right + 1) / scene.width, (bottom + 1) / scene.height
    )
    assert drawn_region.is_inside(box, tolerance=0.004)
    assert drawn_region.height > 0.6 * box.height


def assert_drawn_inside(track: CaptionTrack, image: "Image") -> None:
    width, height = PORTRAIT["width"], PORTRAIT["height"]
    drawn = np.argwhere(abs(image.astype(int) - background(width, height)).max(axis=-1) > 40)
    (_, box) = track.boxes[0]
    assert box.height * height < 200  # two lines and their box
    assert drawn[:, 0].min() >= box.top * height - 3
    assert drawn[:, 0].max() <= box.bottom * height + 3
    assert drawn[:, 1].min() >= box.left * width - 3
    assert drawn[:, 1].max() <= box.right * width + 3


def test_rounded_box_is_closed() -> None:
    shape = rounded_box(100, 40, radius=50)  # the radius is limited to half the height
    assert shape.startswith("m 20 0 l 80 0 b ")
    assert shape.endswith("20 0")
