"""What the glossary says about one spoken line: the terms it has to contain, and how its words are pronounced."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.text.glossary.pronunciation import Pronunciation, readable, respell
from cutroom.text.glossary.rules import TermFinder, TermRule
from cutroom.text.glossary.terms import Glossary


@dataclass(frozen=True, slots=True)
class LineGlossary:
    """Stored with the line, so that a later change of the glossary does not change the line."""

    rules: tuple[TermRule, ...] = ()
    pronunciations: tuple[Pronunciation, ...] = ()

    def spoken(self, text: str, *, without: Iterable[str] = (), reads_phonemes: bool = False) -> str:
        """What the voice is given in place of a text; `without` the words that the line itself says how to spell."""
        words = {word.casefold() for word in without}
        known = [each for each in self.pronunciations if each.written.casefold() not in words]
        return respell(text, readable(known, reads_phonemes=reads_phonemes))


def line_glossary(glossary: Glossary, source: str, texts: Sequence[str]) -> LineGlossary:
    """The rules of terms in the source, and the pronunciations of words in the texts."""
    said = tuple(each for each in glossary.pronunciations if any(respell(text, [each]) != text for text in texts))
    return LineGlossary(TermFinder(glossary.rules).used(source), said)


def without_broken_terms(glossary: LineGlossary, source: str, texts: Sequence[str]) -> list[str]:
    """The texts that have as many terms as the first, which is the translation itself."""
    terms = TermFinder(glossary.rules)
    if not terms.rules:
        return list(texts)
    fewest = len(terms.broken(source, texts[0]))
    return [text for text in texts if len(terms.broken(source, text)) <= fewest]


def read_line_glossary(document: Mapping[str, Any]) -> LineGlossary:
    rules = (TermRule(**{**each, "forms": tuple(each["forms"])}) for each in document.get("rules", ()))
    return LineGlossary(tuple(rules), tuple(Pronunciation(**each) for each in document.get("pronunciations", ())))
