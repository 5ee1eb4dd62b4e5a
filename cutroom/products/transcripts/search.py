"""Searches the text of transcripts."""

from dataclasses import dataclass

from cutroom.accounts.principals import Principal
from cutroom.library.search import like_pattern
from cutroom.platform.db import Connection
from cutroom.products.transcripts.service import load_transcript

MAX_UNPUBLISHED = 20  # transcripts whose latest edits are searched before they are published, which takes seconds


@dataclass(frozen=True, slots=True)
class TranscriptMatch:
    """The first segment of a video that contains the search text."""

    video_id: str
    start: float
    text: str


async def search_transcripts(
    connection: Connection, principal: Principal, text: str, *, limit: int
) -> list[TranscriptMatch]:
    """Videos of the library whose transcript contains the text, newest first."""
    rows = await connection.fetch(
        """SELECT t.video_id, (s.segment->>'start')::float8 AS start, s.segment->>'text' AS text
           FROM transcripts t CROSS JOIN LATERAL (
               SELECT segment FROM jsonb_array_elements(t.segments) AS segment
               WHERE segment->>'text' ILIKE $2 AND NOT coalesce((segment->>'deleted')::boolean, false)
               LIMIT 1) s
           WHERE t.library_id = $1 ORDER BY t.video_id DESC LIMIT $3""",
        principal.library_id,
        like_pattern(text),
        limit,
    )
    found = {row["video_id"]: TranscriptMatch(row["video_id"], row["start"], row["text"]) for row in rows}
    edited = await connection.fetch(
        """SELECT video_id FROM transcripts WHERE library_id = $1 AND revision <> published_revision
           ORDER BY video_id DESC LIMIT $2""",
        principal.library_id,
        MAX_UNPUBLISHED,
    )
    for row in edited:
        found.pop(row["video_id"], None)
        if (match := await _search_edited(connection, principal, row["video_id"], text)) is not None:
            found[match.video_id] = match
    return sorted(found.values(), key=lambda each: each.video_id, reverse=True)[:limit]


async def _search_edited(
    connection: Connection, principal: Principal, video_id: str, text: str
) -> TranscriptMatch | None:
    transcript = await load_transcript(connection, principal.library_id, video_id)
    for row in transcript.segments:
        if not row["deleted"] and text.casefold() in row["text"].casefold():
            return TranscriptMatch(video_id, row["start"], row["text"])
    return None
