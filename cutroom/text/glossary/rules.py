"""Glossary rules for one pair of languages: what a translation has to say for each term, and what it does not."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cutroom.text.glossary.matching import Match, Phrase, PhraseFinder, composed_phrase, fold, replace_matches


@dataclass(frozen=True, slots=True)
class TermRule:
    """A term of the source, and the forms of its translation, of which the first is preferred."""

    term: str
    forms: tuple[str, ...]
    case_sensitive: bool = False

    @property
    def expected(self) -> str:
        return self.forms[0]

    @property
    def is_kept(self) -> bool:
        """Whether the term stays as it is."""
        return self.expected == self.term


@dataclass(frozen=True, slots=True)
class BrokenTerm:
    """A term that is in the source more often than its translation is in the translated text."""

    term: str
    expected: str


class TermFinder:
    """Finds the terms of some rules in source texts."""

    def __init__(self, rules: Sequence[TermRule]) -> None:
        self.rules = tuple(rules)
        phrases = (Phrase(rule.term, at, rule.case_sensitive) for at, rule in enumerate(self.rules))
        self._finder = PhraseFinder.of(phrases)

    def find(self, source: str) -> list[tuple[TermRule, Match]]:
        return [(self.rules[match.phrase.owner], match) for match in self._finder.find(source)]

    def used(self, source: str) -> tuple[TermRule, ...]:
        """The rules of terms in a text, each once."""
        return tuple(dict.fromkeys(rule for rule, _ in self.find(source)))

    def broken(self, source: str, text: str) -> list[BrokenTerm]:
        """Terms of the source that a translated text lacks, each once."""
        wanted = [rule for rule, _ in self.find(source)]
        if not wanted:
            return []
        available = [rule_form for rule_form, _ in _find_forms(wanted, text)]
        broken: dict[BrokenTerm, None] = {}
        for rule in wanted:
            match = next((each for each in available if each in _folded_forms(rule)), None)
            if match is not None:
                available.remove(match)
            else:
                broken[BrokenTerm(rule.term, rule.expected)] = None
        return list(broken)

    def without_terms(self, source: str, text: str) -> tuple[str, str]:
        """Both texts without the terms and their translations, which other checks need not find."""
        found = self.find(source)
        if not found:
            return source, text
        forms = [(match, " ") for _, match in _find_forms([rule for rule, _ in found], text)]
        return replace_matches(source, [(match, " ") for _, match in found]), replace_matches(text, forms)

    def rewritten(self, source: str, wording: Callable[[TermRule], str]) -> str:
        """The source with other wordings of its terms."""
        return replace_matches(source, [(match, wording(rule)) for rule, match in self.find(source)])


def _find_forms(rules: Iterable[TermRule], text: str) -> list[tuple[str, Match]]:
    """The forms of some rules in a translated text, each folded unless its case counts, in order."""
    forms = {(form, rule.case_sensitive): None for rule in rules for each in rule.forms for form in _cases(rule, each)}
    finder = PhraseFinder.of(Phrase(form, 0, sensitive) for form, sensitive in forms)
    return [(fold(match.phrase.text), match) for match in finder.find(text)]


def _cases(rule: TermRule, form: str) -> tuple[str, ...]:
    """A sentence may start with a form whose case counts."""
    composed = composed_phrase(form)
    return (composed, composed[:1].upper() + composed[1:]) if rule.case_sensitive else (composed,)


def _folded_forms(rule: TermRule) -> frozenset[str]:
    return frozenset(fold(composed_phrase(form)) for form in rule.forms)
