"""Reads the paragraphs of TTML files.

What a file marks as dialog is what is said, word for word; of other files, dashes and descriptions of sounds are left
out. Files are hostile: XML entities are not expanded, and document types are refused.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from xml.parsers import expat

from cutroom.media.subtitle_formats.ttml import DIALOG
from cutroom.media.subtitles import clean_text
from cutroom.products.transcripts.editing.read_cues import (
    MAX_CUES,
    MAX_SECONDS,
    MalformedSubtitlesError,
    ReadCue,
    divided,
    without_dash,
    without_sounds,
)

MAX_DEPTH = 50  # of nested XML elements
MAX_AGENTS = 1_000
MAX_NAME = 200  # characters
_OFFSET_TIME = re.compile(r"^(\d{1,9}(?:\.\d{1,9})?)(h|m|s|ms|f|t)$")
_CLOCK_TIME = re.compile(r"^(\d{2,3}):([0-5]\d):([0-5]\d)(?:(\.\d{1,9})|:(\d{1,3})(?:\.\d{1,3})?)?$")
_BREAK = "\n"


@dataclass(frozen=True, slots=True)
class _Run:
    """Characters of a paragraph with what applies to them."""

    text: str
    agent: str | None
    is_dialog: bool


@dataclass(slots=True)
class _Element:
    """An open element of a TTML file, with what applies inside of it."""

    name: str
    begin: float
    end: float
    runs: list[_Run] | None = None  # of the paragraph that it is, or is in
    agent: str | None = None  # that it names, or who says it
    is_dialog: bool = False


def read_ttml(content: str) -> Iterator[ReadCue]:
    """The paragraphs, one cue for each speaker in them; raises MalformedSubtitlesError."""
    parser, reader = expat.ParserCreate("utf-8", " "), _TtmlReader()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.finish
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(content.encode(errors="replace"), True)  # noqa: FBT003 (its only form)
    except expat.ExpatError as error:
        raise MalformedSubtitlesError(f"This is no well-formed XML: line {error.lineno}.") from error
    for paragraph in reader.paragraphs:
        yield from _cues(paragraph, reader.names)


def _cues(paragraph: _Element, names: Mapping[str, str]) -> Iterator[ReadCue]:
    runs = paragraph.runs or []
    is_dialog = any(run.is_dialog and run.text.strip() for run in runs)
    if is_dialog:
        runs = [run for run in runs if run.is_dialog or run.text == _BREAK]
    spoken: list[tuple[str | None, list[str]]] = []
    for agent, group in groupby(runs, key=lambda run: run.agent):
        lines = "".join(run.text for run in group).split(_BREAK)
        text = clean_text(" ".join(lines if is_dialog else map(without_dash, lines)))
        if text and spoken and spoken[-1][0] == agent:
            spoken[-1][1].append(text)
        elif text:
            spoken.append((agent, [text]))
    parts = [(agent, " ".join(texts)) for agent, texts in spoken]
    for start, end, agent, text in divided(paragraph.begin, paragraph.end, parts):
        said = text if is_dialog else without_sounds(text)
        yield ReadCue(start, end, said, clean_text(names.get(agent or "", "")) or None)


class _TtmlReader:
    """Collects the paragraphs of a TTML file, and the names of its agents, while it is parsed."""

    def __init__(self) -> None:
        self.paragraphs: list[_Element] = []
        self.names: dict[str, str] = {}
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
        around = self._open[-1] if self._open else _Element("", 0.0, MAX_SECONDS)
        element = _Element(name, *self._times(attributes, around), around.runs, around.agent, around.is_dialog)
        if name == "agent":
            element.agent = attributes.get("id")
        else:
            # Of several agents, the first one; the role says what all of its elements are.
            element.agent = next(iter(attributes.get("agent", "").split()), around.agent)
            element.is_dialog = DIALOG in attributes["role"].split() if "role" in attributes else around.is_dialog
        if name == "p":
            element.runs = []
        if name == "br" and element.runs is not None:
            element.runs.append(_Run(_BREAK, around.agent, around.is_dialog))
        self._open.append(element)

    def text(self, data: str) -> None:
        """Take characters, which count only in a paragraph or in the name of an agent."""
        if not self._open:
            return
        element = self._open[-1]
        if element.runs is not None:
            element.runs.append(_Run(data.replace("\n", " "), element.agent, element.is_dialog))
        elif element.name == "name" and element.agent is not None and len(self.names) < MAX_AGENTS:
            self.names[element.agent] = f"{self.names.get(element.agent, '')}{data}"[:MAX_NAME]

    def finish(self, _name: str) -> None:
        """Close an element, and take it if it is a paragraph."""
        element = self._open.pop()
        if element.name != "p" or element.runs is None:
            return
        if not element.begin <= element.end < MAX_SECONDS:
            raise MalformedSubtitlesError("A paragraph has no end, or ends before it begins.")
        self.paragraphs.append(element)
        if len(self.paragraphs) > MAX_CUES:
            raise MalformedSubtitlesError(f"At most {MAX_CUES:,} cues.")

    def _times(self, attributes: Mapping[str, str], around: _Element) -> tuple[float, float]:
        begin = around.begin + self._time(attributes["begin"]) if "begin" in attributes else around.begin
        end = around.end
        if "end" in attributes:
            end = min(end, around.begin + self._time(attributes["end"]))
        elif "dur" in attributes:
            end = min(end, begin + self._time(attributes["dur"]))
        return begin, end

    def _read_rates(self, attributes: Mapping[str, str]) -> None:
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


def _refuse_doctype(*_arguments: object) -> None:
    """Without a document type there are no entities to expand or to fetch."""
    raise MalformedSubtitlesError("A document type declaration is not allowed.")


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _digits(value: str) -> str:
    if not re.fullmatch(r"[1-9]\d{0,9}", value):
        raise MalformedSubtitlesError("A frame rate or tick rate is not a positive integer.")
    return value
