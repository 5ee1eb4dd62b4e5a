"""Finds numbers in a text: digits in any format and, for a few languages, number words.

Words are limited to integers in English, Portuguese and Spanish. Spelled fractions, numbers spelled digit by digit, and
"one", which is mostly an article or a pronoun, are not parsed.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from cutroom.text.number_words import EMPTY_LEXICON, LENIENT_WORDS, LEXICONS

MAX_DIGITS = 40  # longer digit runs are keys, not numbers
HOURS = 12
CODE_DIGITS = 3  # with a leading zero, at least this many digits are a code such as 007
# Thousands separator by language; Spanish uses either, depending on the country.
_GROUP_MARKS = {
    **dict.fromkeys(("en", "zh", "ja", "ko", "th", "he", "hi"), ","),
    **dict.fromkeys(("pt", "fr", "de", "it", "nl", "ca", "gl", "ro", "pl", "ru", "uk", "tr", "sv", "da", "nb"), "."),
}

_GROUPED = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?"
_NUMBER = rf"(?:{_GROUPED}|\d+(?:[.,'\u2019]\d+)*)"
_TOKEN = re.compile(
    rf"(?P<time>\d{{1,2}}\s?[:hH]\s?\d{{2}}(?::\d{{2}})?(?!\d))"
    rf"|(?P<number>{_NUMBER})(?P<part>[\u00bc-\u00be\u2153-\u215e])?(?P<decade>['\u2019]?s\b)?"
    rf"|(?P<word>[^\W\d_]+)"
)
_HALF_OF_DAY = re.compile(r"\s*(?:(?P<half>[ap])\.?\s?m\b|o['\u2019]clock)", re.IGNORECASE)
# "Por cento" means percent, not 100.
_HUNDREDTHS = frozenset({"cento", "ciento", "cien"})
_PER = re.compile(r"\bpor\s+$", re.IGNORECASE)
PER_CHARACTERS = 8
_GAP = re.compile(r"[\s-]*")
_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


class DayHalf(StrEnum):
    """AM or PM."""

    MORNING = "a"
    EVENING = "p"


@dataclass(frozen=True, slots=True)
class NumberMention:
    """A number in a text, with every value it may mean."""

    text: str
    values: frozenset[Fraction]
    parts: tuple[int, ...] = ()  # hours and minutes, if it may be a time of day
    spelled: bool = False
    half: DayHalf | None = None  # if stated
    code: str = ""  # all digits, if leading zeros matter


def has_number_words(language: str) -> bool:
    return language in LEXICONS


def find_numbers(text: str, *, language: str, lenient: bool = False) -> list[NumberMention]:
    """Every number in the text; `lenient` adds ordinals, months, Roman numerals, "one" and "both"."""
    found: list[NumberMention] = []
    words = _WordParser(text, language=language, lenient=lenient)
    group_mark = None if lenient else _GROUP_MARKS.get(language)
    for match in _TOKEN.finditer(text):
        if match["word"]:
            found += words.push(match)
            continue
        if match["number"] and not match["part"] and words.scale_after(match.end()):
            found += words.flush()
            words.push_digits(match, sorted(_values(match["number"]))[-1:])
            continue
        found += words.flush()
        if match["time"] or (_time_parts(match["number"]) and _stated_half(text, match.end())):
            found += _times(match["time"] or match["number"], text, match.end())
        else:
            found += _digits(match, text, group_mark=group_mark)
    return found + words.flush()


def fold_accents(word: str) -> str:
    """Lower case without accents, as in the tables."""
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))


def parse_roman(word: str) -> int | None:
    if not word or not _ROMAN.fullmatch(word):
        return None
    values = [_ROMAN_VALUES[letter] for letter in word]
    return sum(-each if each < after else each for each, after in zip(values, [*values[1:], 0], strict=True))


def _times(matched: str, text: str, end: int) -> Iterator[NumberMention]:
    """Hours and nonzero minutes as separate numbers, because full hours are often written without minutes."""
    split = [matched[:2], matched[2:]] if matched.isdecimal() else re.split(r"\D+", matched)
    hours, *rest = map(int, split)
    half = _stated_half(text, end)
    if half is None and hours % (2 * HOURS) == 0:
        half = DayHalf.MORNING
    elif half is None and hours > HOURS:
        half = DayHalf.EVENING
    yield NumberMention(matched, _hour(hours, half), half=half)
    yield from (NumberMention(matched, frozenset({Fraction(part)})) for part in rest if part)


def _stated_half(text: str, at: int) -> DayHalf | None:
    match = _HALF_OF_DAY.match(text, at)
    return DayHalf(match["half"].lower()) if match is not None and match["half"] else None


def _hour(hours: int, half: DayHalf | None) -> frozenset[Fraction]:
    """Equivalent hours on 12- and 24-hour clocks; midnight is 12, 0 and 24."""
    early = {hours % HOURS} | ({HOURS, 2 * HOURS} if hours % HOURS == 0 else set())
    late = {hours % HOURS or HOURS, hours % HOURS + HOURS}
    chosen = {DayHalf.MORNING: early, DayHalf.EVENING: late, None: early | late}[half]
    return frozenset(map(Fraction, {hours, *chosen}))


def _digits(match: re.Match[str], text: str, *, group_mark: str | None) -> Iterator[NumberMention]:
    matched = match.group()
    values = _values(match["number"], group_mark=group_mark)
    if not values:  # a date, a version, or invalid separators
        for part in re.split(r"\D+", match["number"]):
            yield NumberMention(matched, frozenset({Fraction(int(part[:MAX_DIGITS]))}))
        return
    if match["part"]:
        part = Fraction(unicodedata.numeric(match["part"])).limit_denominator(8)
        values = frozenset(value + part for value in values)
    integers = [int(value) for value in values if value.denominator == 1]
    if match["decade"]:
        values |= {Fraction(each % 100) for each in integers} | {
            Fraction(1900 + each) for each in integers if each < 100
        }
    half = _stated_half(text, match.end())
    if any(1 <= each <= HOURS for each in integers) and _HALF_OF_DAY.match(text, match.end()):
        values |= {value for each in integers for value in _hour(each, half)}
    code = "" if match["part"] or match["decade"] else _leading_zero_code(match["number"])
    yield NumberMention(matched, values, _time_parts(match["number"]), half=half, code=code)


def _leading_zero_code(number: str) -> str:
    """The digits of a number with a leading zero, else an empty string."""
    if len(number) < CODE_DIGITS or not number.isdecimal():
        return ""
    digits = "".join(str(unicodedata.decimal(digit)) for digit in number)
    return digits if digits[0] == "0" else ""


def _time_parts(number: str) -> tuple[int, ...]:
    """Hours and minutes of times written as 10.30 or 0730."""
    hours, dot, minutes = number.partition(".")
    if not dot and len(number) == 4 and _leading_zero_code(number):
        hours, dot, minutes = number[:2], ".", number[2:]
    if dot and hours.isdecimal() and minutes.isdecimal() and len(minutes) == 2 and int(hours[:3]) < 24:
        return tuple(each for each in (int(hours), int(minutes)) if each) if int(minutes) < 60 else ()
    return ()


def _values(number: str, *, group_mark: str | None = None) -> frozenset[Fraction]:
    """Possible values under any country's separators; empty if the separators fit none.

    A known thousands separator is never a decimal mark, and three trailing zeros always mean thousands.
    """
    groups = re.split(r"\D", number)
    marks = re.findall(r"\D", number)
    if sum(map(len, groups)) > MAX_DIGITS:
        return frozenset()
    if not marks:
        return frozenset({Fraction(int(number))})
    values = set()
    three = all(len(group) == 3 for group in groups[1:]) and len(groups[0]) <= 3 and len(set(marks)) == 1
    in_thousands = three and int(groups[0][0]) > 0
    if in_thousands:
        values.add(Fraction(int("".join(groups))))
        if marks[0] == group_mark or not int(groups[-1]):
            return frozenset(values)
    *thousands, decimals = groups
    decimal_mark, group_marks = marks[-1], set(marks[:-1])
    grouped = all(len(group) == 3 for group in thousands[1:]) and (len(thousands) == 1 or len(thousands[0]) <= 3)
    if decimal_mark in ".," and grouped and decimal_mark not in group_marks and len(group_marks) <= 1:
        if decimal_mark == "." and group_mark == ",":
            values.clear()
        values.add(Fraction(int("".join(thousands))) + Fraction(int(decimals), 10 ** len(decimals)))
    return frozenset(values)


class _WordParser:
    """Parses consecutive number words."""

    def __init__(self, text: str, *, language: str, lenient: bool) -> None:
        self._text = text
        self._words = LEXICONS.get(language, EMPTY_LEXICON)
        self._lenient_words = LENIENT_WORDS.get(language, {}) if lenient else {}
        self._lenient = lenient
        self._clear()

    def _clear(self) -> None:
        self._total = self._current = Fraction(0)
        self._start = self._end = self._text_end = -1
        self._decade = self._joined = self._digits = False

    def push(self, match: re.Match[str]) -> list[NumberMention]:
        word = fold_accents(match.group())
        if word in _HUNDREDTHS and _PER.search(self._text, max(0, match.start() - PER_CHARACTERS), match.start()):
            return self.flush()
        adjacent = self._start >= 0 and _GAP.fullmatch(self._text, self._end, match.start()) is not None
        done = [] if adjacent else self.flush()
        if word in self._words.joiners and adjacent and self._may_join():
            self._joined, self._end = True, match.end()
            return done
        # "Millions of people" is not a number.
        if word in self._words.scales and (self._start >= 0 or not word.endswith("s")):
            self._scale(self._words.scales[word])
        elif (value := self._value(word, match.start(), adjacent=adjacent)) is not None:
            if self._start >= 0 and not self._add(value):
                done += self.flush()
            if self._start < 0:
                self._current = Fraction(value)
            self._decade = word in self._words.decades
        else:
            return done + self.flush() + self._lenient_match(match)
        self._start = match.start() if self._start < 0 else self._start
        self._end = self._text_end = match.end()
        self._joined = False
        return done

    def push_digits(self, match: re.Match[str], values: list[Fraction]) -> None:
        self._current = values[0] if values else Fraction(1)
        self._start, self._digits = match.start(), True
        self._end = self._text_end = match.end()

    def scale_after(self, at: int) -> bool:
        match = re.compile(r"[\s-]+([^\W\d_]+)").match(self._text, at)
        return match is not None and fold_accents(match[1]) in self._words.scales

    def flush(self) -> list[NumberMention]:
        if self._start < 0:
            return []
        value = self._total + self._current
        matched = self._text[self._start : self._text_end]
        values = {value} | ({value % 100} if self._decade and value >= 100 else set())
        if self._decade and value < 100:
            values.add(1900 + value)
        half = _stated_half(self._text, self._text_end)
        if 1 <= value <= HOURS and _HALF_OF_DAY.match(self._text, self._text_end):
            values |= _hour(int(value), half)
        spelled = not self._digits
        self._clear()
        return [NumberMention(matched, frozenset(values), spelled=spelled, half=half)]

    def _value(self, word: str, at: int, *, adjacent: bool) -> int | None:
        value = self._words.values.get(word) or self._words.decades.get(word)
        if value is None and adjacent and self._current >= 20 and self._current % 10 == 0:
            value = self._words.ones.get(word)
            # "twenty-first" is 21, but "twenty second breaks" is not 22.
            if value is None and self._text[at - 1] == "-":
                value = self._words.last_ordinals.get(word)
        return value

    def _may_join(self) -> bool:
        return not self._joined and (self._words.joins_tens or self._total > 0 or self._current >= 100)

    def _add(self, value: int) -> bool:
        """Adds a smaller value to the current number if it fits; returns whether it did."""
        if self._current == 0 and self._total:
            self._current = Fraction(value)
        elif self._current and self._current % 10 ** len(str(value)) == 0 and not self._digits:
            self._current += value
        elif self._words.says_years_by_hundreds and 10 <= self._current < 100 and 10 <= value < 100 and not self._total:
            self._current = self._current * 100 + value
        else:
            return False
        return True

    def _scale(self, scale: int) -> None:
        if self._start < 0:
            self._current = Fraction(1)
        if scale in {12, 100}:
            self._current = (self._current or Fraction(1)) * scale
        elif self._total and scale > self._total:
            self._total, self._current = (self._total + self._current) * scale, Fraction(0)
        else:
            self._total, self._current = self._total + (self._current or 1) * scale, Fraction(0)

    def _lenient_match(self, match: re.Match[str]) -> list[NumberMention]:
        if not self._lenient:
            return []
        value = self._lenient_words.get(fold_accents(match.group())) or parse_roman(match.group())
        return [NumberMention(match.group(), frozenset({Fraction(value)}), spelled=True)] if value else []
