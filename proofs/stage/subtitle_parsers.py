"""Subtitle files as others read them: pysubs2, webvtt-py and FFmpeg, and a plain reading of our own for the voices."""

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

from cutroom.media.subtitles import DASH, Cue, Line

FFMPEG_SECONDS = 120
# Marks without a picture that keep parts of the text from meaning something, and turn a line to the right.
UNSEEN = re.compile("[\u2060\u202b\u202c]")
BRACES = str.maketrans({"\u2774": "{", "\u2775": "}"})  # which SubRip shows in place of those that it cannot hold

Form = Literal["srt", "vtt"]
FORMS: tuple[Form, ...] = ("srt", "vtt")
_VOICE = re.compile(r"<v ([^>]*)>(.*?)(?:</v>)?")
_TIMES = re.compile(r"(\d+):(\d\d):(\d\d)[.,](\d{3}) --> (\d+):(\d\d):(\d\d)[.,](\d{3})")


@dataclass(frozen=True, slots=True)
class Shown:
    """One cue as a reader has it: times in milliseconds, and lines as a person would see them."""

    start: int
    end: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """Both files of one language, as a caller downloads them."""

    srt: bytes
    vtt: bytes

    def of(self, form: Form) -> bytes:
        return self.srt if form == "srt" else self.vtt

    def readings(self) -> dict[str, list[Shown]]:
        """What each reader makes of them."""
        return {
            "pysubs2, srt": with_pysubs2(self.srt),
            "webvtt-py, vtt": with_webvtt(self.vtt),
            "ffmpeg, srt": with_ffmpeg(self.srt, "srt"),
            "ffmpeg, vtt": with_ffmpeg(self.vtt, "vtt"),
        }


async def download(client: httpx.AsyncClient, video_id: str, *, language: str) -> Written:
    """As the documentation says: ask for the file, and fetch it where the answer says it is."""
    files = {}
    for form in FORMS:
        answer = await client.get(f"/v1/videos/{video_id}/subtitles/{language}", params={"format": form})
        answer.raise_for_status()
        told = answer.json()
        if (told["status"], told["language"], told["format"]) != ("ready", language, form):
            raise ValueError(f"The subtitles are not what was asked for: {told}")
        file = await client.get(told["downloadUrl"], headers={"Authorization": ""})
        files[form] = file.raise_for_status().content
    return Written(files["srt"], files["vtt"])


def with_pysubs2(srt: bytes) -> list[Shown]:
    events = pysubs2.SSAFile.from_string(srt.decode(), format_="srt")
    return [Shown(event.start, event.end, _lines(event.plaintext)) for event in events]


def with_webvtt(vtt: bytes) -> list[Shown]:
    """This reader takes tags away and leaves escapes as they are."""
    captions = webvtt.from_string(vtt.decode()).captions
    return [Shown(_ms(each.start), _ms(each.end), _lines(html.unescape(each.text))) for each in captions]


def with_ffmpeg(data: bytes, form: Form) -> list[Shown]:
    """Times as it writes them into WebVTT, which has milliseconds; text as it hands it to libass."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"read.{form}"
        path.write_bytes(data)
        times = _TIMES.findall(_long_times(_converted(path, "webvtt")))
        events = pysubs2.SSAFile.from_string(_converted(path, "ass"), format_="ass")
    if len(times) != len(events):
        raise ValueError(f"FFmpeg reads {len(times)} times and {len(events)} texts.")
    return [
        Shown(_in_ms(*each[:4]), _in_ms(*each[4:]), _lines(_from_ass(event.text)))
        for each, event in zip(times, events, strict=True)
    ]


def cues_of(vtt: bytes) -> list[Cue]:
    """The cues of a WebVTT file with who says each line, read by nothing but its blank lines, times and voices."""
    _, *blocks = vtt.decode().rstrip("\n").split("\n\n")
    cues = []
    for block in blocks:
        head, *lines = block.split("\n")
        match = _TIMES.fullmatch(head)
        if match is None:
            raise ValueError(f"This is no head of a cue: {head}")
        times = match.groups()
        cues.append(Cue(_in_ms(*times[:4]) / 1000, _in_ms(*times[4:]) / 1000, tuple(map(_line, lines))))
    return cues


def agree(left: list[Shown], right: list[Shown], *, within_ms: int = 1) -> bool:
    return len(left) == len(right) and all(
        one.lines == other.lines and abs(one.start - other.start) <= within_ms and abs(one.end - other.end) <= within_ms
        for one, other in zip(left, right, strict=True)
    )


def _line(written: str) -> Line:
    match = _VOICE.fullmatch(written)
    speaker, text = match.groups() if match else ("", written)
    text = UNSEEN.sub("", html.unescape(text))
    return Line(text.removeprefix(DASH), speaker, dash=text.startswith(DASH))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(UNSEEN.sub("", text).translate(BRACES).split("\n"))


def _from_ass(text: str) -> str:
    """What libass shows of an event: an escape is its sign, and whatever it would run is left for all to see."""
    return re.sub(r"\\([{}])", r"\1", text.replace(r"\N", "\n"))


def _converted(path: Path, form: str) -> str:
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-f", form, "-"]
    return subprocess.run(command, check=True, capture_output=True, timeout=FFMPEG_SECONDS).stdout.decode()


def _long_times(text: str) -> str:
    """FFmpeg leaves hours out while there are none."""
    return re.sub(r"(?m)(?<![\d:])(\d\d:\d\d\.\d{3})", r"00:\1", text)


def _ms(clock: str) -> int:
    hours, minutes, seconds = clock.split(":")
    return _in_ms(hours, minutes, *seconds.split("."))


def _in_ms(hours: str, minutes: str, seconds: str, milliseconds: str) -> int:
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(milliseconds)
