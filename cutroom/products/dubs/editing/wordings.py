"""Finds shorter wordings of a line that say the same: pure functions."""

import re
from collections.abc import Sequence

from cutroom.engines.translation.fidelity import missing_entities
from cutroom.engines.writing.extractive.speech_patterns import NEGATIONS
from cutroom.products.dubs.editing.text_fit import TextFit
from cutroom.text.glossary.line_glossary import LineGlossary, without_broken_terms
from cutroom.text.shortening import shorter_variants

MAX_WORDINGS = 3
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_CONTRACTED_NOT = re.compile(r"n['\u2019]t$")


def shorter_wordings(
    text: str, *, language: str, source: str, glossary: LineGlossary, known: Sequence[str] = ()
) -> list[str]:
    """Wordings with the same names, numbers, negations and terms, the longest first.

    `known` are the translations of the line in several lengths, if the text is one of them.
    """
    candidates = [*(known if text in known else ()), *shorter_variants(text, language=language, keeps_meaning=True)]
    shorter = [
        each
        for each in dict.fromkeys(candidates)
        if len(each) < len(text)
        and _negations(each) == _negations(text)
        and not missing_entities(text, each, source=language, target=language)
    ]
    faithful = without_broken_terms(glossary, source, [text, *shorter])[1:]
    return sorted(faithful, key=len, reverse=True)


def fitting_wordings(wordings: Sequence[str], fit: TextFit) -> list[str]:
    """The longest ones that fit."""
    return [each for each in wordings if not fit.excess_seconds(fit.seconds(each))][:MAX_WORDINGS]


def _negations(text: str) -> int:
    words = (match[0].lower() for match in _WORD.finditer(text))
    return sum(word in NEGATIONS or _CONTRACTED_NOT.search(word) is not None for word in words)
