"""Finding what was said."""

from dataclasses import dataclass

from cutroom.accounts.principals import Principal
from cutroom.library.search import pattern_of
from cutroom.platform.db import Connection


@dataclass(frozen=True, slots=True)
class Said:
    """The first place of a video where the words are said."""

    video_id: str
    start: float
    text: str


async def find_said(connection: Connection, principal: Principal, text: str, *, limit: int) -> list[Said]:
    """Videos of the library in which somebody says this, newest first."""
    rows = await connection.fetch(
        """SELECT t.video_id, (s.segment->>'start')::float8 AS start, s.segment->>'text' AS text
           FROM transcripts t CROSS JOIN LATERAL (
               SELECT segment FROM jsonb_array_elements(t.segments) AS segment
               WHERE segment->>'text' ILIKE $2 AND NOT coalesce((segment->>'deleted')::boolean, false)
               LIMIT 1) s
           WHERE t.library_id = $1 ORDER BY t.video_id DESC LIMIT $3""",
        principal.library_id,
        pattern_of(text),
        limit,
    )
    return [Said(row["video_id"], row["start"], row["text"]) for row in rows]
