"""Rewords idioms of spoken English literally, for engines that translate them word by word."""

import re
import tomllib
from functools import cache, partial
from pathlib import Path

from cutroom.text.names import word_set

_TABLE = Path(__file__).with_name("spoken_english.toml")
_QUARTERS = {"quarter past": 15, "half past": 30, "quarter to": 45}
_HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_CLOCK = re.compile(rf"\b(?:a )?(quarter past|half past|quarter to) ({'|'.join(_HOURS)}|1[0-2]|[1-9])\b", re.IGNORECASE)
# "I'd seen" is "had"; before a base form it is "would".
_CONTRACTED_D = re.compile(r"\b(I|you|he|she|it|we|they|there|who|that)'d (?=(\w+))", re.IGNORECASE)
_PARTICIPLES = word_set(
    """
    been had gone done seen come become made got gotten taken given told said found left lost kept known thought
    bought brought built caught chosen drawn driven eaten fallen felt forgotten grown heard held hidden led meant
    met paid put read run sent shown slept sold spent spoken stood stolen understood won worn written never always
    already just only
    """
)
_MIN_REGULAR_PARTICIPLE = 5  # letters: "added", but not "need"


def literal_wording(text: str) -> str:
    """The text with idioms, phrasal verbs and regional words replaced; most text is unchanged."""
    text = text.replace("\u2019", "'") if "\u2019" in text else text
    text = _CLOCK.sub(_digital_time, text)
    for pattern, wording in _wordings():
        text = pattern.sub(partial(_in_case_of, wording), text)
    return _CONTRACTED_D.sub(_expand_d, text)


@cache
def _wordings() -> tuple[tuple[re.Pattern[str], str], ...]:
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return tuple(
        (re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE), wording) for pattern, wording in table["wordings"]
    )


def _in_case_of(wording: str, match: re.Match[str]) -> str:
    """The wording with its groups filled in, capitalized if the matched text is."""
    filled = match.expand(wording)
    return filled[:1].upper() + filled[1:] if match.group()[:1].isupper() else filled


def _digital_time(match: re.Match[str]) -> str:
    """ "A quarter to four" as 3:45."""
    name, hour = match[1].lower(), match[2].lower()
    number = int(hour) if hour.isdigit() else _HOURS.index(hour) + 1
    if name == "quarter to":
        number = number - 1 or 12
    return f"{number}:{_QUARTERS[name]}"


def _expand_d(match: re.Match[str]) -> str:
    word = match[2].lower()
    is_participle = word in _PARTICIPLES or (word.endswith("ed") and len(word) >= _MIN_REGULAR_PARTICIPLE)
    if word == "better":
        return match.group()
    return f"{match[1]} {'had' if is_participle else 'would'} "
