"""Text normalization for speech: spells out numbers, money, units, dates, times, addresses and abbreviations."""

# ruff: noqa: RUF001 (symbols look like letters)

import re
from collections.abc import Callable
from functools import cache

from cutroom.text.speech_amounts import (
    spell_fractions,
    spell_glued_numbers,
    spell_measures,
    spell_money,
    spell_numbers,
    spell_ordinals,
    spell_ranges,
    spell_versions,
)
from cutroom.text.speech_dates import spell_centuries, spell_dates, spell_decades, spell_times, spell_years
from cutroom.text.speech_east_asian import spell_chinese, spell_japanese
from cutroom.text.speech_markers import mark_number, remove_markers, separate_numbers
from cutroom.text.speech_numbers import MAX_DIGITS, digits
from cutroom.text.speech_words import SpeechLexicon, speech_lexicon

_MIN_TELEPHONE_DIGITS = 7

# Repetitions are bounded to avoid quadratic time on near matches.
_PATH = r"[^\s<>\"“”]{0,500}[^\s<>\"“”.,;:!?)\]']"
_ENDINGS = "com|org|net|io|br|de|es|fr|it|uk|eu|dev|app"
_URL = re.compile(
    rf"(?:https?://|www\.){_PATH}|(?<![\w.-])[a-z0-9-]{{1,63}}(?:\.[a-z0-9-]{{1,63}}){{0,4}}\.(?:{_ENDINGS})\b(?:/{_PATH})?",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}\b")
_TELEPHONE = re.compile(
    r"(?<![\d.,/-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,4}\)[ .-]?)?\d{2,5}(?:[ .-]\d{2,5}){1,4}(?![\d.,/-]*\d)"
)
_LONG_DIGITS = re.compile(rf"(?<![\d.,:/])(?<!\d )(?:0\d+|\d{{{MAX_DIGITS + 1},}})(?![\d.,:/]*\d)")
_YEARS = re.compile(r"(?:1\d|20)\d\d(?:[ -](?:1\d|20)\d\d)+")
_NUMBER_SIGN = re.compile(r"#(?=\d)")
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " "})

_EAST_ASIAN = {"ja": spell_japanese, "zh": spell_chinese}

_Rule = Callable[[str, SpeechLexicon], str]


def normalize_for_speech(text: str, language: str) -> str:
    """Applies the rules of the language; text in unsupported languages is unchanged."""
    language = language.lower().replace("_", "-")
    if spell := _EAST_ASIAN.get(language.partition("-")[0]):
        return spell(text)
    lexicon = speech_lexicon(language)
    if lexicon is None:
        return text
    text = remove_markers(text).translate(_SPACES)
    for rule in _RULES:
        text = rule(text, lexicon)
    return re.sub(r"(?<=\S) {2,}", " ", separate_numbers(text))


def _addresses(text: str, lexicon: SpeechLexicon) -> str:
    named = {".": lexicon.dot, "@": lexicon.at, "/": lexicon.slash, "-": lexicon.hyphen, "_": lexicon.underscore}

    def read(address: str) -> str:
        address = re.sub(r"^https?://", "", address, flags=re.IGNORECASE)
        address = re.sub(r"^www\.", "", address, flags=re.IGNORECASE).rstrip("/")
        address = re.sub(r"[?#].*$", "", address)
        return " ".join(re.sub(r"[^\w]|_", lambda match: f" {named.get(match[0], ' ')} ", address).split())

    text = _EMAIL.sub(lambda match: read(match[0]), text)
    return _URL.sub(lambda match: read(match[0]), text)


def _telephones(text: str, lexicon: SpeechLexicon) -> str:
    def read(match: re.Match[str]) -> str:
        groups = re.findall(r"\d+", match[0])
        if sum(map(len, groups)) < _MIN_TELEPHONE_DIGITS or not _is_telephone_number(match[0]):
            return match[0]
        return mark_number(", ".join(digits(group, lexicon.language) for group in groups))

    text = _TELEPHONE.sub(read, text)
    return _LONG_DIGITS.sub(lambda match: mark_number(digits(match[0], lexicon.language)), text)


def _is_telephone_number(number: str) -> bool:
    """Excludes grouped large numbers, lists of numbers, and ranges of years or round numbers."""
    if number.startswith(("+", "(", "0")):
        return True
    is_list = re.fullmatch(r"\d\d(?: \d\d)+", number)
    is_round_range = re.fullmatch(r"\d+0-\d+0", number)
    is_grouped = re.fullmatch(r"\d{1,3}(?:[ .]\d{3})+", number)
    return not (_YEARS.fullmatch(number) or is_list or is_round_range or is_grouped)


def _abbreviations(text: str, lexicon: SpeechLexicon) -> str:
    pattern = _abbreviation_pattern(tuple(lexicon.abbreviations))

    def read(match: re.Match[str]) -> str:
        rest = match.string[match.end() :]
        if lexicon.abbreviations[match[0]] == lexicon.number and not rest.lstrip()[:1].isdigit():
            return match[0]
        # The abbreviation's period may also end the sentence.
        at_end = match[0].endswith(".") and (not rest.strip() or rest.startswith(("\n", '"', "”")))
        return lexicon.abbreviations[match[0]] + ("." if at_end else "")

    return pattern.sub(read, text)


@cache
def _abbreviation_pattern(abbreviations: tuple[str, ...]) -> re.Pattern[str]:
    listed = "|".join(re.escape(each) for each in sorted(abbreviations, key=len, reverse=True))
    return re.compile(rf"(?<![\w.])(?:{listed})(?!\w)")


def _signs(text: str, lexicon: SpeechLexicon) -> str:
    text = _NUMBER_SIGN.sub(f"{lexicon.number} ", text)
    text = re.sub(r"\s?[&]\s?", f" {lexicon.signs['&']} ", text)
    text = re.sub(r"(?<=\w)\s?@\s?(?=\w)|(?<=\s)@(?=\w)|^@(?=\w)", f" {lexicon.signs['@']} ", text).lstrip()
    for sign in "+=×÷":
        text = re.sub(rf"(?<=\w)\s?{re.escape(sign)}\s?(?=\w)", f" {lexicon.signs[sign]} ", text)
    return re.sub(r"(?<=\S) {2,}", " ", text)


# The order matters: a rule spells its numbers, so that later rules do not see them.
_RULES: tuple[_Rule, ...] = (
    _addresses,
    spell_dates,
    _telephones,
    spell_times,
    _abbreviations,
    spell_dates,  # again, for months that were abbreviated
    spell_centuries,
    spell_versions,
    spell_ranges,
    spell_money,
    spell_decades,
    spell_fractions,
    spell_measures,
    spell_ordinals,
    spell_years,
    _signs,
    spell_glued_numbers,
    spell_numbers,
)
