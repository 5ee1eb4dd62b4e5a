"""Headings of descriptions per language."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cutroom.text.vocabulary import words_of
from cutroom.text.writing_systems import primary_language


@dataclass(frozen=True, slots=True)
class Headings:
    """The only words of a text that do not come from the transcript; empty for other languages."""

    chapters: str = ""
    steps: str = ""
    no_steps: str = ""

    @property
    def words(self) -> frozenset[str]:
        return frozenset(words_of(f"{self.chapters} {self.steps} {self.no_steps}"))


def headings(language: str) -> Headings:
    return _all().get(primary_language(language), Headings())


@cache
def _all() -> dict[str, Headings]:
    tables = tomllib.loads(Path(__file__).with_name("headings.toml").read_text(encoding="utf-8"))
    return {language: Headings(**table) for language, table in tables.items()}
