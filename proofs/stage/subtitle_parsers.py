"""Parses subtitle files with pysubs2, webvtt-py and FFmpeg, and with a minimal WebVTT parser that keeps speakers."""

import html
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx
import pysubs2
import webvtt

from cutroom.media.subtitles import DASH, SubtitleCue, SubtitleLine

FFMPEG_SECONDS = 120
# Invisible characters: they escape markup and set right-to-left direction.
INVISIBLE = re.compile("[\u2060\u202b\u202c]")
BRACES = str.maketrans({"\u2774": "{", "\u2775": "}"})  # substitutes for braces in SubRip

SubtitleFormat = Literal["srt", "vtt"]
FORMATS: tuple[SubtitleFormat, ...] = ("srt", "vtt")
_VOICE = re.compile(r"<v ([^>]*)>(.*?)(?:</v>)?")
_TIMES = re.compile(r"(\d+):(\d\d):(\d\d)[.,](\d{3}) --> (\d+):(\d\d):(\d\d)[.,](\d{3})")


@dataclass(frozen=True, slots=True)
class ParsedCue:
    """A parsed cue: times in milliseconds, and lines as displayed."""

    start: int
    end: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubtitleFiles:
    """Both subtitle files of one language."""

    srt: bytes
    vtt: bytes

    def of(self, format_: SubtitleFormat) -> bytes:
        return self.srt if format_ == "srt" else self.vtt

    def parse_all(self) -> dict[str, list[ParsedCue]]:
        """The cues by parser."""
        return {
            "pysubs2, srt": with_pysubs2(self.srt),
            "webvtt-py, vtt": with_webvtt(self.vtt),
            "ffmpeg, srt": with_ffmpeg(self.srt, "srt"),
            "ffmpeg, vtt": with_ffmpeg(self.vtt, "vtt"),
        }


async def download(client: httpx.AsyncClient, video_id: str, *, language: str) -> SubtitleFiles:
    """Request each format and download it from the URL in the response."""
    files = {}
    for format_ in FORMATS:
        response = await client.get(f"/v1/videos/{video_id}/subtitles/{language}", params={"format": format_})
        response.raise_for_status()
        subtitles = response.json()
        if (subtitles["status"], subtitles["language"], subtitles["format"]) != ("ready", language, format_):
            raise ValueError(f"unexpected subtitles: {subtitles}")
        file = await client.get(subtitles["downloadUrl"], headers={"Authorization": ""})
        files[format_] = file.raise_for_status().content
    return SubtitleFiles(files["srt"], files["vtt"])


def with_pysubs2(srt: bytes) -> list[ParsedCue]:
    events = pysubs2.SSAFile.from_string(srt.decode(), format_="srt")
    return [ParsedCue(event.start, event.end, _lines(event.plaintext)) for event in events]


def with_webvtt(vtt: bytes) -> list[ParsedCue]:
    """webvtt-py removes tags and leaves escapes."""
    captions = webvtt.from_string(vtt.decode()).captions
    return [ParsedCue(_ms(each.start), _ms(each.end), _lines(html.unescape(each.text))) for each in captions]


def with_ffmpeg(data: bytes, format_: SubtitleFormat) -> list[ParsedCue]:
    """Times from a conversion to WebVTT, which keeps milliseconds; text from a conversion to ASS."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"read.{format_}"
        path.write_bytes(data)
        times = _TIMES.findall(_long_times(_converted(path, "webvtt")))
        events = pysubs2.SSAFile.from_string(_converted(path, "ass"), format_="ass")
    if len(times) != len(events):
        raise ValueError(f"FFmpeg reads {len(times)} times and {len(events)} texts.")
    return [
        ParsedCue(_in_ms(*each[:4]), _in_ms(*each[4:]), _lines(_from_ass(event.text)))
        for each, event in zip(times, events, strict=True)
    ]


def cues_of(vtt: bytes) -> list[SubtitleCue]:
    """The cues of a WebVTT file with the speaker of each line, parsed from blank lines, timings and voice tags."""
    _, *blocks = vtt.decode().rstrip("\n").split("\n\n")
    cues = []
    for block in blocks:
        head, *lines = block.split("\n")
        match = _TIMES.fullmatch(head)
        if match is None:
            raise ValueError(f"not a cue timing: {head}")
        times = match.groups()
        cues.append(SubtitleCue(_in_ms(*times[:4]) / 1000, _in_ms(*times[4:]) / 1000, tuple(map(_line, lines))))
    return cues


def agree(left: list[ParsedCue], right: list[ParsedCue], *, within_ms: int = 1) -> bool:
    return len(left) == len(right) and all(
        one.lines == other.lines and abs(one.start - other.start) <= within_ms and abs(one.end - other.end) <= within_ms
        for one, other in zip(left, right, strict=True)
    )


def _line(text_line: str) -> SubtitleLine:
    match = _VOICE.fullmatch(text_line)
    speaker, text = match.groups() if match else ("", text_line)
    text = INVISIBLE.sub("", html.unescape(text))
    return SubtitleLine(text.removeprefix(DASH), speaker, dash=text.startswith(DASH))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(INVISIBLE.sub("", text).translate(BRACES).split("\n"))


def _from_ass(text: str) -> str:
    """The text libass displays; override tags are left in, so that they fail the comparison."""
    return re.sub(r"\\([{}])", r"\1", text.replace(r"\N", "\n"))


def _converted(path: Path, format_: str) -> str:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-f", format_, "-"]
    return subprocess.run(command, check=True, capture_output=True, timeout=FFMPEG_SECONDS).stdout.decode()


def _long_times(text: str) -> str:
    """FFmpeg omits hours when they are zero."""
    return re.sub(r"(?m)(?<![\d:])(\d\d:\d\d\.\d{3})", r"00:\1", text)


def _ms(clock: str) -> int:
    hours, minutes, seconds = clock.split(":")
    return _in_ms(hours, minutes, *seconds.split("."))


def _in_ms(hours: str, minutes: str, seconds: str, milliseconds: str) -> int:
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(milliseconds)
