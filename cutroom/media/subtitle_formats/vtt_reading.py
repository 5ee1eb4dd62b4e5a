"""Reads WebVTT files of `write_vtt` back, for formats that are made from them."""

import html
import re

from cutroom.media.subtitles import DASH, JOINER, SubtitleCue, SubtitleLine, clean_text, clock_seconds

_VOICE = re.compile(r"<v ([^>]*)>(.*)</v>")
_TIMES = re.compile(r"(\d{2,}:\d\d:\d\d\.\d{3}) --> (\d{2,}:\d\d:\d\d\.\d{3})")


def read_written_vtt(content: str) -> list[SubtitleCue]:
    """The cues, with the names of voices as their speakers."""
    cues = []
    for block in content.split("\n\n"):
        times, _, lines = block.strip("\n").partition("\n")
        if found := _TIMES.fullmatch(times):
            start, end = (clock_seconds(each) for each in found.groups())
            cues.append(SubtitleCue(start, end, tuple(_line(each) for each in lines.split("\n"))))
    return cues


def _line(line: str) -> SubtitleLine:
    voice = _VOICE.fullmatch(line)
    speaker, text = (_plain(voice[1]), _plain(voice[2])) if voice else ("", _plain(line))
    is_turn = text.startswith(DASH)
    return SubtitleLine(text.removeprefix(DASH), speaker, dash=is_turn)


def _plain(text: str) -> str:
    return clean_text(html.unescape(text).replace(JOINER, ""))
