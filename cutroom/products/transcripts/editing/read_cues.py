"""Cues of imported subtitles, and what readers of all formats leave out of their texts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cutroom.media.subtitles import clean_text

MAX_CUES = 50_000
MAX_SECONDS = 100 * 3600.0

_SOUND = re.compile(r"\[[^\[\]]{0,200}\]|[♪♫]+[^♪♫]{0,500}[♪♫]+|[♪♫]+")  # [applause], ♪ a song ♪
_ONLY_PARENTHESES = re.compile(r"\(([^()]{0,200})\)")
_DASH = re.compile(r"^\s*[-\N{EN DASH}\N{EM DASH}]\s*(?=\S)")


class MalformedSubtitlesError(ValueError):
    """The file is not of the format that it is said to be; the message tells its sender what is wrong."""


@dataclass(frozen=True, slots=True)
class ReadCue:
    """The text of a cue on one line, without markup, dashes and descriptions of sounds."""

    start_seconds: float
    end_seconds: float
    text: str
    speaker: str | None = None  # a name, where the format has one


def divided(
    start: float, end: float, spoken: Sequence[tuple[str | None, str]]
) -> Iterator[tuple[float, float, str | None, str]]:
    """What each speaker says in a cue with its times; speakers share its time by the length of what they say."""
    total = sum(len(text) for _, text in spoken)
    begin = start
    for speaker, text in spoken:
        until = begin + (end - start) * len(text) / total
        yield round(begin, 3), round(until, 3), speaker, text
        begin = until


def without_dash(line: str) -> str:
    """A line without the dash that marks a change of speaker."""
    return clean_text(_DASH.sub("", clean_text(line)))


def without_sounds(text: str) -> str:
    """Text without what was not said: [applause], a song between notes, and a cue that is all in parentheses."""
    text = clean_text(_SOUND.sub(" ", text))
    return "" if _ONLY_PARENTHESES.fullmatch(text) else text
