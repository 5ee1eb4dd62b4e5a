"""Finds what people mostly want to cut: sounds of hesitation, and words that were said twice."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources

from cutroom.products.transcripts.document import DocumentSegment
from cutroom.text.writing_systems import primary_language

MAX_REPEATED = 3  # words
_WORD = re.compile(r"\S+")
_ENDS_SENTENCE = (".", "!", "?", "…", ":", ";")


class SuggestionKind(StrEnum):
    """Why a part of a text could be cut."""

    FILLER = "filler"
    REPEAT = "repeat"


@dataclass(frozen=True, slots=True)
class CutSuggestion:
    """A part of the text of a segment, with the white space after it."""

    kind: SuggestionKind
    segment_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Rules:
    hesitations: frozenset[str]
    doubled: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int
    key: str


@cache
def _rules() -> dict[str, _Rules]:
    data = tomllib.loads(resources.files(__package__).joinpath("hesitations.toml").read_text(encoding="utf-8"))
    return {name: _Rules(frozenset(each["hesitations"]), frozenset(each["doubled"])) for name, each in data.items()}


def supported_languages() -> list[str]:
    """The languages in which anything is found."""
    return sorted(_rules())


def suggest_cuts(segments: Iterable[DocumentSegment], *, language: str) -> list[CutSuggestion]:
    """Suggestions for segments that are not deleted, in order and apart; none for a language without rules."""
    rules = _rules().get(primary_language(language))
    if rules is None:
        return []
    return [each for segment in segments if not segment.deleted for each in _in_segment(segment, rules)]


def _in_segment(segment: DocumentSegment, rules: _Rules) -> Iterator[CutSuggestion]:
    tokens = [
        _Token(found.group(), found.start(), found.end(), _key(found.group())) for found in _WORD.finditer(segment.text)
    ]
    at = 0
    while at < len(tokens):
        kind, count = SuggestionKind.FILLER, _hesitation(tokens, at, rules)
        if not count:
            kind, count = SuggestionKind.REPEAT, _repeated(tokens, at, rules)
        if not count or count >= len(tokens):  # a segment that is all hesitation is deleted as a whole
            at += 1
            continue
        start, end = tokens[at].start, tokens[at + count - 1].end
        following = tokens[at + count].start if at + count < len(tokens) else end
        yield CutSuggestion(kind, segment.id, start, following, segment.text[start:end])
        at += count


def _hesitation(tokens: Sequence[_Token], at: int, rules: _Rules) -> int:
    return 1 if tokens[at].key in rules.hesitations and not tokens[at].text.endswith(_ENDS_SENTENCE) else 0


def _repeated(tokens: Sequence[_Token], at: int, rules: _Rules) -> int:
    """How many words from here are said again right after."""
    for count in range(MAX_REPEATED, 0, -1):
        first, second = tokens[at : at + count], tokens[at + count : at + 2 * count]
        if len(second) < count or [each.key for each in first] != [each.key for each in second]:
            continue
        if any(not each.key or each.key.isdigit() or each.text.endswith(_ENDS_SENTENCE) for each in first):
            continue
        if count == 1 and first[0].key in rules.doubled:
            continue
        return count
    return 0


def _key(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalnum() or each in "'\u2019")


def is_hesitation(text: str, *, language: str) -> bool:
    """Whether a text has no word beside sounds of hesitation."""
    rules, keys = _rules().get(primary_language(language)), [key for word in text.split() if (key := _key(word))]
    return rules is not None and bool(keys) and all(key in rules.hesitations for key in keys)
