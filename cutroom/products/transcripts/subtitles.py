"""Renders segments as subtitle files and scripts, stores them, and lists the cues that are too fast to read."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from cutroom.media.subtitle_formats.ttml import write_ttml
from cutroom.media.subtitle_formats.vtt_reading import read_written_vtt
from cutroom.media.subtitles import SubtitleCue, write_srt, write_vtt
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.document import shown_names
from cutroom.products.transcripts.script_text import write_script
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import SubtitleFormat, subtitle_path
from cutroom.products.transcripts.subtitling.cue_rules import CueRule, rules_for, shown_columns
from cutroom.products.transcripts.subtitling.cues import CueSheet, make_cues

NAMED_FORMATS: tuple[SubtitleFormat, ...] = ("ttml", "text")  # have names of speakers
MAX_FAST_CUES = 200  # listed in a job's result; the total is reported separately


async def store_subtitles(
    storage: Storage,
    segments: Sequence[TranscriptSegment],
    *,
    library_id: str,
    video_id: str,
    language: str,
    until_seconds: float,
    labels: Mapping[str, str] | None = None,
) -> CueSheet:
    """Store the files of every format, and return their cues with the unavoidable rule violations.

    `labels` are those of the speakers, which TTML files and scripts show.
    """
    sheet = await asyncio.to_thread(make_cues, segments, rules_for(language), until_seconds=until_seconds)
    texts: dict[SubtitleFormat, str] = {"srt": write_srt(sheet.cues), "vtt": write_vtt(sheet.cues)}
    texts |= _named_texts(sheet.cues, language, labels or {})
    for format_, text in texts.items():
        path = subtitle_path(library_id, video_id, language=language, format_=format_)
        await storage.put(path, text.encode())
    return sheet


async def complete_subtitles(
    storage: Storage, library_id: str, video_id: str, *, language: str, labels: Mapping[str, str]
) -> None:
    """Store the formats that a release before they existed has not stored, made of its WebVTT file."""
    paths = {each: subtitle_path(library_id, video_id, language=language, format_=each) for each in NAMED_FORMATS}
    if all([await storage.size(path) is not None for path in paths.values()]):
        return
    vtt = subtitle_path(library_id, video_id, language=language, format_="vtt")
    read = None
    # Again if it was replaced meanwhile, so that these files never stay older than it.
    while (found := await storage.find(vtt)) is not None and found.etag != read:
        read = found.etag
        content = b"".join([chunk async for chunk in storage.read(vtt)])
        cues = read_written_vtt(content.decode(errors="replace"))
        for format_, text in _named_texts(cues, language, labels).items():
            await storage.put(paths[format_], text.encode())


def _named_texts(cues: Sequence[SubtitleCue], language: str, labels: Mapping[str, str]) -> dict[SubtitleFormat, str]:
    names = shown_names(labels)
    return {
        "ttml": write_ttml(cues, language=language, names=names),
        "text": write_script(cues, language=language, names=names),
    }


def reading_speed_report(sheet: CueSheet) -> dict[str, Any]:
    """For a job's result: cues that are spoken too fast to be read, to be shortened by hand."""
    fast = [sheet.cues[each.cue] for each in sheet.exceptions if each.rule is CueRule.READING_SPEED]
    return {
        "readingSpeedExceptions": len(fast),
        "fastCues": [
            {
                "start": cue.start_seconds,
                "end": cue.end_seconds,
                "charactersPerSecond": round(shown_columns(cue) / (cue.end_seconds - cue.start_seconds), 1),
                "text": " ".join(line.text for line in cue.lines),
            }
            for cue in fast[:MAX_FAST_CUES]
        ],
    }
