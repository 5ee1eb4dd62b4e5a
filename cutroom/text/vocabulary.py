"""What words of a text say: stems without the small words of a language, and how a sentence begins."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from cutroom.text.writing_systems import base_of, unspaced

SHORT_WORD = 3  # letters; in a language without a list of its own such words count as small ones
MIN_STEM = 3
MAX_TEXT_CHARACTERS = 20_000  # of one sentence that are looked at

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The small words of one language; none of them where the language has no list."""

    stop: frozenset[str] = frozenset()
    back: frozenset[str] = frozenset()
    filler: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()
    is_known: bool = False

    def says_little(self, word: str) -> bool:
        """Whether a word is a small one, in small letters."""
        if unspaced(word[0]):
            return False
        return word in self.stop if self.is_known else len(word) <= SHORT_WORD and not word.isdigit()


def vocabulary(language: str) -> Vocabulary:
    return _all().get(base_of(language), Vocabulary())


@cache
def _all() -> dict[str, Vocabulary]:
    tables = tomllib.loads(Path(__file__).with_name("stop_words.toml").read_text(encoding="utf-8"))
    return {
        language: Vocabulary(
            frozenset(table["stop"].split()),
            frozenset(table["back"].split()),
            frozenset(table["filler"].split()),
            tuple(sorted(table["endings"].split(), key=lambda ending: (-len(ending), ending))),
            is_known=True,
        )
        for language, table in tables.items()
    }


def clean_text(text: str) -> str:
    """One line without characters that cannot be seen."""
    kept = (" " if character.isspace() else character for character in text[:MAX_TEXT_CHARACTERS])
    return " ".join("".join(each for each in kept if unicodedata.category(each)[0] != "C").split())


def words_of(text: str) -> list[str]:
    """Words in small letters; scripts without blanks give pairs of neighbours, which serve as words."""
    found: list[str] = []
    for match in _WORD.finditer(text[:MAX_TEXT_CHARACTERS].lower().replace("’", "'")):
        word = match.group()
        if word.isascii() or not any(map(unspaced, word)):
            found.append(word)
        else:
            found += [word[at : at + 2] for at in range(max(1, len(word) - 1))]
    return found


def stems(text: str, *, language: str) -> list[str]:
    """What a text is about: its words in their order, without small ones and without endings."""
    known = vocabulary(language)
    return [_stem(word, known.endings) for word in words_of(text) if not known.says_little(word)]


@lru_cache(maxsize=65536)
def _stem(word: str, endings: tuple[str, ...]) -> str:
    word = word.removesuffix("'s")
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
            stem = word[: -len(ending)]
            # "running" and "run" are one word; so are "seeing" and "see", whose letter belongs to it.
            doubled = len(stem) > MIN_STEM and stem[-1] == stem[-2] and stem[-1] not in "aeiou"
            return stem[:-1] if doubled else stem
    return word


def points_back(text: str, *, language: str) -> bool:
    """Whether a sentence begins with a word that needs what was said before it."""
    first = next(iter(words_of(text[:80])), "")
    return first in vocabulary(language).back
