"""Subtitle files of a language, made from its segments and kept in the object store."""

import asyncio
from collections.abc import Sequence

from cutroom.media.subtitles import write_srt, write_vtt
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.cue_rules import rules_for
from cutroom.products.transcripts.cues import Excuse, make_cues
from cutroom.products.transcripts.sentences import Segment
from cutroom.products.transcripts.service import subtitle_path


async def store_subtitles(
    storage: Storage,
    segments: Sequence[Segment],
    *,
    library_id: str,
    video_id: str,
    language: str,
    until_seconds: float,
) -> tuple[Excuse, ...]:
    """Write both formats; which cues could not keep the rules, and why."""
    subtitles = await asyncio.to_thread(make_cues, segments, rules_for(language), until_seconds=until_seconds)
    srt = subtitle_path(library_id, video_id, language=language, format_="srt")
    vtt = subtitle_path(library_id, video_id, language=language, format_="vtt")
    await storage.put(srt, write_srt(subtitles.cues).encode())
    await storage.put(vtt, write_vtt(subtitles.cues).encode())
    return subtitles.excuses
