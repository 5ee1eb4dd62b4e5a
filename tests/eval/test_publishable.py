"""Verdicts on texts are bound to what was read, and the page shows them."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from eval.publishable import text_checks
from eval.publishable.page import render_page
from eval.publishable.reference import reference_transcript
from eval.publishable.sheets import TEMPLATE, read_judged, write_template
from eval.publishable.talk_video import face_in, plan_shots
from eval.publishable.texts import TalkTexts
from eval.publishable.verdicts import (
    JudgedPicture,
    PictureVerdict,
    StaleVerdictError,
    TextVerdict,
    fingerprint,
    load_picture_verdicts,
    load_verdicts,
    picture_verdict_on,
    verdict_on,
    write_picture_verdicts,
    write_verdicts,
)
from eval.talks import load_talks

TALK = load_talks()[0]
TEXTS = TalkTexts(
    TALK, ("The title",) * len(TitleStyle), "The headline", dict.fromkeys(DescriptionKind, "The description.")
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "verdicts.toml"
    write_verdicts(
        [
            TextVerdict(TALK.slug, "title", fingerprint("The title"), "publish", "publish", 'It says "what" it is.'),
            TextVerdict(TALK.slug, "description", fingerprint("The description."), "publish", "edit", "It is bare."),
        ],
        file=path,
    )
    return path


def test_text_is_publishable_if_both_readers_would_publish_it(file: Path) -> None:
    assert verdict_on(TALK.slug, "title", "The title", file=file).is_publishable
    assert not verdict_on(TALK.slug, "description", "The description.", file=file).is_publishable


def test_verdict_on_another_text_is_stale(file: Path) -> None:
    with pytest.raises(StaleVerdictError, match="has changed"):
        verdict_on(TALK.slug, "title", "Another title", file=file)
    with pytest.raises(StaleVerdictError, match="has changed"):
        verdict_on("unknown", "title", "The title", file=file)


def test_page_shows_texts_and_verdicts(file: Path) -> None:
    page = render_page([TEXTS], load_verdicts(file=file), {})
    assert "> The description.\n" in page
    assert "**publish**, **edit**. It is bare." in page
    assert f"| {TALK.half} | 1 of 1 | 0 of 1 |" in page


SAID = ["First, turn off the water. It takes 5 minutes, and you need no plumber.", "But I have one at home."]


@pytest.mark.parametrize("text", ["Turn off the water", "“It takes 5 minutes”", "# Turn off the water\n\n#water"])
def test_whole_clauses_pass(text: str) -> None:
    assert text_checks.ungrounded(text, SAID) == []
    assert text_checks.fragments(text, SAID) == []


@pytest.mark.parametrize("text", ["Turn off the", "But I have one at home", "Turn the water off"])
def test_fragments_are_found(text: str) -> None:
    assert text_checks.fragments(text, SAID)


def test_unsaid_words_are_found() -> None:
    assert text_checks.ungrounded("Turn off the gas in 10 minutes", SAID) == ["gas", "in", "10"]


def test_phrase_of_two_talks_that_one_never_says_is_a_template() -> None:
    said = {"one": ["the best bread in town"], "two": ["a cup of coffee"]}
    written = {"one": ["Bread: watch with the lights on"], "two": ["Coffee: watch with the lights on"]}
    assert "watch with the lights" in text_checks.template_phrases(written, said)


def test_step_before_an_earlier_one_and_a_lost_quantity_are_found() -> None:
    said = ["Mix the flour for 5 minutes.", "Bake it at 230 degrees."]
    assert text_checks.steps_out_of_order("1. Bake it at 230 degrees.\n2. Mix the flour.", said)
    assert text_checks.quantities_lost("1. Mix the flour for 5 minutes.", said) == []
    assert text_checks.quantities_lost("1. Mix the flour for a while.", said) == ["5"]


PICTURE = JudgedPicture(TALK.slug, "thumbnail", 1, "The headline", "band, coffee.png, “THE HEADLINE”")


@pytest.fixture
def pictures(tmp_path: Path) -> Mapping[str, PictureVerdict]:
    path = tmp_path / "pictures.toml"
    written = PictureVerdict(**asdict(PICTURE), first="publish", second="edit", reason='The "cup" is cut.')
    write_picture_verdicts([written], file=path)
    return load_picture_verdicts(file=path)


def test_verdict_holds_for_the_same_decisions(pictures: Mapping[str, PictureVerdict]) -> None:
    assert picture_verdict_on(PICTURE, pictures).reason == 'The "cup" is cut.'
    assert not picture_verdict_on(replace(PICTURE, picture=""), pictures).is_publishable  # not rendered


@pytest.mark.parametrize("change", [{"text": "Another"}, {"picture": "labels, coffee.png"}, {"number": 2}])
def test_verdict_on_other_decisions_is_stale(pictures: Mapping[str, PictureVerdict], change: dict[str, Any]) -> None:
    with pytest.raises(StaleVerdictError, match="has"):
        picture_verdict_on(replace(PICTURE, **change), pictures)


def test_page_shows_pictures_and_their_verdicts(file: Path, pictures: Mapping[str, PictureVerdict]) -> None:
    page = render_page([TEXTS], load_verdicts(file=file), pictures)
    assert "have not been judged" not in page
    assert "Thumbnail 1 (band, coffee.png, “THE HEADLINE”): **publish**, **edit**." in page
    assert f"| {TALK.half} | 1 of 1 | 0 of 1 | 0 of 1 | 0 of 0 |" in page


def test_template_has_the_ids_of_what_was_written(tmp_path: Path) -> None:
    (tmp_path / f"{TALK.slug}.json").write_text(json.dumps([asdict(PICTURE)]), encoding="utf-8")
    write_template(read_judged(tmp_path), tmp_path)
    template = tomllib.loads((tmp_path / TEMPLATE).read_text(encoding="utf-8"))
    assert template == {PICTURE.id: {"verdict": "", "reason": ""}}


def test_reference_transcript_says_all_words_in_order() -> None:
    transcript = reference_transcript(TALK)
    assert [word.text for word in transcript.words] == [w for line in TALK.lines for w in TALK.source(line).split()]
    times = [word.start_seconds for word in transcript.words]
    assert times == sorted(times)
    assert {segment.speaker for segment in transcript.segments} == {speaker.id for speaker in TALK.speakers}


def test_shots_cover_the_talk_and_show_its_photographs() -> None:
    [talk] = [each for each in load_talks() if each.slug == "coffee_machine_launch"]
    shots = plan_shots(talk)
    assert shots[0].start_seconds == 0
    assert all(one.end_seconds == two.start_seconds for one, two in pairwise(shots))
    assert "coffee.png" in {shot.name for shot in shots}
    assert face_in("coffee.png") is None
