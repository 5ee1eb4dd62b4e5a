"""Title templates and fixed lines per language."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cutroom.engines.writing.port import TitleStyle
from cutroom.text.vocabulary import words_of
from cutroom.text.writing_systems import primary_language

NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Templates:
    """Title templates by style, in order of preference, and the headings of lists."""

    titles: Mapping[TitleStyle, Sequence[str]]
    chapters: str
    steps: str
    no_steps: str
    topics: str
    words: frozenset[str]  # all words of the above, in lower case


def templates(language: str) -> Templates:
    by_language = _all()
    return by_language.get(primary_language(language), by_language[NEUTRAL])


@cache
def _all() -> dict[str, Templates]:
    tables = tomllib.loads(Path(__file__).with_name("templates.toml").read_text(encoding="utf-8"))
    found = {}
    for language, table in tables.items():
        titles = {style: tuple(table[style.value]) for style in TitleStyle}
        lines = {name: table[name] for name in ("chapters", "steps", "no_steps", "topics")}
        texts = [*(text for each in titles.values() for text in each), *lines.values()]
        words = frozenset(word for text in texts for word in words_of(re.sub(r"\{\w+\}", " ", text)))
        found[language] = Templates(titles, **lines, words=words)
    return found
