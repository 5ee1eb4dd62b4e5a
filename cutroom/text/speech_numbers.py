"""Spells numbers as they are spoken, in agreement with the noun that follows."""

import re
from collections.abc import Callable, Mapping
from enum import Enum

from num2words import num2words

MAX_DIGITS = 15  # longer numbers are read digit by digit
MAX_DECIMALS = 3  # in most languages, decimals up to this count are read as one number
MAX_ORDINAL = 9_999

# Converter of num2words by language tag, or by primary language; other languages keep their digits for espeak-ng.
_CONVERTERS = {"de": "de", "en": "en", "es": "es", "fr": "fr", "it": "it", "pt": "pt_BR", "pt-pt": "pt"}
_SPANISH_ORDINALS = {11: "undécimo", 12: "duodécimo"}
_PORTUGUESE_MILLIONS = re.compile(r"^(.*\b\w*ilh(?:ão|ões)\b)?(.*)$")


class Agreement(Enum):
    """The noun that a number agrees with; NONE for counting and names, such as `Brewbird 2`."""

    NONE = "none"
    MASCULINE = "masculine"
    FEMININE = "feminine"


def cardinal(value: int, language: str, agreement: Agreement = Agreement.NONE) -> str:
    """`21` as `twenty-one`, `veintiún` or `vingt et une`."""
    converter = _converter(language)
    if converter is None or len(str(abs(value))) > MAX_DIGITS:
        return str(value)
    words = str(num2words(value, lang=converter)).replace(",", "")  # a comma would be a pause
    return _CORRECTIONS[language.partition("-")[0]](words, language, agreement)


def decimal(whole: str, fraction: str, language: str, *, point: str, agreement: Agreement = Agreement.NONE) -> str:
    """A number with decimals; English and German read each decimal on its own, other languages as a number."""
    if not fraction:
        return cardinal(int(whole), language, agreement)
    if _converter(language) is None:
        return f"{whole}.{fraction}"
    zeros = len(fraction) - len(fraction.lstrip("0"))
    rest = fraction[zeros:]
    if language.startswith(("de", "en")) or len(rest) > MAX_DECIMALS:
        decimals = digits(fraction, language)
    else:
        decimals = " ".join([*([cardinal(0, language)] * zeros), *([cardinal(int(rest), language)] if rest else [])])
    return f"{cardinal(int(whole), language, agreement)} {point} {decimals}"


def digits(text: str, language: str) -> str:
    """Each digit on its own."""
    return " ".join(cardinal(int(digit), language) for digit in text)


def ordinal(value: int, language: str, *, is_feminine: bool = False) -> str:
    converter = _converter(language)
    if converter is None or not 0 < value <= MAX_ORDINAL:
        return cardinal(value, language)
    primary = language.partition("-")[0]
    words = str(num2words(value, lang=converter, to="ordinal")).replace(",", "")
    if primary == "en":
        return _english(words, language, Agreement.NONE)
    if primary == "es":
        words = _SPANISH_ORDINALS.get(value, words).replace("quadra", "cuadra")
    if primary == "de":
        return words
    if primary == "fr":
        return "première" if value == 1 and is_feminine else words
    return re.sub(r"o\b", "a", words) if is_feminine else words


def english_year(value: int, language: str) -> str:
    """`1999` as `nineteen ninety-nine`."""
    return _english(str(num2words(value, lang="en", to="year")).replace("oh-", "oh "), language, Agreement.NONE)


def german_year(value: int) -> str:
    """`1999` as `neunzehnhundertneunundneunzig`."""
    return str(num2words(value, lang="de", to="year"))


def has_number_words(language: str) -> bool:
    """Whether numbers are spelled; otherwise they stay digits for espeak-ng."""
    return _converter(language) is not None


def _converter(language: str) -> str | None:
    return _CONVERTERS.get(language) or _CONVERTERS.get(language.partition("-")[0])


def _english(words: str, language: str, agreement: Agreement) -> str:  # noqa: ARG001 - common signature
    """American English says `one hundred five`."""
    return words.replace(" and ", " ") if language in {"en", "en-us"} else words


def _portuguese(words: str, language: str, agreement: Agreement) -> str:  # noqa: ARG001 - common signature
    """`duas mil pessoas`, but `dois milhões de pessoas`."""
    match = _PORTUGUESE_MILLIONS.match(words)
    if agreement is not Agreement.FEMININE or match is None:
        return words
    rest = re.sub(r"\bum\b", "uma", re.sub(r"\bdois\b", "duas", match[2]))
    return (match[1] or "") + re.sub(r"entos\b", "entas", rest)


def _spanish(words: str, language: str, agreement: Agreement) -> str:  # noqa: ARG001 - common signature
    """`veintiún mil`, `veintiún euros`, `doscientas una horas`."""
    words = re.sub(r"\buno(?= mil)", "un", words)
    words = re.sub(r"\bveintiuno(?= mil)", "veintiún", words)
    if agreement is Agreement.FEMININE:
        words = re.sub(r"uno$", "una", words)
        words = re.sub(r"(cient|quinient)os\b(?!.* mill)", r"\1as", words)
    elif agreement is Agreement.MASCULINE:
        words = re.sub(r"veintiuno$", "veintiún", words)
        words = re.sub(r"\buno$", "un", words)
    return words


def _french(words: str, language: str, agreement: Agreement) -> str:  # noqa: ARG001 - common signature
    return re.sub(r"\bun$", "une", words) if agreement is Agreement.FEMININE else words


def _italian(words: str, language: str, agreement: Agreement) -> str:  # noqa: ARG001 - common signature
    """Long compounds are divided, because espeak-ng stresses only the last part of a word."""
    if words == "uno" and agreement is not Agreement.NONE:
        return "una" if agreement is Agreement.FEMININE else "un"
    return re.sub(r"(mille|mila|cento)(?=\w)(?!mila)", r"\1 ", words)


def _german(words: str, language: str, agreement: Agreement) -> str:  # noqa: ARG001 - common signature
    """`ein Euro`, `eine Stunde`, `hundertein Tage`."""
    ending = {Agreement.NONE: "eins", Agreement.MASCULINE: "ein", Agreement.FEMININE: "eine"}[agreement]
    return re.sub(r"eins$", ending, words)


_CORRECTIONS: Mapping[str, Callable[[str, str, Agreement], str]] = {
    "de": _german,
    "en": _english,
    "pt": _portuguese,
    "es": _spanish,
    "fr": _french,
    "it": _italian,
}
