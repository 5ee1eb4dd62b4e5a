"""Subtitle files from cues: SubRip and WebVTT, in which text from engines and callers stays text.

Speakers: a line with which another person begins to speak opens with a dash and a blank, in both formats; players do
not show names by themselves. WebVTT names the speaker as well, in a voice span at the start of each line.

SubRip has no way to escape. Players based on libass run `{\\...}` and hide all other text in braces, most take `<...>`
for a tag, and `\\N` breaks a line. A word joiner, which has no width and no picture, takes `<`, `\\` and arrows apart;
nothing helps against braces, so they become ornamental ones that look the same. WebVTT escapes with `&lt;`; there the
joiner is for players that hand a `\\` on to libass.

Files are UTF-8 without a mark, lines end with a line feed, times are whole milliseconds.
"""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DASH = "- "
JOINER = "\u2060"
# Readers of SubRip take two digits of hours.
MAX_SECONDS = 100 * 3600 - 0.001

# What separates words; the blanks that must not break (U+00A0, U+2007, U+202F) are part of a word.
_BLANKS = re.compile("[ \t-\r\x1c-\x1f\x85\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+")
# Controls, lone surrogates, byte order marks and non-characters say nothing; embeddings, overrides and isolates of
# direction reach beyond the text that holds them.
_UNWANTED = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff"
    "\u202a-\u202e\u2066-\u2069\u206a-\u206f]"
)
_CLOCK = re.compile(r"(\d:\d{1,2})(?=[.,]\d)")
_NUMBER = re.compile(r"\s*\d+\s*")
_ORNAMENTAL = str.maketrans({"{": "\u2774", "}": "\u2775"})
_RIGHT_TO_LEFT = frozenset({"R", "AL"})
# An embedding, not an isolate: players look for the direction of a line in its first letter and skip isolates there.
_EMBED, _POP = "\u202b", "\u202c"


@dataclass(frozen=True, slots=True)
class Line:
    """One line on the screen; `dash` says that somebody else begins to speak with it."""

    text: str
    speaker: str = ""
    dash: bool = False

    @property
    def shown(self) -> str:
        return f"{DASH}{self.text}" if self.dash else self.text


@dataclass(frozen=True, slots=True)
class Cue:
    """What is shown together, from when to when."""

    start_seconds: float
    end_seconds: float
    lines: tuple[Line, ...]


def clean_text(text: str) -> str:
    """The text on one line, without characters that are no text; cleaning twice changes nothing more."""
    return _BLANKS.sub(" ", _UNWANTED.sub("", text)).strip()


def write_srt(cues: Sequence[Cue]) -> str:
    """A SubRip file; cues without text are left out."""
    blocks = []
    for number, (start, end, lines) in enumerate(_timed(cues), 1):
        shown = [_srt_line(line, first=at == 0) for at, line in enumerate(lines)]
        blocks.append("\n".join([str(number), f"{_clock(start, ',')} --> {_clock(end, ',')}", *shown, ""]))
    return "\n".join(blocks)


def write_vtt(cues: Sequence[Cue], *, names: Mapping[str, str] | None = None) -> str:
    """A WebVTT file; cues without text are left out. A speaker without a name in `names` goes by the id."""
    blocks = ["WEBVTT\n"]
    for start, end, lines in _timed(cues):
        shown = [_vtt_line(line, names or {}) for line in lines]
        blocks.append("\n".join([f"{_clock(start, '.')} --> {_clock(end, '.')}", *shown, ""]))
    return "\n".join(blocks)


def clip_srt(text: str, *, until_seconds: float) -> str:
    """A SubRip file of our own without what is shown after this time."""
    blocks = []
    for block in text.split("\n\n"):
        number, _, rest = block.strip().partition("\n")
        times, _, lines = rest.partition("\n")
        start, _, end = times.partition(" --> ")
        if not end or _clock_seconds(start) >= until_seconds:
            continue
        last = _clock(round(until_seconds * 1000), ",") if _clock_seconds(end) > until_seconds else end
        blocks.append(f"{number}\n{start} --> {last}\n{lines}\n")
    return "\n".join(blocks)


def _clock_seconds(text: str) -> float:
    hours, minutes, seconds = text.replace(",", ".").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def srt_text(text: str) -> str:
    """The text as SubRip can hold it without running, hiding or losing any of it."""
    text = clean_text(text).translate(_ORNAMENTAL)
    text = text.replace("<", f"<{JOINER}").replace("\\", f"\\{JOINER}").replace("-->", f"--{JOINER}>")
    return _apart(text)


def vtt_text(text: str) -> str:
    """The text as WebVTT writes it."""
    text = clean_text(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _apart(text.replace("\\", f"\\{JOINER}"))


def _apart(text: str) -> str:
    """Some readers take any line with two times in it for the head of a cue."""
    return _CLOCK.sub(rf"\1{JOINER}", text)


def _srt_line(line: Line, *, first: bool) -> str:
    text = srt_text(line.text)
    if not first and not line.dash and _NUMBER.fullmatch(text):
        text += JOINER  # some readers take a number at the end for that of the next cue
    return _directed(f"{DASH}{text}" if line.dash else text)


def _vtt_line(line: Line, names: Mapping[str, str]) -> str:
    text = _directed(f"{DASH}{vtt_text(line.text)}" if line.dash else vtt_text(line.text))
    name = vtt_text(names.get(line.speaker, line.speaker))
    return f"<v {name}>{text}</v>" if name else text


def _directed(text: str) -> str:
    """A line that reads from right to left says so: many players take it for one from left to right."""
    return f"{_EMBED}{text}{_POP}" if _reads_right_to_left(text) else text


def _reads_right_to_left(text: str) -> bool:
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction == "L" or direction in _RIGHT_TO_LEFT:
            return direction != "L"
    return False


def _timed(cues: Sequence[Cue]) -> list[tuple[int, int, list[Line]]]:
    """Times in milliseconds and lines that hold something. Rounding keeps order, so it makes no two cues overlap."""
    timed = []
    before = 0
    for cue in cues:
        start, end = _milliseconds(cue.start_seconds), _milliseconds(cue.end_seconds)
        if not before <= start < end:
            raise ValueError(f"The cue from {cue.start_seconds} to {cue.end_seconds} s has no time of its own.")
        before = end
        lines = [line for line in cue.lines if clean_text(line.text)]
        if lines:
            timed.append((start, end, lines))
    return timed


def _milliseconds(seconds: float) -> int:
    if not math.isfinite(seconds) or not 0 <= seconds <= MAX_SECONDS:
        raise ValueError(f"{seconds} s is no time in a subtitle file.")
    return round(seconds * 1000)


def _clock(milliseconds: int, mark: str) -> str:
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{mark}{milliseconds:03}"
