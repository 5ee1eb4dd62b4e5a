"""Finds shorter wordings of a line that say the same, and checks those of a language model: pure functions."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from cutroom.engines.translation.fidelity import missing_entities
from cutroom.engines.writing.extractive.speech_patterns import NEGATIONS
from cutroom.engines.writing.wording_checks import shortening_fault
from cutroom.products.dubs.editing.text_fit import TextFit
from cutroom.text.glossary.line_glossary import LineGlossary, without_broken_terms
from cutroom.text.shortening import shorter_variants

MAX_WORDINGS = 3


class WordingOrigin(StrEnum):
    """Where a shorter wording comes from."""

    TRANSLATION = "translation"  # the dub was made with several lengths
    RULES = "rules"  # fillers and redundant words were left out
    MODEL = "model"  # a language model wrote it


_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_CONTRACTED_NOT = re.compile(r"n['\u2019]t$")


def shorter_wordings(
    text: str,
    *,
    language: str,
    source: str,
    glossary: LineGlossary,
    known: Sequence[str] = (),
    written: Sequence[str] = (),
) -> dict[str, WordingOrigin]:
    """Wordings with the same names, numbers, negations and terms with their origin, the longest first.

    `known` are the translations of the line in several lengths, if the text is one of them; `written` those of a
    language model.
    """
    written = [each for each in written if not shortening_fault(text, each, language=language)]
    candidates = dict.fromkeys(written, WordingOrigin.MODEL)
    candidates |= dict.fromkeys(shorter_variants(text, language=language, keeps_meaning=True), WordingOrigin.RULES)
    candidates |= dict.fromkeys(known if text in known else (), WordingOrigin.TRANSLATION)
    shorter = [
        each
        for each in candidates
        if len(each) < len(text)
        and _negations(each) == _negations(text)
        and not missing_entities(text, each, source=language, target=language)
    ]
    faithful = without_broken_terms(glossary, source, [text, *shorter])[1:]
    return {each: candidates[each] for each in sorted(faithful, key=len, reverse=True)}


def fitting_wordings(wordings: Iterable[str], fit: TextFit) -> list[str]:
    """The longest ones that fit."""
    return [each for each in wordings if not fit.excess_seconds(fit.seconds(each))][:MAX_WORDINGS]


def _negations(text: str) -> int:
    words = (match[0].lower() for match in _WORD.finditer(text))
    return sum(word in NEGATIONS or _CONTRACTED_NOT.search(word) is not None for word in words)
