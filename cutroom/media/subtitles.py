"""Writes SubRip and WebVTT files in which untrusted text cannot act as markup.

Speakers: a line where the speaker changes starts with a dash and a space in both formats, because players do not
display names. WebVTT also names the speaker in a voice span at the start of each line.

SubRip has no escaping. Players based on libass execute `{\\...}` and hide other text in braces, most treat `<...>`
as a tag, and `\\N` breaks a line. A zero-width word joiner breaks up `<`, `\\` and arrows; braces have no such
workaround and are replaced with similar ornamental ones. WebVTT escapes with `&lt;`; there the joiner is for players
that pass a `\\` on to libass.

Files are UTF-8 without BOM, with LF line endings and millisecond times.
"""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DASH = "- "
JOINER = "\u2060"
# SubRip readers expect two digits of hours.
MAX_SECONDS = 100 * 3600 - 0.001

# Word separators; no-break spaces (U+00A0, U+2007, U+202F) are part of a word.
_WHITESPACE = re.compile("[ \t-\r\x1c-\x1f\x85\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+")
# Control characters, lone surrogates, BOMs, non-characters; and bidi embeddings, overrides and isolates, which would
# affect text beyond their own.
_DISALLOWED = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff"
    "\u202a-\u202e\u2066-\u2069\u206a-\u206f]"
)
_CLOCK = re.compile(r"(\d:\d{1,2})(?=[.,]\d)")
_NUMBER = re.compile(r"\s*\d+\s*")
_ORNAMENTAL_BRACES = str.maketrans({"{": "\u2774", "}": "\u2775"})
_BRACES = str.maketrans({"\u2774": "{", "\u2775": "}"})
_RIGHT_TO_LEFT = frozenset({"R", "AL"})
# An embedding, not an isolate: players take a line's direction from its first strong character and skip isolates.
_EMBED, _POP = "\u202b", "\u202c"


@dataclass(frozen=True, slots=True)
class SubtitleLine:
    """One displayed line; `dash` marks a change of speaker."""

    text: str
    speaker: str = ""
    dash: bool = False

    @property
    def rendered(self) -> str:
        return f"{DASH}{self.text}" if self.dash else self.text


@dataclass(frozen=True, slots=True)
class SubtitleCue:
    """Lines displayed together in a time range."""

    start_seconds: float
    end_seconds: float
    lines: tuple[SubtitleLine, ...]


def clean_text(text: str) -> str:
    """Normalizes whitespace to single spaces and removes disallowed characters; idempotent."""
    return _WHITESPACE.sub(" ", _DISALLOWED.sub("", text)).strip()


def write_srt(cues: Sequence[SubtitleCue]) -> str:
    """Renders a SubRip file; empty cues are omitted."""
    blocks = []
    for number, (start, end, lines) in enumerate(timed_cues(cues), 1):
        rendered = [_srt_line(line, first=index == 0) for index, line in enumerate(lines)]
        blocks.append("\n".join([str(number), f"{clock(start, ',')} --> {clock(end, ',')}", *rendered, ""]))
    return "\n".join(blocks)


def write_vtt(cues: Sequence[SubtitleCue], *, names: Mapping[str, str] | None = None) -> str:
    """Renders a WebVTT file; empty cues are omitted. Speakers missing from `names` are shown by id."""
    blocks = ["WEBVTT\n"]
    for start, end, lines in timed_cues(cues):
        rendered = [_vtt_line(line, names or {}) for line in lines]
        blocks.append("\n".join([f"{clock(start, '.')} --> {clock(end, '.')}", *rendered, ""]))
    return "\n".join(blocks)


def clip_srt(text: str, *, until_seconds: float) -> str:
    """Cuts one of our SubRip files at a time."""
    blocks = []
    for block in text.split("\n\n"):
        number, _, rest = block.strip().partition("\n")
        times, _, lines = rest.partition("\n")
        start, _, end = times.partition(" --> ")
        if not end or clock_seconds(start) >= until_seconds:
            continue
        last = clock(round(until_seconds * 1000), ",") if clock_seconds(end) > until_seconds else end
        blocks.append(f"{number}\n{start} --> {last}\n{lines}\n")
    return "\n".join(blocks)


def clock_seconds(text: str) -> float:
    """The seconds of a time as `clock` writes it."""
    hours, minutes, seconds = text.replace(",", ".").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def srt_text(text: str) -> str:
    """Escapes text for SubRip, so that nothing is executed, hidden or lost."""
    text = clean_text(text).translate(_ORNAMENTAL_BRACES)
    text = text.replace("<", f"<{JOINER}").replace("\\", f"\\{JOINER}").replace("-->", f"--{JOINER}>")
    return _break_timestamps(text)


def with_braces(text: str) -> str:
    """Text of a SubRip file of ours with its braces."""
    return text.translate(_BRACES)


def vtt_text(text: str) -> str:
    """Escapes text for WebVTT."""
    text = clean_text(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _break_timestamps(text.replace("\\", f"\\{JOINER}"))


def _break_timestamps(text: str) -> str:
    """Breaks up timestamps: some readers treat a line with two of them as a cue header."""
    return _CLOCK.sub(rf"\1{JOINER}", text)


def _srt_line(line: SubtitleLine, *, first: bool) -> str:
    text = srt_text(line.text)
    if not first and not line.dash and _NUMBER.fullmatch(text):
        text += JOINER  # some readers would treat a trailing number as the next cue's index
    return _with_direction(f"{DASH}{text}" if line.dash else text)


def _vtt_line(line: SubtitleLine, names: Mapping[str, str]) -> str:
    text = _with_direction(f"{DASH}{vtt_text(line.text)}" if line.dash else vtt_text(line.text))
    name = vtt_text(names.get(line.speaker, line.speaker))
    return f"<v {name}>{text}</v>" if name else text


def _with_direction(text: str) -> str:
    """Marks a right-to-left line as such: many players assume left-to-right."""
    return f"{_EMBED}{text}{_POP}" if is_right_to_left(text) else text


def is_right_to_left(text: str) -> bool:
    """Whether the first strong character of a text is of a script that is written from right to left."""
    for character in text:
        direction = unicodedata.bidirectional(character)
        if direction == "L" or direction in _RIGHT_TO_LEFT:
            return direction != "L"
    return False


def timed_cues(cues: Sequence[SubtitleCue]) -> list[tuple[int, int, list[SubtitleLine]]]:
    """Non-empty cues in milliseconds. Rounding preserves order, so it cannot make cues overlap."""
    timed = []
    previous_end = 0
    for cue in cues:
        start, end = _milliseconds(cue.start_seconds), _milliseconds(cue.end_seconds)
        if not previous_end <= start < end:
            raise ValueError(
                f"The cue from {cue.start_seconds} to {cue.end_seconds} s is empty or overlaps the previous one."
            )
        previous_end = end
        lines = [line for line in cue.lines if clean_text(line.text)]
        if lines:
            timed.append((start, end, lines))
    return timed


def _milliseconds(seconds: float) -> int:
    if not math.isfinite(seconds) or not 0 <= seconds <= MAX_SECONDS:
        raise ValueError(f"{seconds} s is out of range for a subtitle file.")
    return round(seconds * 1000)


def clock(milliseconds: int, separator: str) -> str:
    """A time as subtitle formats write it: 00:00:00 and milliseconds."""
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{separator}{milliseconds:03}"
