"""The words of each language for what texts write with signs; they are in speech_words.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Pair = tuple[str, str]  # for one, and for several


@dataclass(frozen=True, slots=True)
class Money:
    """A currency and its hundredth part."""

    whole: Pair
    part: Pair


@dataclass(frozen=True, slots=True)
class Words:
    """All that `spoken` needs to know of a language."""

    thousands: str  # signs that group digits
    decimal: str  # the sign before a fraction
    point: str  # and how it is read
    months: tuple[str, ...]
    date: str  # with day, month and year
    first_day: str  # how the first of a month is read; empty where it is a number like others
    hour_and_minutes: str
    full_hour: Pair
    money: Mapping[str, Money]
    money_and_part: str
    of_money: str  # between a word such as million and the currency
    magnitudes: tuple[str, ...]
    units: Mapping[str, Pair]
    degrees: Mapping[str, Pair]
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
def words_of(language: str) -> Words | None:
    """By the first part of a language's code; nothing for a language that is not in the file."""
    table = _tables().get(language)
    if table is None:
        return None
    money = {sign: Money(_pair(words, 0), _pair(words, 2)) for sign, words in table["money"].items()}
    return Words(
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


def _pair(words: str, at: int = 0) -> Pair:
    """A word that does not change stands once."""
    each = words.split("|")
    return each[at], each[min(at + 1, len(each) - 1)]


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("speech_words.toml").read_text(encoding="utf-8"))
