"""Translated headlines are checked, and frames of the moment at which a headline is said come first."""

from typing import Any

import numpy as np
import pytest

from cutroom.engines.registry import Engines
from cutroom.engines.translation.port import LanguageIdentifier, Translator
from cutroom.products.thumbnails.detection import VideoFrame
from cutroom.products.thumbnails.headlines import (
    checked_translation,
    find_spoken_segment,
    frames_of_headline_first,
    translate_headline,
)
from cutroom.text.glossary.rules import TermFinder, TermRule
from tests.engines.translation.test_glossary_wordings import PhrasebookTranslator

SEGMENTS: list[dict[str, Any]] = [
    {"text": "Welcome to my kitchen, my name is Priya.", "start": 0.0, "end": 4.0},
    {"text": "Sourdough bakes at 250 degrees for forty minutes.", "start": 60.0, "end": 64.0, "deleted": True},
    {"text": "A simple sourdough loaf bakes for forty minutes.", "start": 120.0, "end": 125.0},
]


@pytest.mark.parametrize(
    ("headline", "translated"),
    [
        ("200 days in space", "200 dias no espaço"),
        ("Five ways to bake", "Cinco maneiras de assar"),
        ("Lost in Lisbon", "Perdido em Lisboa"),
        ("Coffee (at last)", "Café (finalmente)"),
    ],
)
def test_faithful_translation_is_used(headline: str, translated: str) -> None:
    assert checked_translation(headline, translated, source="en", target="pt", identifier=None) == translated


@pytest.mark.parametrize(
    ("headline", "translated"),
    [
        pytest.param("Daniel Carter", "Daniel Carter (em inglês)", id="note"),
        pytest.param("Daniel Carter", "Daniel Carter [em inglês]", id="note in square brackets"),
        pytest.param("Better coffee", "更好的咖啡（英语）", id="full-width brackets"),  # noqa: RUF001
        pytest.param("5 lessons from orbit", "Lições da órbita", id="lost number"),
        pytest.param("Bake bread", "Assar 3 pães", id="invented number"),
        pytest.param("How Eileen flew", "Como ela voou", id="lost name"),
        pytest.param("Better coffee at home", "", id="empty"),
        pytest.param("Better coffee at home", "See more at example.com", id="invented address"),
    ],
)
def test_unfaithful_translation_is_rejected(headline: str, translated: str) -> None:
    assert checked_translation(headline, translated, source="en", target="pt", identifier=None) is None


@pytest.mark.parametrize(
    ("headline", "start"),
    [
        ("Sourdough in forty minutes", 120.0),
        ("My kitchen", 0.0),
        ("Baking sourdough", 120.0),
        ("Rockets in orbit", None),
        ("To the", None),
        ("", None),
    ],
)
def test_segment_that_says_the_headline_is_found(headline: str, start: float | None) -> None:
    found = find_spoken_segment(headline, SEGMENTS, language="en")
    assert (found and found["start"]) == start


def frame(seconds: float, score: float) -> VideoFrame:
    return VideoFrame(seconds, np.zeros((9, 16, 3), np.uint8), score)


def test_good_frames_of_the_moment_come_first() -> None:
    frames = [frame(5, 0.9), frame(121, 0.8), frame(60, 0.7), frame(126, 0.75), frame(123, 0.3)]
    found = frames_of_headline_first(frames, SEGMENTS[2])
    assert [each.seconds for each in found] == [121, 126, 5, 60, 123]


def test_order_is_kept_if_the_headline_was_not_said() -> None:
    frames = [frame(5, 0.9), frame(121, 0.8)]
    assert frames_of_headline_first(frames, None) == frames
    assert frames_of_headline_first([], SEGMENTS[2]) == []


class OnlyTranslator(Engines):
    """The engines of a worker with one translator."""

    def __init__(self, translator: Translator) -> None:
        self._only = translator

    def translators(self) -> list[Translator]:
        return [self._only]

    def language_identifier(self) -> LanguageIdentifier:
        return Unsure()


class Unsure:
    """Knows no language."""

    name = "unsure"

    def identify(self, text: str) -> None:
        del text


def translated_with(rule: TermRule, phrases: dict[str, str], headline: str) -> str | None:
    engines = OnlyTranslator(PhrasebookTranslator(phrases))
    return translate_headline(engines, headline, source="en", target="pt", glossary=[rule])


def test_the_glossary_applies_to_translated_headlines() -> None:
    phrases = {"Open the gate": "Abra o portão", "gate": "portão", "the gate": "o portão"}
    rule = TermRule("gate", ("comporta",))
    assert translated_with(rule, phrases, "Open the gate") == "Abra o comporta"


def test_a_term_that_cannot_be_brought_in_is_left_to_be_listed() -> None:
    rule = TermRule("gate", ("comporta",))
    phrases = {"Open the gate": "Abra tudo", "Open the comporta": "Abra tudo", "Open the {comporta}": "Abra tudo"}
    translated = translated_with(rule, phrases, "Open the gate")
    assert translated == "Abra tudo"
    assert [each.term for each in TermFinder([rule]).broken("Open the gate", translated)] == ["gate"]
