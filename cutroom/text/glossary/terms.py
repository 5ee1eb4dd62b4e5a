"""Terms of a glossary in all their languages, and the rules that follow for one pair of languages."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeVar

from cutroom.text.glossary.matching import composed_phrase, fold
from cutroom.text.glossary.pronunciation import Pronunciation
from cutroom.text.glossary.rules import TermRule
from cutroom.text.language_tags import canonical_tag, language_of, offers

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TermTranslation:
    """A translation, with inflected forms that are accepted as well."""

    text: str
    forms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """A term of one language, for the whole library or for a folder."""

    text: str
    language: str
    keep: bool = False
    case_sensitive: bool = False
    translations: Mapping[str, TermTranslation] = field(default_factory=dict)
    pronunciations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Glossary:
    """What applies to one video in one pair of languages."""

    rules: tuple[TermRule, ...] = ()
    pronunciations: tuple[Pronunciation, ...] = ()

    @property
    def version(self) -> str:
        """Identifies the content, so that what was made with another glossary is not taken for the same."""
        content = json.dumps([[asdict(each) for each in self.rules], [asdict(each) for each in self.pronunciations]])
        return hashlib.sha256(content.encode()).hexdigest()[:16]


def glossary_for(terms: Sequence[Term], *, source: str, target: str) -> Glossary:
    """The rules and pronunciations for a pair of languages; the first of terms with the same text counts."""
    rules = _first_of(_rule(term, target) for term in terms if language_of(term.language) == language_of(source))
    known = {language_of(source), language_of(target)}
    voiced = [term for term in terms if language_of(term.language) in known]
    spoken = {fold(each.written): each for term in reversed(voiced) for each in _pronunciations(term, target)}
    return Glossary(tuple(rules), tuple(sorted(spoken.values(), key=lambda each: each.written)))


def _first_of(rules: Iterable[TermRule | None]) -> list[TermRule]:
    found: dict[str, TermRule] = {}
    for rule in rules:
        if rule is not None:
            found.setdefault(rule.term if rule.case_sensitive else fold(rule.term), rule)
    return list(found.values())


def _rule(term: Term, target: str) -> TermRule | None:
    text = composed_phrase(term.text)
    if term.keep:
        return TermRule(text, (text,), term.case_sensitive)
    translation = for_language(term.translations, target)
    if translation is None:
        return None
    forms = dict.fromkeys(composed_phrase(each) for each in (translation.text, *translation.forms))
    return TermRule(text, tuple(forms), term.case_sensitive)


def _pronunciations(term: Term, target: str) -> list[Pronunciation]:
    """The written forms in the language: the translation, or the term where it is not translated."""
    spoken = for_language(term.pronunciations, target)
    if spoken is None:
        return []
    translation = None if term.keep else for_language(term.translations, target)
    written = translation.text if translation is not None else term.text
    return [Pronunciation(composed_phrase(written), spoken, term.case_sensitive)]


def for_language(entries: Mapping[str, T], wanted: str) -> T | None:
    """The entry of a language: of the same region if there is one, and never of another region."""
    exact = [tag for tag in entries if canonical_tag(tag) == canonical_tag(wanted)]
    open_region = [tag for tag in sorted(entries) if _is_base_of(tag, wanted) or offers(tag, wanted)]
    found = next(iter((*exact, *open_region)), None)
    return entries[found] if found is not None else None


def _is_base_of(tag: str, wanted: str) -> bool:
    """Whether a tag without a region is of the wanted language."""
    return canonical_tag(tag) == language_of(tag) == language_of(wanted)
