"""What captions say of each segment of the transcript, for products that use the same words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cutroom.engines.translation.port import Quality
from cutroom.platform.db import Connection
from cutroom.products.captions.editing.rules import compare_track
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.captions.editing.tracks import find_track
from cutroom.products.transcripts.document import DocumentSegment


@dataclass(frozen=True, slots=True)
class CurrentCaptionTexts:
    """The texts of segments that need no translation, by id."""

    texts: Mapping[str, str]
    quality: Quality


def current_texts(captions: Sequence[CaptionSegment], transcript: Sequence[DocumentSegment]) -> dict[str, str]:
    """The texts that belong to what is said now, and those that people have set and may have to review."""
    return {
        each.id: each.caption.text
        for each in compare_track(captions, transcript)
        if each.source is not None and each.caption is not None and not each.needs_translation
    }


async def read_current_texts(
    connection: Connection, library_id: str, video_id: str, language: str, transcript: Sequence[DocumentSegment]
) -> CurrentCaptionTexts | None:
    """The texts of the captions of one language; None if there are no captions."""
    track = await find_track(connection, library_id, video_id, language)
    if track is None:
        return None
    return CurrentCaptionTexts(current_texts(track.segments, transcript), track.quality)


async def languages_without_captions(
    connection: Connection, library_id: str, video_id: str, languages: Sequence[str]
) -> list[str]:
    """Which of these languages a video has no finished captions in."""
    rows = await connection.fetch(
        """SELECT c.language FROM captions c JOIN jobs j
               ON j.library_id = c.library_id AND j.id = 'captions_' || c.video_id || '_' || c.language
           WHERE c.library_id = $1 AND c.video_id = $2 AND c.language = ANY($3) AND j.status = 'ready'""",
        library_id,
        video_id,
        list(languages),
    )
    finished = {row["language"] for row in rows}
    return [each for each in languages if each not in finished]
