"""Terms to keep, in texts that are written about a video in its own language: their spelling is the glossary's."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cutroom.text.glossary.matching import Phrase, PhraseFinder
from cutroom.text.glossary.rules import BrokenTerm, TermFinder, TermRule

MAX_NAMES = 100  # given to a writer
_NO_WORD = "#@"  # before a hashtag or handle


@dataclass(frozen=True, slots=True)
class KeptTerms:
    """The terms to keep that are said in a video, with their spelling."""

    rules: tuple[TermRule, ...] = ()
    said: frozenset[str] = frozenset()  # every spelling of them in the video

    @classmethod
    def of(cls, rules: Iterable[TermRule], texts: Sequence[str]) -> "KeptTerms":
        """Terms without capitals have no spelling of their own: "gate" may start a sentence."""
        spelled = [rule for rule in rules if rule.is_kept and rule.term != rule.term.lower()]
        if not spelled:
            return cls()
        terms = TermFinder(spelled)
        used = dict.fromkeys(rule for text in texts for rule in terms.used(text))
        said = (spelling for text in texts for _, spelling in _spellings(tuple(used), text))
        return cls(tuple(used), frozenset(said))

    @property
    def names(self) -> tuple[str, ...]:
        """Those whose spelling a writer may correct: "Apple" and "apple" are two words if their case counts."""
        return tuple(rule.term for rule in self.rules if not rule.case_sensitive)[:MAX_NAMES]

    def broken(self, text: str) -> list[BrokenTerm]:
        """Terms that a text spells differently, each once; words that the video says so as well are none."""
        wrong = (
            BrokenTerm(rule.term, rule.term)
            for rule, spelling in _spellings(self.rules, text)
            if spelling != rule.term and not (rule.case_sensitive and spelling in self.said)
        )
        return list(dict.fromkeys(wrong))


def _spellings(rules: Sequence[TermRule], text: str) -> list[tuple[TermRule, str]]:
    """Where terms are in a text in any case, as they are written there."""
    composed = unicodedata.normalize("NFC", text)
    finder = PhraseFinder.of(Phrase(rule.term, at) for at, rule in enumerate(rules))
    found = [match for match in finder.find(composed) if composed[match.start - 1 : match.start] not in set(_NO_WORD)]
    return [(rules[match.phrase.owner], composed[match.start : match.end]) for match in found]
