"""How people speak, by language: what a quote can do without, and what tells a noun, a step or a subject."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cutroom.text.writing_systems import base_of

# Words of any of the languages that turn what follows into its opposite.
DENIALS = frozenset(
    {"no", "not", "nobody", "never", "none", "don't", "não", "nunca", "ninguém", "nadie", "pas", "jamais", "ne"}
    | {"kein", "keine", "nicht", "nie", "non", "mai", "always", "sempre", "siempre", "toujours", "immer"}
)
_NEVER = re.compile(r"(?!)")
_PATTERNS = (
    "housekeeping",
    "greetings",
    "section",
    "how",
    "about",
    "lively",
    "danger",
    "mystery",
    "strong",
    "why",
    "duty",
)


@dataclass(frozen=True, slots=True)
class SpeechPatterns:
    """The words of one language as `speech.toml` explains them; all empty where the language has none there."""

    hesitations: frozenset[str] = frozenset()
    asides: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    openers: frozenset[str] = frozenset()
    comma_openers: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    before_noun: frozenset[str] = frozenset()
    before_verb: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    connectors: frozenset[str] = frozenset()
    measures: frozenset[str] = frozenset()
    sequence: frozenset[str] = frozenset()
    subordinators: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    command_ends: frozenset[str] = frozenset()
    contracted: frozenset[tuple[str, str]] = frozenset()
    joiner: str = ""
    head_first: bool = False
    housekeeping: re.Pattern[str] = _NEVER
    greetings: re.Pattern[str] = _NEVER
    section: re.Pattern[str] = _NEVER
    how: re.Pattern[str] = _NEVER
    about: re.Pattern[str] = _NEVER
    lively: re.Pattern[str] = _NEVER
    danger: re.Pattern[str] = _NEVER
    mystery: re.Pattern[str] = _NEVER
    strong: re.Pattern[str] = _NEVER
    why: re.Pattern[str] = _NEVER
    duty: re.Pattern[str] = _NEVER


def speech(language: str) -> SpeechPatterns:
    return _all().get(base_of(language), SpeechPatterns())


@cache
def _all() -> dict[str, SpeechPatterns]:
    tables = tomllib.loads(Path(__file__).with_name("speech.toml").read_text(encoding="utf-8"))
    return {language: _speech(table) for language, table in tables.items()}


def _speech(table: dict[str, Any]) -> SpeechPatterns:
    made: dict[str, Any] = {name: re.compile(table[name], re.IGNORECASE) for name in _PATTERNS}
    made |= {name: tuple(table[name]) for name in ("asides", "corrections")}
    made["contracted"] = frozenset(tuple(pair.split("=")) for pair in table["contracted"].split())
    # Words of two parts are written as one in lists that are parted by blanks.
    words = {name: text.split() for name, text in table.items() if name not in made and isinstance(text, str)}
    made |= {name: frozenset(each.replace("_", " ") for each in text) for name, text in words.items() if name != "and"}
    return SpeechPatterns(**made, joiner=table["and"], head_first=table["head_first"])
