"""Renders segments as subtitle files, stores them, and lists the cues that are too fast to read."""

import asyncio
from collections.abc import Sequence
from typing import Any

from cutroom.media.subtitles import write_srt, write_vtt
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.cue_rules import CueRule, rules_for, shown_columns
from cutroom.products.transcripts.cues import CueSheet, make_cues
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import subtitle_path

MAX_FAST_CUES = 200  # listed in a job's result; the total is reported separately


async def store_subtitles(
    storage: Storage,
    segments: Sequence[TranscriptSegment],
    *,
    library_id: str,
    video_id: str,
    language: str,
    until_seconds: float,
) -> CueSheet:
    """Store SRT and WebVTT files, and return their cues with the unavoidable rule violations."""
    sheet = await asyncio.to_thread(make_cues, segments, rules_for(language), until_seconds=until_seconds)
    srt = subtitle_path(library_id, video_id, language=language, format_="srt")
    vtt = subtitle_path(library_id, video_id, language=language, format_="vtt")
    await storage.put(srt, write_srt(sheet.cues).encode())
    await storage.put(vtt, write_vtt(sheet.cues).encode())
    return sheet


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
