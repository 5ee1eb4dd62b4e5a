"""Candidate texts of dub lines."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from cutroom.engines.translation.port import Quality, Route
from cutroom.engines.translation.routing import TranslationPlan, plan_translation
from cutroom.engines.types import OnProgress
from cutroom.products.dubs.line_sync import MAX_NATURAL, MAX_TEMPO, Slot, natural_seconds
from cutroom.products.dubs.phrasing import DubPhrase
from cutroom.products.dubs.script_lines import VOICE_SPREAD, candidate_texts

SOURCE = "Well, I really have to go home now."
TEXT = "Na verdade, eu tenho que ir muito cedo para casa agora."
SAME_MEANING = [
    "Na verdade, tenho que ir muito cedo para casa agora.",
    "Tenho que ir muito cedo para casa agora.",
]


@dataclass
class DictionaryTranslator:
    """Looks sentences up, and records the requests."""

    name: str = "dictionary"
    asked: list[str] = field(default_factory=list)

    def routes(self) -> Sequence[Route]:
        return [Route("en", "pt", Quality.REVIEW)]

    def translate(
        self,
        sentences: Sequence[str],
        *,
        source: str,  # noqa: ARG002 - the port's signature
        target: str,  # noqa: ARG002
        on_progress: OnProgress | None = None,  # noqa: ARG002
    ) -> list[str]:
        self.asked += sentences
        translations = {
            "I really have to go home now.": "Tenho que ir muito cedo.",
            "I have to go home now.": "Já vou.",
        }
        return [translations[sentence] for sentence in sentences]


@pytest.fixture
def translator() -> DictionaryTranslator:
    return DictionaryTranslator()


@pytest.fixture
def plan(translator: DictionaryTranslator) -> TranslationPlan:
    return plan_translation([translator], source="en", target="pt")


def slot_at(tempo: float) -> Slot:
    """A slot that the text fills at a tempo."""
    seconds = natural_seconds(TEXT, language="pt") / tempo
    return Slot(0.0, seconds, seconds)


def candidates(plan: TranslationPlan, tempo: float) -> list[str]:
    return candidate_texts(DubPhrase(0.0, 3.0, "speaker_1", SOURCE, TEXT), slot_at(tempo), plan)


def test_translation_that_fits_has_no_other_wording(plan: TranslationPlan) -> None:
    assert candidates(plan, 0.99 * MAX_NATURAL / VOICE_SPREAD) == [TEXT]


def test_long_translation_has_wordings_of_the_same_meaning(
    plan: TranslationPlan, translator: DictionaryTranslator
) -> None:
    assert candidates(plan, 1.01 * MAX_NATURAL / VOICE_SPREAD) == [TEXT, *SAME_MEANING]
    assert candidates(plan, 0.99 * MAX_TEMPO) == [TEXT, *SAME_MEANING]
    assert translator.asked == []


def test_only_a_translation_that_cannot_fit_loses_words(
    plan: TranslationPlan, translator: DictionaryTranslator
) -> None:
    found = candidates(plan, 1.01 * MAX_TEMPO)
    assert found[:3] == [TEXT, *SAME_MEANING]
    assert translator.asked == ["I really have to go home now.", "I have to go home now."]
    assert found[3:] == ["Tenho que ir muito cedo.", "Já vou."]
