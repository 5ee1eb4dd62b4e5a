"""Caption files say what was said, when it was said, where they tell that they do."""

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
from cutroom.products.shorts.captions.lines import Screen, group_words
from cutroom.products.shorts.captions.looks import Look
from cutroom.products.shorts.captions.zones import Area, Position, zone_for
from tests.products.shorts.captions.scenes import PORTRAIT, SCENES, Scene, background, draw, see, spoken, track_of

if TYPE_CHECKING:
    from tests.products.shorts.captions.scenes import Picture

HOSTILE = [r"{\fs200}", r"{\an8\pos(0,0)}", r"\N\N\N\N", "{", r"{\p1}m0,0l900,0", "}{", r"\{\fs300\}"]


def captions(words: list[Word], look: Look = Look.DEFAULT, language: str = "en") -> CaptionTrack:
    screens = group_words(words, look=look, language=language, **PORTRAIT)
    return write_captions(screens, look=look, position=Position.BOTTOM, language=language, **PORTRAIT)


def visible(track: CaptionTrack, layers: tuple[int, ...] = (3, 4)) -> list[tuple[int, int, str]]:
    events = pysubs2.SSAFile.from_string(track.ass).events
    return [(event.start, event.end, event.plaintext) for event in events if event.layer in layers]


def written(track: CaptionTrack) -> list[str]:
    """What follows our own tags, as it stands in the file."""
    return re.findall(r"^Dialogue: 3,.*?}(.*)$", track.ass, re.MULTILINE)


def test_no_style_is_called_default() -> None:
    for look in Look:
        names = re.findall(r"^Style: ([^,]+),", captions(spoken("so it is"), look).ass, re.MULTILINE)
        assert names
        assert all(name.lower() != "default" for name in names)


def test_words_are_shown_with_their_screen_in_centiseconds() -> None:
    track = captions([Word("so", 0.504, 0.9, 1.0), Word("it", 0.9, 1.2361, 1.0)])
    assert visible(track) == [(500, 1540, "SO"), (500, 1540, "IT")]


def test_the_current_word_changes_exactly_when_the_next_begins() -> None:
    track = captions([Word("so", 0.5, 0.9, 1.0), Word("it", 0.95, 1.2, 1.0), Word("is", 1.6, 1.9, 1.0)], Look.MODERN)
    current = visible(track, (4,))
    assert current == [(500, 950, "SO"), (950, 1200, "IT"), (1600, 2200, "IS")]
    resting = visible(track, (3,))
    assert [each for each in resting if each[2] == "IT"] == [(500, 950, "IT"), (1200, 2200, "IT")]


def test_a_sweep_waits_for_its_word_and_lasts_as_long() -> None:
    track = captions([Word("so", 0.5, 0.9, 1.0), Word("it", 1.0, 1.25, 1.0)], Look.KARAOKE)
    assert re.findall(r"\\k(\d+)\\kf(\d+)", track.ass) == [("0", "40"), ("50", "25")]


def test_words_from_right_to_left_fill_at_once() -> None:
    track = captions(spoken("هذه هي"), Look.KARAOKE, "ar")
    assert re.findall(r"\\k(\d+)\\k(f?)(\d+)", track.ass) == [("0", "", "30"), ("30", "", "30")]


def test_the_last_word_stands_out_until_its_screen_goes() -> None:
    words = (Word("a", 0.0, 0.2, 1.0), Word("b", 0.6, 0.8, 1.0))
    screen = Screen((words,), 0.0, 1.1)
    assert list(spoken_spans(screen)) == [TimeSpan(0.0, 0.2), TimeSpan(0.6, 1.1)]


def test_words_against_the_direction_of_a_line_keep_their_own_order() -> None:
    track = captions(spoken("شاهد TV HD الآن"), Look.SUBTLE, "ar")
    places = {text: float(x) for x, text in re.findall(r"\\pos\(([\d.]+),.*}(\S+)$", track.ass, re.MULTILINE)}
    assert sorted(places, key=lambda text: places[text]) == ["الآن", "TV", "HD", "شاهد"]


@pytest.mark.parametrize(
    ("texts", "language", "expected"),
    [(["abc"], "ar", True), (["שלום", "abc"], "en", True), (["abc", "שלום"], "en", False), (["12"], "en", False)],
)
def test_the_direction_of_a_line(texts: list[str], language: str, *, expected: bool) -> None:
    assert reads_right_to_left(texts, language=language) is expected


def test_no_words_give_a_file_without_events() -> None:
    track = write_captions([], look=Look.DEFAULT, position=Position.TOP, language="en", **PORTRAIT)
    assert track.boxes == ()
    assert "Dialogue" not in track.ass


def test_captions_keep_off_a_face_while_it_is_seen_and_stay_until_a_pause() -> None:
    words = [*spoken("One here."), *spoken("Two here.", start_seconds=0.7), *spoken("Three here.", start_seconds=4.0)]
    screens = group_words(words, look=Look.DEFAULT, language="en", **PORTRAIT)
    face = Area(0.3, 0.6, 0.7, 0.8)
    track = write_captions(
        screens,
        look=Look.DEFAULT,
        position=Position.BOTTOM,
        language="en",
        faces=[(TimeSpan(0.0, 0.5), face)],
        **PORTRAIT,
    )
    first, second, third = (box for _, box in track.boxes)
    assert first.common_area(face) == 0
    assert second.bottom == pytest.approx(first.bottom)
    assert third.bottom == pytest.approx(zone_for(1080, 1920).safe.bottom)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_every_box_is_inside_the_safe_zone(scene: Scene) -> None:
    zone = zone_for(scene.width, scene.height)
    assert all(box.is_inside(zone.safe) for _, box in track_of(scene).boxes)


async def test_hostile_text_is_drawn_as_text() -> None:
    """Beside a plain word: no higher and no lower than letters and braces are, and inside the box that is told."""
    tracks = [captions([Word(text, 0.0, 0.5, 1.0), Word("Hg", 0.5, 1.0, 1.0)], Look.SUBTLE) for text in HOSTILE]
    pictures = await draw([(track.ass, 0.2) for track in tracks], **PORTRAIT)
    for text, track, picture in zip(HOSTILE, tracks, pictures, strict=True):
        assert_drawn_inside(track, picture)
        assert text in [shown.replace("\u2060", "").replace(r"\{", "{").replace(r"\}", "}") for shown in written(track)]


async def test_text_that_is_not_escaped_would_be_found_out() -> None:
    track = captions([Word("BIG", 0.0, 0.5, 1.0)], Look.SUBTLE)
    broken = replace(track, ass=track.ass.replace("}BIG", r"}{\fs200}BIG"))
    (picture,) = await draw([(broken.ass, 0.2)], **PORTRAIT)
    with pytest.raises(AssertionError):
        assert_drawn_inside(broken, picture)


async def test_what_is_drawn_lies_in_the_box_that_is_told() -> None:
    names = ("subtle-top", "default-middle", "highlight-middle", "thai-default", "arabic-highlight", "japanese-impact")
    scenes = [scene for scene in SCENES if scene.name in names]
    pictures = await see(scenes)
    for scene in scenes:
        assert_fills_box(scene, pictures[scene.name])


def assert_fills_box(scene: Scene, picture: "Picture") -> None:
    track = track_of(scene)
    box = next(box for span, box in track.boxes if span.start_seconds <= scene.seconds < span.end_seconds)
    # Soft shadows reach beyond; what is much brighter than the background, or a plate, does not.
    drawn = np.argwhere(abs(picture.astype(int) - background(scene.width, scene.height)).max(axis=-1) > 110)
    top, left = drawn.min(axis=0)
    bottom, right = drawn.max(axis=0)
    seen = Area(left / scene.width, top / scene.height, (right + 1) / scene.width, (bottom + 1) / scene.height)
    assert seen.is_inside(box, tolerance=0.004)
    assert seen.height > 0.6 * box.height


def assert_drawn_inside(track: CaptionTrack, picture: "Picture") -> None:
    width, height = PORTRAIT["width"], PORTRAIT["height"]
    drawn = np.argwhere(abs(picture.astype(int) - background(width, height)).max(axis=-1) > 40)
    (_, box) = track.boxes[0]
    assert box.height * height < 200  # two lines and their plate
    assert drawn[:, 0].min() >= box.top * height - 3
    assert drawn[:, 0].max() <= box.bottom * height + 3
    assert drawn[:, 1].min() >= box.left * width - 3
    assert drawn[:, 1].max() <= box.right * width + 3


def test_a_round_box_closes_where_it_began() -> None:
    shape = rounded_box(100, 40, radius=50)  # no rounder than half its height
    assert shape.startswith("m 20 0 l 80 0 b ")
    assert shape.endswith("20 0")
