"""Searches the text of transcripts."""

from dataclasses import dataclass

from cutroom.accounts.principals import Principal
from cutroom.library.search import like_pattern
from cutroom.platform.db import Connection


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
    return [TranscriptMatch(row["video_id"], row["start"], row["text"]) for row in rows]
