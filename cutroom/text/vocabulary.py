"""Tokenization, stop words and light stemming by language."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from cutroom.text.writing_systems import is_unspaced, primary_language

SHORT_WORD = 3  # letters; short words count as stop words in languages without a list
MIN_STEM = 3
MAX_TEXT_CHARACTERS = 20_000  # bounds the work per sentence

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Stop words and suffixes of one language; empty if the language has no list."""

    stop_words: frozenset[str] = frozenset()
    back_references: frozenset[str] = frozenset()
    fillers: frozenset[str] = frozenset()
    suffixes: tuple[str, ...] = ()
    is_known: bool = False

    def is_stop_word(self, word: str) -> bool:
        """Expects lower case."""
        if is_unspaced(word[0]):
            return False
        return word in self.stop_words if self.is_known else len(word) <= SHORT_WORD and not word.isdigit()


def vocabulary(language: str) -> Vocabulary:
    return _all().get(primary_language(language), Vocabulary())


@cache
def _all() -> dict[str, Vocabulary]:
    tables = tomllib.loads(Path(__file__).with_name("stop_words.toml").read_text(encoding="utf-8"))
    return {
        language: Vocabulary(
            frozenset(table["stop_words"].split()),
            frozenset(table["back_references"].split()),
            frozenset(table["fillers"].split()),
            tuple(sorted(table["suffixes"].split(), key=lambda suffix: (-len(suffix), suffix))),
            is_known=True,
        )
        for language, table in tables.items()
    }


def clean_text(text: str) -> str:
    """Removes control characters and collapses whitespace to one line."""
    kept = (" " if character.isspace() else character for character in text[:MAX_TEXT_CHARACTERS])
    return " ".join("".join(each for each in kept if unicodedata.category(each)[0] != "C").split())


def words_of(text: str) -> list[str]:
    """Lower-case words; unspaced scripts yield character bigrams."""
    found: list[str] = []
    for match in _WORD.finditer(text[:MAX_TEXT_CHARACTERS].lower().replace("’", "'")):
        word = match.group()
        if word.isascii() or not any(map(is_unspaced, word)):
            found.append(word)
        else:
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
    return found


def stems(text: str, *, language: str) -> list[str]:
    """Stemmed content words in order."""
    known = vocabulary(language)
    return [_stem(word, known.suffixes) for word in words_of(text) if not known.is_stop_word(word)]


@lru_cache(maxsize=65536)
def _stem(word: str, suffixes: tuple[str, ...]) -> str:
    word = word.removesuffix("'s")
    for suffix in suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= MIN_STEM:
            stem = word[: -len(suffix)]
            # Undoubles consonants ("running" to "run") but not vowels ("seeing" to "see").
            doubled = len(stem) > MIN_STEM and stem[-1] == stem[-2] and stem[-1] not in "aeiou"
            return stem[:-1] if doubled else stem
    return word


def starts_with_back_reference(text: str, *, language: str) -> bool:
    """Whether the sentence starts with a word that refers to earlier context."""
    first = next(iter(words_of(text[:80])), "")
    return first in vocabulary(language).back_references
