"""Per-language words for symbols, dates and units, loaded from speech_words.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from cutroom.text.speech_numbers import Agreement

PluralForms = tuple[str, str]  # singular and plural
_MIN_NOUN_LETTERS = 4  # shorter words with the ending of a noun are often articles and pronouns


@dataclass(frozen=True, slots=True)
class CurrencyForms:
    """Names of a currency's major and minor unit."""

    major: PluralForms
    minor: PluralForms


@dataclass(frozen=True, slots=True)
class SpeechLexicon:
    """Words and formats of one language for `normalize_for_speech`."""

    language: str  # lower-case tag, for number words
    thousands: str  # digit group separators
    decimal: str  # decimal mark
    point: str  # decimal mark as read aloud
    months: tuple[str, ...]
    date: str  # format of day, month and year
    first_day: str  # reading of the first of a month; empty if regular
    hour_and_minutes: PluralForms
    full_hour: PluralForms
    money: Mapping[str, CurrencyForms]
    major_and_minor: str  # format of an amount with both units
    of_money: str  # between a magnitude such as million and the currency
    magnitudes: tuple[str, ...]
    short_magnitudes: Mapping[str, PluralForms]  # as in $5M
    units: Mapping[str, PluralForms]
    degrees: Mapping[str, PluralForms]
    fractions: Mapping[str, str]
    percent: str
    abbreviations: Mapping[str, str]
    signs: Mapping[str, str]
    to: str  # as in 10-20
    by: str  # as in 1920x1080
    times: PluralForms  # as in 2x
    minus: str
    number: str  # as in #5
    version: str  # as in v2
    dot: str
    at: str
    slash: str
    hyphen: str
    underscore: str
    feminine: frozenset[str]  # nouns
    masculine: frozenset[str]  # nouns and other words that are not feminine in spite of their ending
    feminine_endings: tuple[str, ...]  # of plural nouns
    plural_endings: tuple[str, ...]  # of other nouns that number words agree with
    month_first: bool = False  # in dates with slashes

    @property
    def primary_language(self) -> str:
        return self.language.partition("-")[0]

    @property
    def version_point(self) -> str:
        return self.point if self.decimal == "." else self.dot

    def agreement(self, noun: str, count: int) -> Agreement:
        """How a number agrees with the word after it."""
        word = noun.lower()
        if word in self.feminine:
            return Agreement.FEMININE
        if word in self.masculine:
            return Agreement.MASCULINE
        if count == 1 or len(word) < _MIN_NOUN_LETTERS:
            return Agreement.NONE  # `Brewbird 1 custa`: the word may be a verb
        if word.endswith(self.feminine_endings):
            return Agreement.FEMININE
        return Agreement.MASCULINE if word.endswith(self.plural_endings) else Agreement.NONE


@lru_cache(maxsize=64)
def speech_lexicon(language: str) -> SpeechLexicon | None:
    """Lexicon of a lower-case language tag; None if unsupported."""
    table = _tables().get(language.partition("-")[0])
    if table is None:
        return None
    money = {sign: CurrencyForms(_pair(words, 0), _pair(words, 2)) for sign, words in table["money"].items()}
    codes = {"US$": "$", "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "BRL": "R$", "INR": "₹"}
    pairs = ("units", "degrees", "short_magnitudes")
    return SpeechLexicon(
        **{
            **table,
            "language": language,
            "months": tuple(table["months"].split("|")),
            "magnitudes": tuple(table["magnitudes"].split("|")),
            "full_hour": _pair(table["full_hour"]),
            "hour_and_minutes": _pair(table["hour_and_minutes"]),
            "times": _pair(table["times"]),
            "money": {**money, **{code: money[sign] for code, sign in codes.items()}},
            **{name: {unit: _pair(words) for unit, words in table[name].items()} for name in pairs},
            **{name: frozenset(table[name].split()) for name in ("feminine", "masculine")},
            **{name: tuple(table[name].split()) for name in ("feminine_endings", "plural_endings")},
            "month_first": language in {"en", "en-us"},
        }
    )


def _pair(words: str, at: int = 0) -> PluralForms:
    """Words without a plural form are listed once."""
    each = words.split("|")
    return each[at], each[min(at + 1, len(each) - 1)]


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("speech_words.toml").read_text(encoding="utf-8"))
