"""Linguistic patterns per language, for cleaning quotes and recognizing subjects, nouns and steps."""

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from cutroom.text.writing_systems import primary_language

# Words of all languages that reverse what follows.
NEGATIONS = frozenset(
    {"no", "not", "nobody", "never", "none", "don't", "não", "nunca", "ninguém", "nadie", "pas", "jamais", "ne"}
    | {"kein", "keine", "nicht", "nie", "non", "mai"}
)
_MATCHES_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class SpeechPatterns:
    """Words and patterns of one language, documented in `speech_patterns.toml`; empty for other languages."""

    hesitations: frozenset[str] = frozenset()
    asides: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    openers: frozenset[str] = frozenset()
    comma_openers: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    before_noun: frozenset[str] = frozenset()
    before_verb: frozenset[str] = frozenset()
    pronouns: frozenset[str] = frozenset()
    first_person: frozenset[str] = frozenset()
    second_person: frozenset[str] = frozenset()
    phrase_starts: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    measures: frozenset[str] = frozenset()
    sequence: frozenset[str] = frozenset()
    imperatives: frozenset[str] = frozenset()
    imperative_endings: frozenset[str] = frozenset()
    contractions: frozenset[str] = frozenset()
    housekeeping: re.Pattern[str] = _MATCHES_NOTHING
    greetings: re.Pattern[str] = _MATCHES_NOTHING
    section: re.Pattern[str] = _MATCHES_NOTHING
    how: re.Pattern[str] = _MATCHES_NOTHING
    doing: re.Pattern[str] = _MATCHES_NOTHING
    will_do: re.Pattern[str] = _MATCHES_NOTHING
    subject: re.Pattern[str] = _MATCHES_NOTHING
    about: re.Pattern[str] = _MATCHES_NOTHING
    product: re.Pattern[str] = _MATCHES_NOTHING
    obligation: re.Pattern[str] = _MATCHES_NOTHING


def speech_patterns(language: str) -> SpeechPatterns:
    return _all().get(primary_language(language), SpeechPatterns())


@cache
def _all() -> dict[str, SpeechPatterns]:
    tables = tomllib.loads(Path(__file__).with_name("speech_patterns.toml").read_text(encoding="utf-8"))
    return {language: _parse(table) for language, table in tables.items()}


def _parse(table: dict[str, Any]) -> SpeechPatterns:
    parsed: dict[str, Any] = {}
    for field in fields(SpeechPatterns):
        value = table[field.name]
        if field.type == re.Pattern[str]:
            parsed[field.name] = re.compile(value, re.IGNORECASE) if value else _MATCHES_NOTHING
        elif isinstance(value, list):
            parsed[field.name] = tuple(value)
        else:  # a list separated by spaces, in which an underscore stands for a space
            parsed[field.name] = frozenset(each.replace("_", " ") for each in value.split())
    return SpeechPatterns(**parsed)
