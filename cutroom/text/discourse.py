"""Classifies how a sentence depends on its context, by the words it starts with and refers to."""

# ruff: noqa: RUF001 (dashes look alike)

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cutroom.text.vocabulary import vocabulary
from cutroom.text.writing_systems import primary_language

EARLY_WORDS = 4
ANTECEDENT_WORDS = 3  # between a determiner and its noun
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[,.;:!?…–—]")
_INNER_CAPITAL = re.compile(r"(?<=[^\W\d_] )[^\W\d_a-z][^\W\d_]+|(?<=[^\W\d_], )[^\W\d_a-z][^\W\d_]+")
_MARKS = frozenset(",.;:!?…–—")
_REFLEXIVE = ("self", "selves")


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in text.replace("\n", "").split("|") if phrase.strip())


@dataclass(frozen=True, slots=True)
class DiscourseMarkers:
    """Words of one language that tie a sentence to its context; empty if the language has no list."""

    continuations: tuple[tuple[str, ...], ...] = ()
    list_items: tuple[tuple[str, ...], ...] = ()
    reactions: tuple[tuple[str, ...], ...] = ()
    acknowledgments: tuple[tuple[str, ...], ...] = ()
    courtesies: tuple[tuple[str, ...], ...] = ()
    introductions: tuple[tuple[str, ...], ...] = ()
    announcements: tuple[tuple[str, ...], ...] = ()
    interrogatives: frozenset[str] = frozenset()
    conjunctions: frozenset[str] = frozenset()
    additions: frozenset[str] = frozenset()
    counts: frozenset[str] = frozenset()
    clauses: frozenset[str] = frozenset()
    pronouns: frozenset[str] = frozenset()
    possessives: frozenset[str] = frozenset()
    demonstratives: frozenset[str] = frozenset()
    distal: frozenset[str] = frozenset()
    determiners: frozenset[str] = frozenset()
    indefinites: frozenset[str] = frozenset()
    prepositions: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    strong: frozenset[str] = frozenset()


def discourse_markers(language: str) -> DiscourseMarkers:
    return _all().get(primary_language(language), DiscourseMarkers())


@cache
def _all() -> dict[str, DiscourseMarkers]:
    tables = tomllib.loads(Path(__file__).with_name("discourse.toml").read_text(encoding="utf-8"))
    return {language: _markers(table) for language, table in tables.items()}


def _markers(table: dict[str, str]) -> DiscourseMarkers:
    phrases = {name: _phrases(text) for name, text in table.items()}
    words = {name: frozenset(text.split()) for name, text in table.items()}
    return DiscourseMarkers(
        continuations=phrases["continuations"],
        list_items=phrases["list_items"],
        reactions=phrases["reactions"],
        acknowledgments=phrases["acknowledgments"],
        courtesies=phrases["courtesies"],
        introductions=phrases["introductions"],
        announcements=phrases["announcements"],
        interrogatives=words["interrogatives"],
        conjunctions=words["conjunctions"],
        additions=words["additions"],
        counts=words["counts"],
        clauses=words["clauses"],
        pronouns=words["pronouns"],
        possessives=words["possessives"],
        demonstratives=words["demonstratives"],
        distal=words["distal"],
        determiners=words["determiners"],
        indefinites=words["indefinites"],
        prepositions=words["prepositions"],
        verbs=words["verbs"],
        strong=words["strong"],
    )


class SentenceDiscourse:
    """The ties of one sentence; `names` are the names of the talk, in lower case."""

    def __init__(self, text: str, *, language: str, names: frozenset[str] = frozenset()) -> None:
        self._spelled = _WORD.findall(text.replace("\u2019", "'"))
        self._tokens = [token.lower() for token in self._spelled]
        self._markers = discourse_markers(language)
        self._vocabulary = vocabulary(language)
        self._names = names
        self.words = [token for token in self._tokens if token not in _MARKS]

    @property
    def is_courtesy(self) -> bool:
        """Greetings, thanks, introductions, goodbyes, calls to subscribe, and plans for another time."""
        if self._starts_with(self._markers.courtesies) or self._introduces_speaker():
            return True
        spans = (self.words[at:] for at in range(len(self.words)))
        return any(_is_prefix(phrase, span) for span in spans for phrase in self._markers.announcements)

    @property
    def is_reaction(self) -> bool:
        """Starts with a clause such as "No" or "Of course"."""
        return self.is_acknowledgment or tuple(next(self._clauses(), [])) in self._markers.reactions

    @property
    def is_acknowledgment(self) -> bool:
        return tuple(next(self._clauses(), [])) in self._markers.acknowledgments

    @property
    def is_subordinate(self) -> bool:
        """Starts like a phrase or a subordinate clause, such as "In July" or "If it leaks"."""
        first = self.words[0] if self.words else ""
        return first in self._markers.prepositions or first in self._markers.clauses

    @property
    def depends_on_previous(self) -> bool:
        """Whether it continues a sentence or a list, or refers to something that it does not name."""
        return self.continues or self._has_open_reference()

    @property
    def continues(self) -> bool:
        """Whether it starts like a continuation of the previous sentence, or like an item of a list."""
        first = self.words[0] if self.words else ""
        if first in self._markers.interrogatives and self._tokens[-1] == "?":
            return False
        # Some articles and prepositions are spelled like pronouns.
        is_article = first in self._markers.determiners or first in self._markers.prepositions
        if (first in self._vocabulary.back_references and not is_article) or first in self._markers.verbs:
            return True
        return self._starts_with(self._markers.continuations) or self._starts_with(self._markers.list_items)

    def _starts_with(self, phrases: tuple[tuple[str, ...], ...]) -> bool:
        return any(_is_prefix(phrase, self.words) for phrase in phrases)

    def _introduces_speaker(self) -> bool:
        for phrase in self._markers.introductions:
            if _is_prefix(phrase, self._tokens) and len(self._spelled) > len(phrase):
                name: str = self._spelled[len(phrase)]
                return name[0].isupper()
        return False

    def _clauses(self) -> Iterator[list[str]]:
        clause: list[str] = []
        for token in [*self._tokens, "."]:
            if token not in _MARKS:
                clause.append(token)
            elif clause:
                yield clause
                clause = []

    def _has_open_reference(self) -> bool:
        """Whether a word refers to something that the sentence has not named before."""
        return any(self._is_open(at) for at in range(len(self._tokens)))

    def _is_open(self, at: int) -> bool:
        token, markers = self._tokens[at], self._markers
        following = self._tokens[at + 1] if at + 1 < len(self._tokens) else "."
        ends_clause = following in _MARKS
        if token in markers.additions:
            return ends_clause or at < EARLY_WORDS
        if token in markers.counts and (ends_clause or self._is_stand_in(following)):
            return at > 0
        if token in markers.demonstratives:
            return ends_clause or at < 2 or (token in markers.distal and self._is_object(at))
        return token in markers.pronouns and not self._has_antecedent(self._clause_start(at))

    def _is_stand_in(self, following: str) -> bool:
        """Whether what follows a count shows that it has no noun: "you missed one yourself", "I bought two also"."""
        return following.endswith(_REFLEXIVE) or following in self._markers.additions

    def _is_object(self, at: int) -> bool:
        """Whether a word such as "that" is not a conjunction: it follows a preposition, or precedes a noun."""
        previous = self._tokens[at - 1]
        if previous in self._markers.prepositions or previous in self._markers.clauses:
            return True
        return at + 1 < len(self._tokens) and self._is_content(self._tokens[at + 1]) and not self._has_antecedent(at)

    def _clause_start(self, at: int) -> int:
        """Where the clause of a pronoun starts, because its noun is outside of it; possessives are free."""
        if self._tokens[at] in self._markers.possessives:
            return at
        starts = (index for index in range(at, 0, -1) if self._tokens[index] in _MARKS | self._markers.clauses)
        return next(starts, 0)

    def _has_antecedent(self, end: int) -> bool:
        """Whether a name, or a noun with a determiner, precedes outside of an introductory phrase."""
        start = 0
        is_phrase = self._tokens[0] in self._markers.prepositions - self._markers.clauses
        if is_phrase and "," in self._tokens[:end]:
            start = self._tokens.index(",")
        for at in range(start, end):
            if self._tokens[at] in self._names or self._tokens[at] in self._markers.indefinites:
                return True
            nouns = self._tokens[at + 1 : min(at + 1 + ANTECEDENT_WORDS, end)]
            if self._tokens[at] in self._markers.determiners and any(map(self._is_content, nouns)):
                return True
        return False

    def _is_content(self, token: str) -> bool:
        return token not in _MARKS and not self._vocabulary.is_stop_word(token)


def names_in(sentences: Iterable[str]) -> frozenset[str]:
    """Words that are capitalized within a sentence, in lower case."""
    return frozenset(name.lower() for text in sentences for name in _INNER_CAPITAL.findall(text))


def is_strong_statement(text: str, *, language: str) -> bool:
    """Whether a text has a number, an exclamation mark or a word such as "never"."""
    words = _WORD.findall(text.lower())
    return any(map(str.isdigit, text)) or "!" in text or not discourse_markers(language).strong.isdisjoint(words)


def _is_prefix(phrase: tuple[str, ...], words: list[str]) -> bool:
    return tuple(words[: len(phrase)]) == phrase
