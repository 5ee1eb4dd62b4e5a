"""Reads SubRip, WebVTT and TTML files of other tools: cues with their times, their text and the name of a speaker.

Files are hostile: nothing in them is executed or fetched, XML entities are not expanded, and malformed times are an
error, never guessed.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from xml.parsers import expat

from cutroom.media.subtitles import clean_text

MAX_CUES = 50_000
MAX_DEPTH = 50  # of nested XML elements
MAX_SECONDS = 100 * 3600.0

_CLOCK = r"(?:(\d{1,3}):)?([0-5]?\d):([0-5]?\d)[.,](\d{1,3})"
_TIMES = re.compile(rf"^\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?$")
_TAG = re.compile(r"</?(?:[a-zA-Z][^<>]{0,200})?>|<\d[\d:.]{0,20}>")  # <i>, <c.yellow>, <00:01.000>
_VOICE = re.compile(r"<v(?:\.[^\s<>]{1,100})?[ \t]([^<>]{1,200})>")
_OVERRIDE = re.compile(r"\{\\[^{}]{0,200}\}")  # {\an8}, as libass has it
_SOUND = re.compile(r"\[[^\[\]]{0,200}\]|[♪♫]+[^♪♫]{0,500}[♪♫]+|[♪♫]+")  # [applause], ♪ a song ♪
_ONLY_PARENTHESES = re.compile(r"\(([^()]{0,200})\)")
_DASH = re.compile(r"^\s*[-\N{EN DASH}\N{EM DASH}]\s*(?=\S)")
_OFFSET_TIME = re.compile(r"^(\d{1,9}(?:\.\d{1,9})?)(h|m|s|ms|f|t)$")
_CLOCK_TIME = re.compile(r"^(\d{2,3}):([0-5]\d):([0-5]\d)(?:(\.\d{1,9})|:(\d{1,3})(?:\.\d{1,3})?)?$")
_BREAK = "\n"


class SubtitleFormat(StrEnum):
    """Formats of subtitle files."""

    SRT = "srt"
    VTT = "vtt"
    TTML = "ttml"


class MalformedSubtitlesError(ValueError):
    """The file is not of the format that it is said to be; the message tells its sender what is wrong."""


@dataclass(frozen=True, slots=True)
class ReadCue:
    """The text of a cue on one line, without markup, dashes and descriptions of sounds."""

    start_seconds: float
    end_seconds: float
    text: str
    speaker: str | None = None  # a name, where the format has one


def read_subtitles(content: str, format_: SubtitleFormat) -> list[ReadCue]:
    """The cues with text, in the order of their starts."""
    content = content.removeprefix("\ufeff")
    cues = _read_ttml(content) if format_ is SubtitleFormat.TTML else _read_blocks(content, format_)
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
    total = sum(len(text) for _, text in spoken)
    begin = start
    for name, text in spoken:
        until = begin + (end - start) * len(text) / total
        yield ReadCue(round(begin, 3), round(until, 3), without_sounds(text), _name(name, is_escaped=is_escaped))
        begin = until


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
    return clean_text(_DASH.sub("", clean_text(text)))


def without_sounds(text: str) -> str:
    """Text without what was not said: [applause], a song between notes, and a cue that is all in parentheses."""
    text = clean_text(_SOUND.sub(" ", text))
    return "" if _ONLY_PARENTHESES.fullmatch(text) else text


@dataclass(slots=True)
class _Element:
    """An open element of a TTML file, with the times that apply inside of it."""

    name: str
    begin: float
    end: float
    texts: list[str] | None  # of the paragraph that it is, or is in


class _TtmlReader:
    """Collects the paragraphs of a TTML file while it is parsed."""

    def __init__(self) -> None:
        self.cues: list[ReadCue] = []
        self._open: list[_Element] = []
        self._frames, self._ticks = 30.0, 1.0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Open an element."""
        attributes = {_local(key): value for key, value in attributes.items()}
        name = _local(name)
        if not self._open:
            if name != "tt":
                raise MalformedSubtitlesError("The outermost element of TTML is tt.")
            self._read_rates(attributes)
        if len(self._open) >= MAX_DEPTH:
            raise MalformedSubtitlesError(f"At most {MAX_DEPTH} nested elements.")
        around = self._open[-1] if self._open else _Element("", 0.0, MAX_SECONDS, None)
        begin = around.begin + self._time(attributes["begin"]) if "begin" in attributes else around.begin
        end = around.end
        if "end" in attributes:
            end = min(end, around.begin + self._time(attributes["end"]))
        elif "dur" in attributes:
            end = min(end, begin + self._time(attributes["dur"]))
        texts = [] if name == "p" else around.texts
        if name == "br" and texts is not None:
            texts.append(_BREAK)
        self._open.append(_Element(name, begin, end, texts))

    def text(self, data: str) -> None:
        """Take characters, which count only in a paragraph."""
        if self._open and (texts := self._open[-1].texts) is not None:
            texts.append(data.replace("\n", " "))

    def finish(self, _name: str) -> None:
        """Close an element; a paragraph becomes a cue."""
        element = self._open.pop()
        if element.name != "p" or element.texts is None:
            return
        if not element.begin <= element.end < MAX_SECONDS:
            raise MalformedSubtitlesError("A paragraph has no end, or ends before it begins.")
        lines = "".join(element.texts).split(_BREAK)
        text = " ".join(plain for line in lines if (plain := clean_text(_DASH.sub("", clean_text(line)))))
        self.cues.append(ReadCue(round(element.begin, 3), round(element.end, 3), without_sounds(text)))
        if len(self.cues) > MAX_CUES:
            raise MalformedSubtitlesError(f"At most {MAX_CUES:,} cues.")

    def _read_rates(self, attributes: dict[str, str]) -> None:
        frames = float(_digits(attributes.get("frameRate", "30")))
        numerator, _, denominator = attributes.get("frameRateMultiplier", "1 1").partition(" ")
        self._frames = frames * float(_digits(numerator)) / float(_digits(denominator or "1"))
        self._ticks = float(_digits(attributes["tickRate"])) if "tickRate" in attributes else self._frames

    def _time(self, value: str) -> float:
        value = value.strip()
        if offset := _OFFSET_TIME.match(value):
            scale = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "f": 1 / self._frames, "t": 1 / self._ticks}
            return float(offset.group(1)) * scale[offset.group(2)]
        if clock := _CLOCK_TIME.match(value):
            hours, minutes, seconds, fraction, frames = clock.groups()
            whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
            return whole + float(fraction or 0) + int(frames or 0) / self._frames
        raise MalformedSubtitlesError("A time has a form that is not supported.")


def _read_ttml(content: str) -> list[ReadCue]:
    parser, reader = expat.ParserCreate("utf-8", " "), _TtmlReader()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.finish
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(content.encode(errors="replace"), True)  # noqa: FBT003 (its only form)
    except expat.ExpatError as error:
        raise MalformedSubtitlesError(f"This is no well-formed XML: line {error.lineno}.") from error
    return reader.cues


def _refuse_doctype(*_arguments: object) -> None:
    """Without a document type there are no entities to expand or to fetch."""
    raise MalformedSubtitlesError("A document type declaration is not allowed.")


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _digits(value: str) -> str:
    if not re.fullmatch(r"[1-9]\d{0,9}", value):
        raise MalformedSubtitlesError("A frame rate or tick rate is not a positive integer.")
    return value
