"""Reads the numbers in a text, in digits of any style and, for a few languages, in words.

Modest by intent: whole numbers in words in English, Portuguese and Spanish. Fractions in words, numbers said digit by
digit, and "one", which is an article or a pronoun more often than a number, are not read.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from cutroom.text.number_words import LOOSE_WORDS, NUMBER_WORDS, WORDS_BY_LANGUAGE

DIGITS_LIMIT = 40  # of one number; what is longer is a key rather than a number
HOURS = 12
CODE_DIGITS = 3  # so many with a zero in front are a code such as 007, of which every digit counts
# Which mark parts thousands; Spanish has either, by country.
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
# "Por cento" is a sign, like %.
_HUNDREDTHS = frozenset({"cento", "ciento", "cien"})
_PER = re.compile(r"\bpor\s+$", re.IGNORECASE)
PER_CHARACTERS = 8
_GAP = re.compile(r"[\s-]*")
_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


class Half(StrEnum):
    """Of the day."""

    MORNING = "a"
    EVENING = "p"


@dataclass(frozen=True, slots=True)
class Mention:
    """One number in a text: every value that it may stand for, or else several numbers that say the same."""

    text: str
    values: frozenset[Fraction]
    parts: tuple[int, ...] = ()
    spelled: bool = False
    half: Half | None = None  # if it is an hour that says so
    code: str = ""  # its digits, if each of them counts


def reads_words(language: str) -> bool:
    return language in WORDS_BY_LANGUAGE


def read_numbers(text: str, *, language: str, loosely: bool = False) -> list[Mention]:
    """Every number in the text. Loosely, also what may be one: ordinals, months, Roman numerals, "one", "both"."""
    found: list[Mention] = []
    words = _Words(text, language=language, loosely=loosely)
    group_mark = None if loosely else _GROUP_MARKS.get(language)
    for match in _TOKEN.finditer(text):
        if match["word"]:
            found += words.take(match)
            continue
        if match["number"] and not match["part"] and words.scale_after(match.end()):
            found += words.flush()
            words.take_digits(match, sorted(_values(match["number"]))[-1:])
            continue
        found += words.flush()
        if match["time"] or (_as_time(match["number"]) and _half_said(text, match.end())):
            found += _times(match["time"] or match["number"], text, match.end())
        else:
            found += _digits(match, text, group_mark=group_mark)
    return found + words.flush()


def plain(word: str) -> str:
    """Without accents and in small letters, as the tables have it."""
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))


def roman(word: str) -> int | None:
    if not word or not _ROMAN.fullmatch(word):
        return None
    values = [_ROMAN_VALUES[letter] for letter in word]
    return sum(-each if each < after else each for each, after in zip(values, [*values[1:], 0], strict=True))


def _times(shown: str, text: str, end: int) -> Iterator[Mention]:
    """Full hours are often said without minutes."""
    split = [shown[:2], shown[2:]] if shown.isdecimal() else re.split(r"\D+", shown)
    hours, *rest = map(int, split)
    half = _half_said(text, end)
    if half is None and hours % (2 * HOURS) == 0:
        half = Half.MORNING
    elif half is None and hours > HOURS:
        half = Half.EVENING
    yield Mention(shown, _hour(hours, half), half=half)
    yield from (Mention(shown, frozenset({Fraction(part)})) for part in rest if part)


def _half_said(text: str, at: int) -> Half | None:
    match = _HALF_OF_DAY.match(text, at)
    return Half(match["half"].lower()) if match is not None and match["half"] else None


def _hour(hours: int, half: Half | None) -> frozenset[Fraction]:
    """How else an hour may be written, by twelve hours or by twenty-four; midnight is 12, 0 and 24."""
    early = {hours % HOURS} | ({HOURS, 2 * HOURS} if hours % HOURS == 0 else set())
    late = {hours % HOURS or HOURS, hours % HOURS + HOURS}
    chosen = {Half.MORNING: early, Half.EVENING: late, None: early | late}[half]
    return frozenset(map(Fraction, {hours, *chosen}))


def _digits(match: re.Match[str], text: str, *, group_mark: str | None) -> Iterator[Mention]:
    shown = match.group()
    values = _values(match["number"], group_mark=group_mark)
    if not values:  # a date, a version, or separators that make no number
        for part in re.split(r"\D+", match["number"]):
            yield Mention(shown, frozenset({Fraction(int(part[:DIGITS_LIMIT]))}))
        return
    if match["part"]:
        part = Fraction(unicodedata.numeric(match["part"])).limit_denominator(8)
        values = frozenset(value + part for value in values)
    whole = [int(value) for value in values if value.denominator == 1]
    if match["decade"]:
        values |= {Fraction(each % 100) for each in whole} | {Fraction(1900 + each) for each in whole if each < 100}
    half = _half_said(text, match.end())
    if any(1 <= each <= HOURS for each in whole) and _HALF_OF_DAY.match(text, match.end()):
        values |= {value for each in whole for value in _hour(each, half)}
    code = "" if match["part"] or match["decade"] else _code(match["number"])
    yield Mention(shown, values, _as_time(match["number"]), half=half, code=code)


def _code(number: str) -> str:
    """The digits, where a zero in front says that each of them counts."""
    if len(number) < CODE_DIGITS or not number.isdecimal():
        return ""
    digits = "".join(str(unicodedata.decimal(digit)) for digit in number)
    return digits if digits[0] == "0" else ""


def _as_time(number: str) -> tuple[int, ...]:
    """Some write 10.30 for a time of the day, and some 0730."""
    hours, dot, minutes = number.partition(".")
    if not dot and len(number) == 4 and _code(number):
        hours, dot, minutes = number[:2], ".", number[2:]
    if dot and hours.isdecimal() and minutes.isdecimal() and len(minutes) == 2 and int(hours[:3]) < 24:
        return tuple(each for each in (int(hours), int(minutes)) if each) if int(minutes) < 60 else ()
    return ()


def _values(number: str, *, group_mark: str | None = None) -> frozenset[Fraction]:
    """What the number may mean by the rules of any country; nothing when the separators fit none.

    Where it is known which mark parts thousands, that mark does nothing else; and nobody writes three zeros behind
    a mark to say nothing.
    """
    groups = re.split(r"\D", number)
    marks = re.findall(r"\D", number)
    if sum(map(len, groups)) > DIGITS_LIMIT:
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


class _Words:
    """Puts numbers together from words that follow each other."""

    def __init__(self, text: str, *, language: str, loosely: bool) -> None:
        self._text = text
        self._words = WORDS_BY_LANGUAGE.get(language, NUMBER_WORDS)
        self._loose = LOOSE_WORDS.get(language, {}) if loosely else {}
        self._loosely = loosely
        self._clear()

    def _clear(self) -> None:
        self._total = self._current = Fraction(0)
        self._start = self._end = self._shown = -1
        self._decade = self._joined = self._digits = False

    def take(self, match: re.Match[str]) -> list[Mention]:
        word = plain(match.group())
        if word in _HUNDREDTHS and _PER.search(self._text, max(0, match.start() - PER_CHARACTERS), match.start()):
            return self.flush()
        touching = self._start >= 0 and _GAP.fullmatch(self._text, self._end, match.start()) is not None
        done = [] if touching else self.flush()
        if word in self._words.joiners and touching and self._may_join():
            self._joined, self._end = True, match.end()
            return done
        # "Millions of people" names no number.
        if word in self._words.scales and (self._start >= 0 or not word.endswith("s")):
            self._scale(self._words.scales[word])
        elif (value := self._value(word, match.start(), touching=touching)) is not None:
            if self._start >= 0 and not self._add(value):
                done += self.flush()
            if self._start < 0:
                self._current = Fraction(value)
            self._decade = word in self._words.decades
        else:
            return done + self.flush() + self._maybe(match)
        self._start = match.start() if self._start < 0 else self._start
        self._end = self._shown = match.end()
        self._joined = False
        return done

    def take_digits(self, match: re.Match[str], values: list[Fraction]) -> None:
        self._current = values[0] if values else Fraction(1)
        self._start, self._digits = match.start(), True
        self._end = self._shown = match.end()

    def scale_after(self, at: int) -> bool:
        match = re.compile(r"[\s-]+([^\W\d_]+)").match(self._text, at)
        return match is not None and plain(match[1]) in self._words.scales

    def flush(self) -> list[Mention]:
        if self._start < 0:
            return []
        value = self._total + self._current
        shown = self._text[self._start : self._shown]
        values = {value} | ({value % 100} if self._decade and value >= 100 else set())
        if self._decade and value < 100:
            values.add(1900 + value)
        half = _half_said(self._text, self._shown)
        if 1 <= value <= HOURS and _HALF_OF_DAY.match(self._text, self._shown):
            values |= _hour(int(value), half)
        spelled = not self._digits
        self._clear()
        return [Mention(shown, frozenset(values), spelled=spelled, half=half)]

    def _value(self, word: str, at: int, *, touching: bool) -> int | None:
        value = self._words.values.get(word) or self._words.decades.get(word)
        if value is None and touching and self._current >= 20 and self._current % 10 == 0:
            value = self._words.ones.get(word)
            # "twenty-first" is a number; "twenty second breaks" are no twenty-two.
            if value is None and self._text[at - 1] == "-":
                value = self._words.last_ordinals.get(word)
        return value

    def _may_join(self) -> bool:
        return not self._joined and (self._words.joins_tens or self._total > 0 or self._current >= 100)

    def _add(self, value: int) -> bool:
        """Whether the value fits behind what came before, as a smaller part of the same number."""
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

    def _maybe(self, match: re.Match[str]) -> list[Mention]:
        if not self._loosely:
            return []
        value = self._loose.get(plain(match.group())) or roman(match.group())
        return [Mention(match.group(), frozenset({Fraction(value)}), spelled=True)] if value else []
