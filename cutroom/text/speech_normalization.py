"""Text normalization for speech: spells out money, units, dates, times, addresses and abbreviations.

Plain numbers and ordinals stay, because espeak-ng reads them correctly.
"""

# ruff: noqa: RUF001 (symbols look like letters)

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from cutroom.text.speech_words import PluralForms, SpeechLexicon, speech_lexicon

MAX_DIGITS = 15  # longer numbers are read digit by digit
_MIN_TELEPHONE_DIGITS = 7

# Repetitions are bounded to avoid quadratic time on near matches.
_PATH = r"[^\s<>\"“”]{0,500}[^\s<>\"“”.,;:!?)\]']"
_ENDINGS = "com|org|net|io|br|es|fr|it|uk|eu|dev|app"
_URL = re.compile(
    rf"(?:https?://|www\.){_PATH}|(?<![\w.-])[a-z0-9-]{{1,63}}(?:\.[a-z0-9-]{{1,63}}){{0,4}}\.(?:{_ENDINGS})\b(?:/{_PATH})?",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}\b")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DATE = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?![\d/])")
_TIME = re.compile(
    r"(?<![\d:.,])([01]?\d|2[0-3])(?::([0-5]\d)|\s?h\s?([0-5]\d)?)(?![\d:\w])(?:\s?([ap])\.?m\b\.?)?", re.IGNORECASE
)
_ENGLISH_HOUR = re.compile(r"(?<![\d:.,])(\d{1,2})(?::([0-5]\d))?\s?([ap])\.?m\b\.?(?!\w)", re.IGNORECASE)
_TELEPHONE = re.compile(
    r"(?<![\d.,/-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,4}\)[ .-]?)?\d{2,5}(?:[ .-]\d{2,5}){1,4}(?![\d.,/-]*\d)"
)
_LONG_DIGITS = re.compile(rf"(?<![\d.,])(?:0\d+|\d{{{MAX_DIGITS + 1},}})(?![\d.,]*\d)")
_RANGE = re.compile(r"(?<![\d.,/-])(\d+(?:[.,]\d+)?)\s?[-–]\s?(\d+(?:[.,]\d+)?)(?![\d/-])")
_YEARS = re.compile(r"(?:1\d|20)\d\d[ -](?:1\d|20)\d\d")
_MINUS = re.compile(r"(?<![\w)])[-−](?=\d)")
_NUMBER_SIGN = re.compile(r"#(?=\d)")
_DECADE = re.compile(r"\b(1[1-9]|20)(\d0)s\b")
_YEAR_AFTER = (
    r"(?:in|since|of|from|by|until|till|before|after|year|around|and|to|"
    r"January|February|March|April|May|June|July|August|September|October|November|December|\d{1,2}(?:st|nd|rd|th)?,)"
)
_YEAR = re.compile(rf"\b({_YEAR_AFTER}\s)(1[1-9]|20)(\d\d)\b(?![.,]?\d|\s?[%$€£])", re.IGNORECASE)
_FRENCH_ORDINAL = re.compile(r"\b(\d+)(?:e|è|ème|eme|ième)\b")
_FRENCH_ORDINALS = {
    2: "deuxième", 3: "troisième", 4: "quatrième", 5: "cinquième", 6: "sixième", 7: "septième", 8: "huitième",
    9: "neuvième", 10: "dixième", 11: "onzième", 12: "douzième", 13: "treizième", 14: "quatorzième",
    15: "quinzième", 16: "seizième", 17: "dix-septième", 18: "dix-huitième", 19: "dix-neuvième", 20: "vingtième",
    21: "vingt et unième",
}  # fmt: skip

_Rule = Callable[[str, SpeechLexicon], str]


def normalize_for_speech(text: str, language: str) -> str:
    """Applies the rules of the language; text in unsupported languages is unchanged."""
    code = language.lower().replace("_", "-")
    lexicon = speech_lexicon(code.partition("-")[0])
    if lexicon is None:
        return text
    lexicon = replace(lexicon, month_first=code in {"en", "en-us"})
    for rule in _rules(code.partition("-")[0]):
        text = rule(text, lexicon)
    return text


def _rules(language: str) -> tuple[_Rule, ...]:
    rules: tuple[_Rule, ...] = (_addresses, _dates, _abbreviations)
    rules += (_english_hours,) if language == "en" else ()
    rules += (_times, _money)
    rules += (_english_decades,) if language == "en" else ()
    rules += (_measures, _telephones, _signs, _plain_numbers)
    extra: Mapping[str, tuple[_Rule, ...]] = {"en": (_english_years,), "fr": (_french_ordinals,)}
    return rules + extra.get(language, ())


def _addresses(text: str, lexicon: SpeechLexicon) -> str:
    named = {".": lexicon.dot, "@": lexicon.at, "/": lexicon.slash, "-": lexicon.hyphen, "_": lexicon.underscore}

    def read(address: str) -> str:
        address = re.sub(r"^https?://", "", address, flags=re.IGNORECASE)
        address = re.sub(r"^www\.", "", address, flags=re.IGNORECASE).rstrip("/")
        address = re.sub(r"[?#].*$", "", address)
        return " ".join(re.sub(r"[^\w]|_", lambda match: f" {named.get(match[0], ' ')} ", address).split())

    text = _EMAIL.sub(lambda match: read(match[0]), text)
    return _URL.sub(lambda match: read(match[0]), text)


def _dates(text: str, lexicon: SpeechLexicon) -> str:
    def read(year: int, month: int, day: int, otherwise: str) -> str:
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return otherwise
        named = lexicon.first_day if day == 1 and lexicon.first_day else _day(day, lexicon)
        return lexicon.date.format(day=named, month=lexicon.months[month - 1], year=year)

    def numeric(match: re.Match[str]) -> str:
        first, second, year = (int(each) for each in match.groups())
        year += 2000 if year < 50 else 1900 if year < 100 else 0
        month_first = (lexicon.month_first and first <= 12) or second > 12
        month, day = (first, second) if month_first else (second, first)
        return read(year, month, day, match[0])

    text = _ISO_DATE.sub(lambda match: read(int(match[1]), int(match[2]), int(match[3]), match[0]), text)
    return _DATE.sub(numeric, text)


def _day(day: int, lexicon: SpeechLexicon) -> str:
    if lexicon.decimal == ",":
        return str(day)
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _english_hours(text: str, lexicon: SpeechLexicon) -> str:  # noqa: ARG001 - common rule signature
    def read(match: re.Match[str]) -> str:
        hour, minutes, half = int(match[1]), match[2], f"{match[3].upper()} M"
        if not 1 <= hour <= 12:
            return match[0]
        stop = "." if match[0].endswith(".") and _ends_sentence(match) else ""
        return f"{hour} {_minutes(minutes)}{half}{stop}" if minutes and int(minutes) else f"{hour} {half}{stop}"

    return _ENGLISH_HOUR.sub(read, text)


def _ends_sentence(match: re.Match[str]) -> bool:
    rest = match.string[match.end() :].lstrip()
    return not rest or rest[0].isupper()


def _minutes(minutes: str) -> str:
    return f"oh {int(minutes)} " if minutes.startswith("0") else f"{minutes} "


def _times(text: str, lexicon: SpeechLexicon) -> str:
    def read(match: re.Match[str]) -> str:
        hour, minutes = int(match[1]), match[2] or match[3] or "00"
        if match[2] is None and lexicon.decimal == ".":
            return match[0]  # in English 5h is a duration
        if int(minutes) == 0:
            return lexicon.full_hour[hour != 1].format(hour=hour)
        read_minutes = _minutes(minutes).strip() if lexicon.decimal == "." else str(int(minutes))
        return lexicon.hour_and_minutes.format(hour=hour, minutes=read_minutes)

    return _TIME.sub(read, text)


def _money(text: str, lexicon: SpeechLexicon) -> str:
    before, after = _money_patterns(lexicon.thousands, lexicon.decimal, lexicon.magnitudes)

    def read(match: re.Match[str]) -> str:
        money = lexicon.money[match["sign"]]
        amount, fraction, magnitude = match["whole"], match["fraction"] or "", match["magnitude"]
        whole = _ungrouped(amount, lexicon)
        if magnitude:
            number = f"{whole}{lexicon.decimal}{fraction}" if fraction else whole
            link = "" if magnitude in {"mil", "mille", "mila", "thousand"} else lexicon.of_money
            link = "d'" if link == "de " and lexicon.point == "virgule" and money.major[1][0] == "e" else link
            return f"{number} {magnitude} {link}{money.major[1]}"
        if len(fraction) == 1 or len(fraction) > 2:
            return f"{whole}{lexicon.decimal}{fraction} {money.major[1]}"
        minor_count = int(fraction or 0)
        read_major = f"{whole} {_choose(money.major, int(whole), fraction='')}"
        if not minor_count:
            return read_major
        read_minor = f"{minor_count} {_choose(money.minor, minor_count, fraction='')}"
        return read_minor if int(whole) == 0 else lexicon.major_and_minor.format(major=read_major, minor=read_minor)

    return after.sub(read, before.sub(read, text))


@cache
def _money_patterns(
    thousands: str, decimal: str, magnitudes: tuple[str, ...]
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    sign = r"(?P<sign>US\$|R\$|[$€£¥₹])"
    amount = _amount(thousands, decimal)
    magnitude = rf"(?:\s(?P<magnitude>{'|'.join(sorted(magnitudes, key=len, reverse=True))})\b)?"
    return re.compile(rf"{sign}\s?{amount}{magnitude}"), re.compile(rf"{amount}{magnitude}\s?{sign}")


def _amount(thousands: str, decimal: str) -> str:
    groups = re.escape(thousands)
    whole = rf"(?P<whole>\d{{1,3}}(?:[{groups}]\d{{3}})+(?!\d)|\d+)"
    return rf"(?<![\d.,]){whole}(?:{re.escape(decimal)}(?P<fraction>\d+))?(?!\d)"


def _measures(text: str, lexicon: SpeechLexicon) -> str:
    """Percent, degrees and units after a number."""
    pattern = _measure_pattern(lexicon.thousands, lexicon.decimal, tuple(lexicon.units), tuple(lexicon.degrees))

    def read(match: re.Match[str]) -> str:
        whole, fraction, sign = _ungrouped(match["whole"], lexicon), match["fraction"] or "", match["sign"]
        number = f"{whole}{lexicon.decimal}{fraction}" if fraction else whole
        if sign == "%":
            return f"{number} {lexicon.percent}"
        pair = lexicon.units.get(sign) or lexicon.degrees[sign]
        return f"{number} {_choose(pair, int(whole), fraction=fraction)}"

    return pattern.sub(read, text)


@cache
def _measure_pattern(thousands: str, decimal: str, units: tuple[str, ...], degrees: tuple[str, ...]) -> re.Pattern[str]:
    letters = "|".join(re.escape(unit) for unit in sorted(units, key=len, reverse=True))
    signs = "|".join(re.escape(sign) for sign in sorted((*degrees, "%"), key=len, reverse=True))
    return re.compile(rf"{_amount(thousands, decimal)}[\s\u00a0]?(?P<sign>(?:{letters})(?![\w/²³])|(?:{signs})(?!\w))")


def _choose(pair: PluralForms, count: int, *, fraction: str) -> str:
    return pair[0] if count == 1 and not fraction.strip("0") else pair[1]


def _ungrouped(amount: str, lexicon: SpeechLexicon) -> str:
    return "".join(character for character in amount if character not in lexicon.thousands)


def _telephones(text: str, lexicon: SpeechLexicon) -> str:  # noqa: ARG001 - common rule signature
    def read(match: re.Match[str]) -> str:
        groups = re.findall(r"\d+", match[0])
        if sum(map(len, groups)) < _MIN_TELEPHONE_DIGITS or not _is_telephone_number(match[0]):
            return match[0]
        return ", ".join(" ".join(group) for group in groups)

    text = _TELEPHONE.sub(read, text)
    return _LONG_DIGITS.sub(lambda match: " ".join(match[0]), text)


def _is_telephone_number(digits: str) -> bool:
    """Excludes grouped large numbers and ranges of years."""
    if _YEARS.fullmatch(digits):
        return False
    return bool(re.search(r"[+()-]", digits)) or not re.fullmatch(r"\d{1,3}([ .]\d{3})+", digits)


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


def _plain_numbers(text: str, lexicon: SpeechLexicon) -> str:
    """Rewrites what espeak-ng misreads: digit groups, ranges, and minus signs."""
    text = _RANGE.sub(rf"\1 {lexicon.to} \2", text)
    text = _MINUS.sub(f"{lexicon.minus} ", text)
    groups = re.escape(lexicon.thousands)
    grouped = re.compile(rf"(?<![\d.,])\d{{1,3}}(?:[{groups}]\d{{3}})+(?![\d]|[{groups}]\d)")
    return grouped.sub(lambda match: _ungrouped(match[0], lexicon), text)


def _english_years(text: str, lexicon: SpeechLexicon) -> str:  # noqa: ARG001 - common rule signature
    def read(before: str, century: str, year: str) -> str:
        if year == "00":
            return f"{before}{century}{year}"
        if century == "20" and year.startswith("0"):
            return f"{before}{century}{year}"
        return f"{before}{century} {f'oh {int(year)}' if year.startswith('0') else year}"

    return _YEAR.sub(lambda match: read(match[1], match[2], match[3]), text)


def _english_decades(text: str, lexicon: SpeechLexicon) -> str:  # noqa: ARG001 - common rule signature
    return _DECADE.sub(lambda match: f"{match[1]} {_DECADES[match[2]]}" if match[2] in _DECADES else match[0], text)


_DECADES = {
    "20": "twenties", "30": "thirties", "40": "forties", "50": "fifties", "60": "sixties", "70": "seventies",
    "80": "eighties", "90": "nineties", "10": "tens",
}  # fmt: skip


def _french_ordinals(text: str, lexicon: SpeechLexicon) -> str:  # noqa: ARG001 - common rule signature
    return _FRENCH_ORDINAL.sub(lambda match: _FRENCH_ORDINALS.get(int(match[1]), match[0]), text)
