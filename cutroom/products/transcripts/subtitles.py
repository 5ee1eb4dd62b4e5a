"""Renders segments as subtitle files and stores them."""

import asyncio
from collections.abc import Sequence

from cutroom.media.subtitles import write_srt, write_vtt
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.cue_rules import rules_for
from cutroom.products.transcripts.cues import RuleException, make_cues
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import subtitle_path


async def store_subtitles(
    storage: Storage,
    segments: Sequence[TranscriptSegment],
    *,
    library_id: str,
    video_id: str,
    language: str,
    until_seconds: float,
) -> tuple[RuleException, ...]:
    """Store SRT and WebVTT files, and return the unavoidable rule violations."""
    sheet = await asyncio.to_thread(make_cues, segments, rules_for(language), until_seconds=until_seconds)
    srt = subtitle_path(library_id, video_id, language=language, format_="srt")
    vtt = subtitle_path(library_id, video_id, language=language, format_="vtt")
    await storage.put(srt, write_srt(sheet.cues).encode())
    await storage.put(vtt, write_vtt(sheet.cues).encode())
    return sheet.exceptions
