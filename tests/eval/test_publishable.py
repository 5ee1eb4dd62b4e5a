"""Verdicts on texts are bound to what was read, and the page shows them."""

from pathlib import Path

import pytest

from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from eval.publishable import text_checks
from eval.publishable.page import render_page
from eval.publishable.texts import TalkTexts
from eval.publishable.verdicts import (
    StaleVerdictError,
    TextVerdict,
    fingerprint,
    load_verdicts,
    verdict_on,
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
