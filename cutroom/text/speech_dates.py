"""Spells dates, times of day, years and centuries for speech."""

import re
from functools import cache

from cutroom.text.numbers import parse_roman
from cutroom.text.speech_markers import mark_number
from cutroom.text.speech_numbers import Agreement, cardinal, english_year, german_year, ordinal
from cutroom.text.speech_words import SpeechLexicon

_ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DATE = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})(?![\d/])")
_TIME = re.compile(r"(?<![\d:.,])([01]?\d|2[0-3])(?::([0-5]\d)|\s?h\s?([0-5]\d)?)(?![\d:\w])", re.IGNORECASE)
_ENGLISH_HOUR = re.compile(r"(?<![\d:.,])(\d{1,2})(?::([0-5]\d))?\s?([ap])\.?m\b\.?(?!\w)", re.IGNORECASE)
# English hours that a translation left: `4,45pm`. After a space, `am` may be a word of the language.
_TWELVE_HOUR = re.compile(
    r"(?<![\d:.,])(1[0-2]|0?[1-9])(?:[:.,h]([0-5]\d))?(?:\s?(p)\.?m|am|\s?a\.m)\b\.?(?!\w)", re.IGNORECASE
)
_DECADE = re.compile(r"(?<!\d)(?:(1[1-9]|20)|')?(\d0)s\b")
_YEAR_AFTER = r"in|since|of|from|by|until|till|before|after|year|around|and|to"
_YEAR = re.compile(rf"\b((?:{_YEAR_AFTER})\s)(1[1-9]\d\d|20\d\d)\b(?![.,]?\d|\s?[%$€£°])", re.IGNORECASE)
# Numbers like years are years, unless a plural noun or a unit follows: the 2024 model, 2048 bytes.
_LONE_YEAR = re.compile(
    r"(?<![\d.,$€£#-])\b(19\d\d|20[1-9]\d)\b(?![.,:/]?\d|-\d|\s?[%$€£°]|\s(?!(?:is|was|has|this)\b)[a-z]+s\b)"
)
# German puts a period after ordinals, and after the day and the month of a date.
_GERMAN_DATE = re.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?![\d.]*\d)")
_GERMAN_CLOCK = re.compile(r"(?<![\d:.,])([01]?\d|2[0-3])[:.]([0-5]\d)\sUhr\b")
_GERMAN_YEAR = re.compile(r"(?<![\d.,$€£#-])\b(1[1-9]\d\d)\b(?![.,:/]?\d|-\d|\s?[%$€£°])")
_GERMAN_ORDINALS = (
    "Jahrhundert|Jahrhunderts|Platz|Mal|Stock|Etage|Kapitel|Klasse|Tag|Woche|Jahr|Runde|Teil|Folge|Auflage"
)
_DECADES = {
    "20": "twenties", "30": "thirties", "40": "forties", "50": "fifties", "60": "sixties", "70": "seventies",
    "80": "eighties", "90": "nineties", "10": "tens",
}  # fmt: skip
_CENTURY = re.compile(r"\b(século|séculos|siglo|siglos|secolo)\s([IVX]{1,5})\b", re.IGNORECASE)
_ORDINAL_CENTURY = re.compile(r"\b([IVX]{1,5})(?:e|ème)?(?=\s(?:siècle|secolo)\b)")


def spell_dates(text: str, lexicon: SpeechLexicon) -> str:
    def read(year: int, month: int, day: int, otherwise: str) -> str:
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return otherwise
        named = lexicon.date.format(day=_day(day, lexicon), month=lexicon.months[month - 1], year=_year(year, lexicon))
        return mark_number(named)

    def numeric(match: re.Match[str]) -> str:
        first, second, year = (int(each) for each in match.groups())
        year += 2000 if year < 50 else 1900 if year < 100 else 0
        month_first = (lexicon.month_first and first <= 12) or second > 12
        month, day = (first, second) if month_first else (second, first)
        return read(year, month, day, match[0])

    if lexicon.primary_language == "de":
        text = _GERMAN_DATE.sub(r"\3-\2-\1", text)
        text = re.sub(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b", _padded_date, text)
    text = _ISO_DATE.sub(lambda match: read(int(match[1]), int(match[2]), int(match[3]), match[0]), text)
    return _named_days(_DATE.sub(numeric, text), lexicon)


def _named_days(text: str, lexicon: SpeechLexicon) -> str:
    """`March 5` as `March fifth`, `1 de maio` as `primeiro de maio`."""
    if lexicon.primary_language == "en":
        after, before = _english_day_patterns(lexicon.months)
        text = after.sub(lambda match: f"{match[1]} {mark_number(_day(int(match[2]), lexicon))}", text)
        return before.sub(lambda match: f"{mark_number(_day(int(match[1]), lexicon))} of", text)
    if lexicon.primary_language == "de":
        return _german_ordinals(text, lexicon)
    if not lexicon.first_day:
        return text
    return _first_day_pattern(lexicon.months).sub(mark_number(lexicon.first_day), text)


def _padded_date(match: re.Match[str]) -> str:
    return f"{match[1]}-{int(match[2]):02}-{int(match[3]):02}"


def _german_ordinals(text: str, lexicon: SpeechLexicon) -> str:
    """`am 5. März` as `am fünften März`, `der 3. Platz` as `der dritte Platz`."""

    def read(match: re.Match[str]) -> str:
        article, number = match[1] or "", ordinal(int(match[2]), lexicon.language)
        return article + mark_number(number if article.lower() in {"der ", "die ", "das "} else f"{number}n")

    return _german_ordinal_pattern(lexicon.months).sub(read, text)


@cache
def _german_ordinal_pattern(months: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(\b\w{{1,10}} )?(?<![\d.,])\b(\d{{1,3}})\.(?=\s(?:{'|'.join(months)}|{_GERMAN_ORDINALS})\b)")


@cache
def _english_day_patterns(months: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    listed, day = "|".join(months), r"([12]?\d|3[01])"
    after = rf"\b({listed})\s{day}(?:st|nd|rd|th)?\b(?![.,:]?\d|\s?[%$€£°])"
    return re.compile(after), re.compile(rf"(?<![\d.,]){day}(?:st|nd|rd|th)?(?: of)?(?=\s(?:{listed})\b)")


@cache
def _first_day_pattern(months: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\d.,])1[º°]?(?=\s(?:de\s)?(?:{'|'.join(months)})\b)", re.IGNORECASE)


def _day(day: int, lexicon: SpeechLexicon) -> str:
    if lexicon.primary_language == "de":
        return f"{ordinal(day, lexicon.language)}n"
    if lexicon.primary_language == "en":
        return ordinal(day, lexicon.language)
    return lexicon.first_day if day == 1 and lexicon.first_day else cardinal(day, lexicon.language)


def _year(year: int, lexicon: SpeechLexicon) -> str:
    if lexicon.primary_language == "de":
        return german_year(year)
    spell = english_year if lexicon.primary_language == "en" else cardinal
    return spell(year, lexicon.language)


def spell_times(text: str, lexicon: SpeechLexicon) -> str:
    is_english = lexicon.primary_language == "en"

    def read(match: re.Match[str]) -> str:
        hour, minutes = int(match[1]), int(match[2] or match[3] or 0)
        if match[2] is None and (is_english or not match[3]):
            return match[0]  # 5h is a duration
        gender = Agreement.MASCULINE if lexicon.primary_language == "de" else Agreement.FEMININE
        spelled = cardinal(hour, lexicon.language, gender)
        if minutes == 0:
            named = f"{spelled} hundred" if is_english and hour > 12 else lexicon.full_hour[hour != 1]
            return mark_number(named.format(hour=spelled))
        read_minutes = _english_minutes(minutes, lexicon) if is_english else cardinal(minutes, lexicon.language)
        return mark_number(lexicon.hour_and_minutes[hour != 1].format(hour=spelled, minutes=read_minutes))

    text = _english_hours(text, lexicon) if is_english else _TWELVE_HOUR.sub(_on_24_hours, text)
    text = _GERMAN_CLOCK.sub(r"\1:\2", text) if lexicon.primary_language == "de" else text
    return _TIME.sub(read, text)


def _english_hours(text: str, lexicon: SpeechLexicon) -> str:
    def read(match: re.Match[str]) -> str:
        hour, minutes, half = int(match[1]), int(match[2] or 0), f"{match[3].upper()} M"
        if not 1 <= hour <= 12:
            return match[0]
        stop = "." if match[0].endswith(".") and _ends_sentence(match) else ""
        spelled = cardinal(hour, lexicon.language)
        spelled = f"{spelled} {_english_minutes(minutes, lexicon)}" if minutes else spelled
        return mark_number(f"{spelled} {half}") + stop

    return _ENGLISH_HOUR.sub(read, text)


def _on_24_hours(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3] else 0)
    stop = "." if match[0].endswith(".") and _ends_sentence(match) else ""
    return f"{hour}:{match[2] or '00'}{stop}"


def _ends_sentence(match: re.Match[str]) -> bool:
    rest = match.string[match.end() :].lstrip()
    return not rest or rest[0].isupper()


def _english_minutes(minutes: int, lexicon: SpeechLexicon) -> str:
    spelled = cardinal(minutes, lexicon.language)
    return f"oh {spelled}" if minutes < 10 else spelled


def spell_decades(text: str, lexicon: SpeechLexicon) -> str:
    """`1990s` as `nineteen nineties`."""

    def read(match: re.Match[str]) -> str:
        if match[2] not in _DECADES:
            return match[0]
        century = f"{cardinal(int(match[1]), lexicon.language)} " if match[1] else ""
        return mark_number(century + _DECADES[match[2]])

    return _DECADE.sub(read, text) if lexicon.primary_language == "en" else text


def spell_years(text: str, lexicon: SpeechLexicon) -> str:
    """English and German years; other languages read years as plain numbers."""
    if lexicon.primary_language == "de":
        return _GERMAN_YEAR.sub(lambda match: mark_number(german_year(int(match[1]))), text)
    if lexicon.primary_language != "en":
        return text
    text = _YEAR.sub(lambda match: match[1] + mark_number(english_year(int(match[2]), lexicon.language)), text)
    return _LONE_YEAR.sub(lambda match: mark_number(english_year(int(match[1]), lexicon.language)), text)


def spell_centuries(text: str, lexicon: SpeechLexicon) -> str:
    """`século XXI` as `século vinte e um`, `XXIe siècle` as `vingt et unième siècle`."""

    def cardinal_century(match: re.Match[str]) -> str:
        value = parse_roman(match[2])
        if value is None:
            return match[0]
        first_ten = lexicon.primary_language == "pt" and value <= 10
        return f"{match[1]} {mark_number((ordinal if first_ten else cardinal)(value, lexicon.language))}"

    def ordinal_century(match: re.Match[str]) -> str:
        value = parse_roman(match[1])
        return match[0] if value is None else mark_number(ordinal(value, lexicon.language))

    if lexicon.primary_language in {"pt", "es"}:
        return _CENTURY.sub(cardinal_century, text)
    return _ORDINAL_CENTURY.sub(ordinal_century, text) if lexicon.primary_language in {"fr", "it"} else text
