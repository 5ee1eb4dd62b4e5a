"""Spells money, measures, versions, ordinals and plain numbers for speech."""

# ruff: noqa: RUF001 (symbols look like letters)

import re
from functools import cache

from cutroom.text.speech_markers import mark_number, separate_letters
from cutroom.text.speech_numbers import MAX_DIGITS, Agreement, cardinal, decimal, digits, has_number_words, ordinal
from cutroom.text.speech_words import PluralForms, SpeechLexicon

_RANGE = re.compile(r"(?<![\d.,/-])(\d+(?:[.,]\d+)?)\s?[-–]\s?(\d+(?:[.,]\d+)?)(?![\d/-])")
_SIGN = r"US\$|R\$|[$€£¥₹]"
_MONEY_RANGE = re.compile(rf"({_SIGN})(\s?)(\d+(?:[.,]\d+)?)\s?[-–]\s?(?:{_SIGN})?\s?(\d)")
_MINUS = re.compile(rf"(?<![\w)])[-−](?=\d|(?:{_SIGN})\s?\d)")
_FRACTION = re.compile(r"(?<![\d.,/])(?:(\d{1,3})\s)?(\d{1,2}/\d)(?![\d/])")
_FRACTION_SIGNS = str.maketrans({"½": " 1/2", "⅓": " 1/3", "⅔": " 2/3", "¼": " 1/4", "¾": " 3/4"})
_DIMENSIONS = re.compile(r"(?<![\w.,])(\d{1,5})\s?[x×:]\s?(\d{1,5})(?![\w:]|[.,]\d)")
_TIMES = re.compile(r"(?<![\w.,])(\d{1,4})(?:([.,])(\d{1,2}))?[x×](?!\w)")
_VERSION = re.compile(r"\bv\.?\s?(\d{1,4}(?:\.\d{1,5}){0,4})(?![\w.]*\w)|\bV(\d{1,4}(?:\.\d{1,5}){1,4})(?![\w.]*\w)")
_DOTTED = re.compile(r"(?<![\w.,])\d{1,4}(?:\.\d{1,5}){2,4}(?![.,]?\d|\w)")
_DOTTED_PAIR = re.compile(r"(?<![\w.,])\d{1,4}\.\d{1,2}(?![.,]?\d|\w)")
_NAMED_VERSION = re.compile(
    r"((?<=[\w,] )[A-Z][\w+-]{0,30} |\b[Vv]ersion |\b[Rr]elease )(\d{1,4}\.\d{2})(?![.,]?\d|\w)"
)
_ORDINAL_SIGN = re.compile(r"(?<![\w.,])(\d{1,4})\.?([ºª])(?!\w)")
_ENGLISH_ORDINAL = re.compile(r"(?<![\w.,])(\d{1,4}|\d,\d{3})(?:st|nd|rd|th)\b")
_SPANISH_ORDINAL = re.compile(r"(?<![\w.,])([13])\.?er\b")
_FRENCH_ORDINAL = re.compile(r"(?<![\w.,])(\d{1,4})(?:(ers?|ères?|res?)|(nde?s?)|(?:es?|èmes?|emes?|ièmes?))\b")
_LETTER_DIGITS = re.compile(r"(?<=[^\W\d_])-?(\d{1,12})(?!\d)")
_DIGITS_LETTER = re.compile(r"(?<=\d)(?=[^\W\d_])")
_DIGITS = re.compile(r"\d+")
_THOUSAND = frozenset({"thousand", "mil", "mille", "mila"})


def spell_ranges(text: str, lexicon: SpeechLexicon) -> str:
    """`10-20` as `10 to 20`, `-5` as `minus 5`; the numbers stay digits for the rules that follow."""
    text = _MONEY_RANGE.sub(rf"\1\2\3 {lexicon.to} \1\2\4", text)
    text = _RANGE.sub(rf"\1 {lexicon.to} \2", text)
    return _MINUS.sub(f"{lexicon.minus} ", text)


def spell_money(text: str, lexicon: SpeechLexicon) -> str:
    before, after = _money_patterns(
        lexicon.thousands, lexicon.decimal, lexicon.magnitudes, tuple(lexicon.short_magnitudes)
    )

    def read(match: re.Match[str]) -> str:
        money = lexicon.money[match["sign"]]
        whole, fraction = _ungrouped(match["whole"], lexicon), match["fraction"] or ""
        if len(whole) > MAX_DIGITS:
            return match[0]
        magnitude = match["magnitude"] or _short_magnitude(match["short"], whole, fraction, lexicon)
        if magnitude:
            return mark_number(_large_amount(whole, fraction, magnitude, money.major[1], lexicon))
        if len(fraction) == 1 or len(fraction) > 2:
            return mark_number(_counted(whole, fraction, money.major, lexicon))
        read_major = _counted(whole, "", money.major, lexicon)
        if not int(fraction or 0):
            return mark_number(read_major)
        read_minor = _counted(str(int(fraction)), "", money.minor, lexicon)
        both = lexicon.major_and_minor.format(major=read_major, minor=read_minor)
        return mark_number(read_minor if int(whole) == 0 else both)

    return after.sub(read, before.sub(read, text))


@cache
def _money_patterns(
    thousands: str, decimal_mark: str, magnitudes: tuple[str, ...], short: tuple[str, ...]
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    amount = _amount(thousands, decimal_mark)
    letters = "|".join(sorted({*short, "K", "m", "b"}, key=len, reverse=True))
    named = "|".join(sorted(magnitudes, key=len, reverse=True))
    magnitude = rf"(?:\s(?P<magnitude>{named})\b|\s?(?P<short>{letters})\b)?"
    codes = "USD|EUR|GBP|JPY|BRL|INR"
    return (
        re.compile(rf"(?P<sign>{_SIGN}|\b(?:{codes})(?=\s))\s?{amount}{magnitude}"),
        re.compile(rf"{amount}{magnitude}\s?(?P<sign>{_SIGN}|(?<=\s)(?:{codes})\b)"),
    )


def _short_magnitude(letter: str | None, whole: str, fraction: str, lexicon: SpeechLexicon) -> str:
    forms = lexicon.short_magnitudes
    if not letter:
        return ""
    pair = forms.get(letter) or forms.get(letter.swapcase())
    return _choose(pair, int(whole), fraction=fraction) if pair else ""


def _large_amount(whole: str, fraction: str, magnitude: str, currency: str, lexicon: SpeechLexicon) -> str:
    number = _number(whole, fraction, lexicon, lexicon.agreement(magnitude, int(whole)))
    link = "" if magnitude in _THOUSAND else lexicon.of_money
    if lexicon.primary_language == "fr" and currency.startswith("e"):
        link = link.replace("de ", "d'")
    return f"{number} {magnitude} {link}{currency}"


def _amount(thousands: str, decimal_mark: str) -> str:
    groups = re.escape(thousands)
    whole = rf"(?P<whole>\d{{1,3}}(?:[{groups}]\d{{3}})+(?!\d)|\d+)"
    return rf"(?<![\d.,]){whole}(?:{re.escape(decimal_mark)}(?P<fraction>\d+))?(?!\d)"


def spell_measures(text: str, lexicon: SpeechLexicon) -> str:
    """Percent, degrees, units and short magnitudes after a number."""
    units = {**lexicon.units, **lexicon.degrees, "%": (lexicon.percent, lexicon.percent)}
    pattern = _measure_pattern(lexicon.thousands, lexicon.decimal, tuple(lexicon.units), tuple(lexicon.degrees))

    def read(match: re.Match[str]) -> str:
        whole, fraction = _ungrouped(match["whole"], lexicon), match["fraction"] or ""
        if len(whole) > MAX_DIGITS:
            return match[0]
        return mark_number(_counted(whole, fraction, units[match["sign"]], lexicon))

    def large(match: re.Match[str]) -> str:
        whole, fraction = _ungrouped(match["whole"], lexicon), match["fraction"] or ""
        magnitude = _short_magnitude(match["short"], whole, fraction, lexicon)
        if len(whole) > MAX_DIGITS or not magnitude:
            return match[0]
        return mark_number(f"{_number(whole, fraction, lexicon, lexicon.agreement(magnitude, int(whole)))} {magnitude}")

    text = pattern.sub(read, text)
    return _short_magnitude_pattern(lexicon.thousands, lexicon.decimal).sub(large, text)


@cache
def _measure_pattern(
    thousands: str, decimal_mark: str, units: tuple[str, ...], degrees: tuple[str, ...]
) -> re.Pattern[str]:
    letters = "|".join(re.escape(unit) for unit in sorted(units, key=len, reverse=True))
    signs = "|".join(re.escape(sign) for sign in sorted((*degrees, "%"), key=len, reverse=True))
    return re.compile(rf"{_amount(thousands, decimal_mark)}\s?(?P<sign>(?:{letters})(?![\w/²³])|(?:{signs})(?!\w))")


@cache
def _short_magnitude_pattern(thousands: str, decimal_mark: str) -> re.Pattern[str]:
    """`4K` is a resolution, `10K` is ten thousand."""
    return re.compile(rf"{_amount(thousands, decimal_mark)}(?P<short>k|M|B|(?<=\d\d)K)\b")


def spell_versions(text: str, lexicon: SpeechLexicon) -> str:
    """`v2.0`, `3.11.2` and `Python 3.12`: each part is a number."""

    def parts(dotted: str) -> str:
        spelled = (cardinal(int(part), lexicon.language) for part in dotted.split("."))
        return mark_number(f" {lexicon.version_point} ".join(spelled))

    def dotted(match: re.Match[str]) -> str:
        is_grouped = "." in lexicon.thousands and re.fullmatch(r"\d{1,3}(?:\.\d{3})+", match[0])
        return match[0] if is_grouped else parts(match[0])

    text = _VERSION.sub(lambda match: f"{lexicon.version} {parts(match[1] or match[2])}", text)
    text = _DOTTED.sub(dotted, text)
    if lexicon.decimal == ",":
        return _DOTTED_PAIR.sub(dotted, text)
    return _NAMED_VERSION.sub(lambda match: match[1] + parts(match[2]), text)


def spell_fractions(text: str, lexicon: SpeechLexicon) -> str:
    """`2 1/2` as `two and one half`, `1920x1080` as `... by ...`, `2x` as `two times`."""

    def fraction(match: re.Match[str]) -> str:
        named = lexicon.fractions.get(match[2])
        if named is None:
            return match[0]
        whole = f"{cardinal(int(match[1]), lexicon.language)} {lexicon.signs['&']} " if match[1] else ""
        return mark_number(whole + named)

    def dimensions(match: re.Match[str]) -> str:
        both = (cardinal(int(side), lexicon.language) for side in match.groups())
        return mark_number(f" {lexicon.by} ".join(both))

    text = _FRACTION.sub(fraction, re.sub(r"^ | (?= \d/)", "", text.translate(_FRACTION_SIGNS)))
    text = _DIMENSIONS.sub(dimensions, text)
    return _TIMES.sub(lambda match: mark_number(_counted(match[1], match[3] or "", lexicon.times, lexicon)), text)


def spell_ordinals(text: str, lexicon: SpeechLexicon) -> str:
    language = lexicon.language

    def french(match: re.Match[str]) -> str:
        if match[3]:
            return mark_number("seconde" if "e" in match[3] else "second") if match[1] == "2" else match[0]
        return mark_number(ordinal(int(match[1]), language, is_feminine=match[2] in {"re", "res", "ère", "ères"}))

    if lexicon.primary_language == "en":
        return _ENGLISH_ORDINAL.sub(lambda match: mark_number(ordinal(int(match[1].replace(",", "")), language)), text)
    if lexicon.primary_language == "fr":
        return _FRENCH_ORDINAL.sub(french, text)
    text = _ENGLISH_ORDINAL.sub(r"\1", text)  # in a street's name that a translation kept: `42nd Street`
    if lexicon.primary_language == "es":
        text = _SPANISH_ORDINAL.sub(lambda match: mark_number({"1": "primer", "3": "tercer"}[match[1]]), text)
    return _ORDINAL_SIGN.sub(
        lambda match: mark_number(ordinal(int(match[1]), language, is_feminine=match[2] == "ª")), text
    )


def spell_glued_numbers(text: str, lexicon: SpeechLexicon) -> str:
    """`MP3` as `MP three`, `H264` as `H two six four`, `COVID-19` as `COVID nineteen`, `4K` as `four K`."""

    def read(match: re.Match[str]) -> str:
        is_long = len(match[1]) > 2
        spelled = digits(match[1], lexicon.language) if is_long else cardinal(int(match[1]), lexicon.language)
        return f" {mark_number(spelled)}"

    text = separate_letters(_LETTER_DIGITS.sub(read, text))
    return _DIGITS_LETTER.sub(" ", text)


def spell_numbers(text: str, lexicon: SpeechLexicon) -> str:
    """Remaining numbers, in agreement with the word that follows."""

    def read(match: re.Match[str]) -> str:
        whole, fraction = _ungrouped(match["whole"], lexicon), match["fraction"] or ""
        if len(whole) > MAX_DIGITS or (len(whole) > 1 and whole.startswith("0")):
            return mark_number(digits(whole, lexicon.language)) + (f", {fraction}" if fraction else "")
        noun = re.match(r"\s(?:mil\s)?([^\W\d_]+)", text[match.end() : match.end() + 60])
        agreement = lexicon.agreement(noun[1], int(whole)) if noun else Agreement.NONE
        return mark_number(_number(whole, fraction, lexicon, agreement))

    text = _number_pattern(lexicon.thousands, lexicon.decimal).sub(read, text)
    if not has_number_words(lexicon.language):
        return text
    return _DIGITS.sub(lambda match: mark_number(digits(match[0], lexicon.language)), text)


@cache
def _number_pattern(thousands: str, decimal_mark: str) -> re.Pattern[str]:
    return re.compile(_amount(thousands, decimal_mark))


def _counted(whole: str, fraction: str, noun: PluralForms, lexicon: SpeechLexicon) -> str:
    named = _choose(noun, int(whole), fraction=fraction)
    agreement = lexicon.agreement(named.partition(" ")[0], int(whole))
    return f"{_number(whole, fraction, lexicon, agreement)} {named}"


def _number(whole: str, fraction: str, lexicon: SpeechLexicon, agreement: Agreement) -> str:
    return decimal(whole, fraction, lexicon.language, point=lexicon.point, agreement=agreement)


def _choose(pair: PluralForms, count: int, *, fraction: str) -> str:
    return pair[0] if count == 1 and not fraction.strip("0") else pair[1]


def _ungrouped(amount: str, lexicon: SpeechLexicon) -> str:
    return "".join(character for character in amount if character not in lexicon.thousands)
