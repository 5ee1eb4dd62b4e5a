"""Says which thumbnails are stale: those whose headline comes from words that have changed."""

from collections.abc import Sequence

from cutroom.products.declaration import StaleKind, StaleProduct
from cutroom.products.thumbnails.rules import MAX_LISTED, ThumbnailMode, ThumbnailOptions, parse_options, quoted_text
from cutroom.products.thumbnails.service import items_for_plan
from cutroom.products.transcripts.staleness.query import WORDS_CHANGED, StaleQuery

SPOKEN_RANGE = "spokenRange"  # key of a job result: when the headline was said, if it was said as it is
_REQUESTS = """SELECT r.id, j.plan, j.result, j.started_at, j.created_at,
        coalesce(extract(epoch FROM j.finished_at - j.started_at), 0)::float AS seconds
    FROM thumbnail_requests r JOIN jobs j ON j.library_id = r.library_id AND j.id = r.job_id
    WHERE r.library_id = $1 AND r.video_id = $2 AND j.status = 'ready' AND j.output_deleted_at IS NULL
        AND EXISTS (SELECT FROM thumbnails t WHERE t.library_id = r.library_id AND t.request_id = r.id)
    ORDER BY r.created_at DESC, r.id DESC LIMIT $3"""


async def find_stale(query: StaleQuery) -> Sequence[StaleProduct]:
    """Requests whose headline was said where the transcript has changed; anywhere, if it sums up the whole."""
    if not query.is_edited:
        return []
    stale = []
    for row in await query.connection.fetch(_REQUESTS, query.library_id, query.video.id, MAX_LISTED):
        result = row["result"] or {}
        if not has_written_headline(parse_options(row["plan"])):
            continue
        revision = await query.revision_of(result, row["started_at"] or row["created_at"])
        spoken = result.get(SPOKEN_RANGE)
        reasons = await query.reasons_since(
            revision, among=WORDS_CHANGED, ranges=[(spoken[0], spoken[1])] if spoken else None
        )
        if reasons:
            stale.append(
                StaleProduct(
                    StaleKind.THUMBNAIL,
                    row["id"],
                    reasons,
                    credits=query.credits_of(items_for_plan(row["plan"])),
                    estimated_seconds=round(row["seconds"], 1),
                    transcript_revision=revision,
                )
            )
    return stale


def has_written_headline(options: ThumbnailOptions) -> bool:
    """Whether the headline is written from the transcript: not given, not quoted in a prompt, and not left out."""
    if options.omits_overlay or options.overlay is not None:
        return False
    return options.mode is not ThumbnailMode.PROMPT or quoted_text(options.prompt) is None
