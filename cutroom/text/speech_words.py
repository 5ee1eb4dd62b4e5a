"""Per-language words for symbols, dates and units, loaded from speech_words.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PluralForms = tuple[str, str]  # singular and plural


@dataclass(frozen=True, slots=True)
class CurrencyForms:
    """Names of a currency's major and minor unit."""

    major: PluralForms
    minor: PluralForms


@dataclass(frozen=True, slots=True)
class SpeechLexicon:
    """Words and formats of one language for `normalize_for_speech`."""

    thousands: str  # digit group separators
    decimal: str  # decimal mark
    point: str  # decimal mark as read aloud
    months: tuple[str, ...]
    date: str  # format of day, month and year
    first_day: str  # reading of the first of a month; empty if regular
    hour_and_minutes: str
    full_hour: PluralForms
    money: Mapping[str, CurrencyForms]
    major_and_minor: str  # format of an amount with both units
    of_money: str  # between a magnitude such as million and the currency
    magnitudes: tuple[str, ...]
    units: Mapping[str, PluralForms]
    degrees: Mapping[str, PluralForms]
    percent: str
    abbreviations: Mapping[str, str]
    signs: Mapping[str, str]
    to: str  # as in 10-20
    minus: str
    number: str  # as in #5
    dot: str
    at: str
    slash: str
    hyphen: str
    underscore: str
    month_first: bool = False  # in dates with slashes


@cache
def speech_lexicon(language: str) -> SpeechLexicon | None:
    """Lexicon by primary language; None if unsupported."""
    table = _tables().get(language)
    if table is None:
        return None
    money = {sign: CurrencyForms(_pair(words, 0), _pair(words, 2)) for sign, words in table["money"].items()}
    return SpeechLexicon(
        **{
            **table,
            "months": tuple(table["months"].split("|")),
            "magnitudes": tuple(table["magnitudes"].split("|")),
            "full_hour": _pair(table["full_hour"]),
            "money": {**money, "US$": money["$"]},
            "units": {unit: _pair(words) for unit, words in table["units"].items()},
            "degrees": {unit: _pair(words) for unit, words in table["degrees"].items()},
        }
    )


def _pair(words: str, at: int = 0) -> PluralForms:
    """Words without a plural form are listed once."""
    each = words.split("|")
    return each[at], each[min(at + 1, len(each) - 1)]


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("speech_words.toml").read_text(encoding="utf-8"))
