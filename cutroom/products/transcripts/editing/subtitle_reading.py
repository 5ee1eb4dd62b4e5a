"""Reads SubRip, WebVTT and TTML files of other tools: cues with their times, their text and the name of a speaker.

Files are hostile: nothing in them is executed or fetched, XML entities are not expanded, and malformed times are an
error, never guessed.
"""

import html
import re
from collections.abc import Iterator
from enum import StrEnum

from cutroom.media.subtitles import JOINER, with_braces
from cutroom.products.transcripts.editing.read_cues import (
    MAX_CUES,
    MAX_SECONDS,
    MalformedSubtitlesError,
    ReadCue,
    divided,
    without_dash,
    without_sounds,
)
from cutroom.products.transcripts.editing.ttml_reading import read_ttml

_CLOCK = r"(?:(\d{1,3}):)?([0-5]?\d):([0-5]?\d)[.,](\d{1,3})"
_TIMES = re.compile(rf"^\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?$")
_TAG = re.compile(r"</?(?:[a-zA-Z][^<>]{0,200})?>|<\d[\d:.]{0,20}>")  # <i>, <c.yellow>, <00:01.000>
_VOICE = re.compile(r"<v(?:\.[^\s<>]{1,100})?[ \t]([^<>]{1,200})>")
_OVERRIDE = re.compile(r"\{\\[^{}]{0,200}\}")  # {\an8}, as libass has it


class SubtitleFormat(StrEnum):
    """Formats of subtitle files."""

    SRT = "srt"
    VTT = "vtt"
    TTML = "ttml"


def read_subtitles(content: str, format_: SubtitleFormat) -> list[ReadCue]:
    """The cues with text, in the order of their starts."""
    content = content.removeprefix("\ufeff")
    cues = read_ttml(content) if format_ is SubtitleFormat.TTML else _read_blocks(content, format_)
    found = []
    for cue in cues:
        if cue.text:
            found.append(cue)
        if len(found) > MAX_CUES:
            raise MalformedSubtitlesError(f"At most {MAX_CUES:,} cues.")
    if not found:
        raise MalformedSubtitlesError("There are no cues with text.")
    return sorted(found, key=lambda cue: (cue.start_seconds, cue.end_seconds))


def _read_blocks(content: str, format_: SubtitleFormat) -> Iterator[ReadCue]:
    lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if format_ is SubtitleFormat.VTT and not re.match(r"WEBVTT(?:[ \t]|$)", lines[0]):
        raise MalformedSubtitlesError("A WebVTT file begins with a line WEBVTT.")
    at = 0
    while at < len(lines):
        times = _TIMES.match(lines[at])
        at += 1
        if times is None:
            if "-->" in lines[at - 1]:
                raise MalformedSubtitlesError(f"Line {at} has no valid times.")
            continue  # a number, an identifier, a header, a note or a style
        first = at
        while at < len(lines) and lines[at].strip() and not _TIMES.match(lines[at]):
            at += 1
        texts = lines[first:at]
        if at < len(lines) and _TIMES.match(lines[at]) and texts and texts[-1].strip().isdecimal():
            texts.pop()  # the number of a cue that follows without a blank line
        start, end = _seconds(times.groups()[:4]), _seconds(times.groups()[4:])
        if not start <= end < MAX_SECONDS:
            raise MalformedSubtitlesError(f"The cue at line {first} has times that are out of order or out of range.")
        yield from _cues(start, end, texts, is_escaped=format_ is SubtitleFormat.VTT)


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction or 0}")


def _cues(start: float, end: float, lines: list[str], *, is_escaped: bool) -> Iterator[ReadCue]:
    """One cue, or one for each speaker in it; speakers share its time by the length of what they say."""
    spoken: list[tuple[str | None, str]] = []
    speaker: str | None = None
    for line in lines:
        for name, text in _by_voice(line, speaker):
            speaker = name
            plain = _plain(text, is_escaped=is_escaped)
            if not plain:
                continue
            if spoken and spoken[-1][0] == name:
                spoken[-1] = (name, f"{spoken[-1][1]} {plain}")
            else:
                spoken.append((name, plain))
    for begin, until, name, text in divided(start, end, spoken):
        yield ReadCue(begin, until, without_sounds(text), _name(name, is_escaped=is_escaped))


def _by_voice(line: str, speaker: str | None) -> Iterator[tuple[str | None, str]]:
    """The parts of a line with the name that is in force for each."""
    at = 0
    for voice in _VOICE.finditer(line):
        yield speaker, line[at : voice.start()]
        speaker, at = voice.group(1), voice.end()
    yield speaker, line[at:]


def _name(name: str | None, *, is_escaped: bool) -> str | None:
    return _plain(name, is_escaped=is_escaped) or None if name is not None else None


def _plain(text: str, *, is_escaped: bool) -> str:
    text = _OVERRIDE.sub("", text).replace("\\N", " ").replace("\\n", " ").replace("\\h", " ")
    text = _TAG.sub("", text)
    # SubRip has no escapes, but tools write those of HTML.
    text = html.unescape(text) if is_escaped or "&" in text else text
    # Our own files have joiners in what other readers would take for markup, and SubRip has no braces.
    text = text.replace(JOINER, "")
    return without_dash(text if is_escaped else with_braces(text))
