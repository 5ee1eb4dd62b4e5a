"""Lists the captions of a video with stale segments, by the rules of their own list."""

from collections.abc import Sequence

from cutroom.jobs.ids import JobKey, JobType
from cutroom.products.captions.editing.service import CaptionEditor
from cutroom.products.declaration import StaleKind, StaleProduct
from cutroom.products.transcripts.staleness.query import StaleQuery

_TRACKS = """SELECT c.language FROM captions c
    JOIN jobs j ON j.library_id = c.library_id AND j.id = 'captions_' || c.video_id || '_' || c.language
    WHERE c.library_id = $1 AND c.video_id = $2 AND j.status = 'ready' AND j.output_deleted_at IS NULL
    ORDER BY c.language"""


async def find_stale(query: StaleQuery) -> Sequence[StaleProduct]:
    """Captions with stale segments, and what bringing these up to date costs."""
    stale = []
    for row in await query.connection.fetch(_TRACKS, query.library_id, query.video.id):
        language = row["language"]
        editor = CaptionEditor(query.connection, query.principal, query.video.id, language, query.now)
        found = await editor.get_segments(prices=query.prices)
        if found.stale_segments:
            stale.append(
                StaleProduct(
                    StaleKind.CAPTIONS,
                    JobKey(JobType.CAPTIONS, query.video.id, language=language).id,
                    tuple(dict.fromkeys(reason for each in found.segments for reason in each.stale)),
                    credits=found.regeneration.credits,
                    estimated_seconds=found.regeneration.estimated_seconds,
                    language=language,
                    segments=found.stale_segments,
                )
            )
    return stale
