"""Tests for titles and descriptions of moments."""

import pytest

from cutroom.products.shorts.moments.titles import (
    DESCRIPTION_CHARACTERS,
    TITLE_CHARACTERS,
    make_description,
    make_title,
)


def title(*texts: str, language: str = "en") -> str:
    return make_title(texts, [0.0] * len(texts), language=language, fallback="Moment at 0:10")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # The question that the moment answers.
        (["What does a house really cost?", "The bank lends the sum."], "What does a house really cost?"),
        # A sentence that is understood on its own, not a reference or a reaction.
        (["That's the cheapest plan.", "The roof alone would cost a million."], "The roof alone would cost a million"),
        (["No, I have not touched it.", "And the light is orange now."], "The light is orange now"),
        # A whole clause, not the introductory phrase before it.
        (
            ["Like a normal telephone exchange, you will navigate the demonstration by dialing digits on your phone."],
            "Like a normal telephone exchange, you will navigate the demonstration…",
        ),
        (
            ["In 1876, a young medical student in Trieste was given 400 eels and told to look for the males."],
            "In 1876, a young medical student in Trieste was given 400 eels",
        ),
        # A verb keeps its object.
        (
            ["All of you have successfully downloaded and installed and executed the entire open source exchange."],
            "All of you have successfully downloaded and installed and executed…",
        ),
        # No bare name, no fragment, no list of words.
        (["Johannes Schmidt.", "The eels crossed the ocean in spring."], "The eels crossed the ocean in spring"),
        (["Flour, water.", "The dough has to rest overnight."], "The dough has to rest overnight"),
        # No greeting.
        (["Good morning, everyone in the hall.", "Dams are to blame for it."], "Dams are to blame for it"),
        (["Orders open today at 3:30 p.m."], "Orders open today at 3:30 p.m."),
    ],
)
def test_title_is_a_whole_clause(texts: list[str], expected: str) -> None:
    assert title(*texts) == expected
    assert len(expected) <= TITLE_CHARACTERS


def test_quotation_keeps_both_marks() -> None:
    assert title('"I have the wrong coat," said a voice.') == '"I have the wrong coat," said a voice'
    assert title('"We take turns with the radio now."') == "We take turns with the radio now"


def test_range_of_numbers_is_not_cut() -> None:
    text = "The courier usually comes between 9 and 11 a.m. in the old part of our little town."
    assert "between 9…" not in title(text)
    assert not title(text).endswith("between 9")


def test_description_is_the_beginning_in_order() -> None:
    texts = ["Good morning, everyone.", "What do you remember?", "A blizzard in 1993.", "Six people came.", "It ended."]
    assert make_description(texts, language="en") == "What do you remember? A blizzard in 1993. Six people came."


def test_long_description_is_cut_before_a_phrase() -> None:
    text = "The harbor froze in the winter of that year " * 12
    description = make_description([text], language="en")
    assert len(description) <= DESCRIPTION_CHARACTERS
    assert description.endswith("…")
    assert not description.removesuffix("…").endswith((" the", " in", " of"))
