"""Says which prepared downloads are stale: they contain subtitles of another revision of the transcript."""

from collections.abc import Sequence

from cutroom.jobs.ids import JobType, parse_job_id
from cutroom.products.declaration import StaleKind, StaleProduct
from cutroom.products.downloads.rules import DOWNLOAD_LIFETIME, Artifact
from cutroom.products.transcripts.staleness.query import StaleQuery

MAX_COMPARED_DOWNLOADS = 50
# The last one of a kind; older ones are not made again.
_PREPARED = """SELECT * FROM (
        SELECT DISTINCT ON (plan ->> 'artifact', plan ->> 'language') id, plan, result, started_at, created_at,
            finished_at, coalesce(extract(epoch FROM finished_at - started_at), 0)::float AS seconds
        FROM jobs WHERE library_id = $1 AND video_id = $2 AND type = $3 AND status = 'ready'
            AND output_deleted_at IS NULL AND finished_at > $4 AND plan ->> 'artifact' <> $5
        ORDER BY plan ->> 'artifact', plan ->> 'language', finished_at DESC) newest
    ORDER BY finished_at DESC LIMIT $6"""


async def find_stale(query: StaleQuery) -> Sequence[StaleProduct]:
    """Files that can still be downloaded, but would be different now. Preparing them again is free."""
    if not query.is_edited:
        return []
    rows = await query.connection.fetch(
        _PREPARED,
        query.library_id,
        query.video.id,
        JobType.DOWNLOAD.value,
        query.now - DOWNLOAD_LIFETIME,
        Artifact.SOURCE.value,
        MAX_COMPARED_DOWNLOADS,
    )
    stale = []
    for row in rows:
        key = parse_job_id(row["id"])
        assert key is not None
        revision = await query.revision_of(row["result"], row["started_at"] or row["created_at"])
        reasons = await query.reasons_since(revision)
        if reasons:
            stale.append(
                StaleProduct(
                    StaleKind.DOWNLOAD,
                    key.subject,
                    reasons,
                    credits=0.0,
                    estimated_seconds=round(row["seconds"], 1),
                    language=row["plan"]["language"],
                    transcript_revision=revision,
                )
            )
    return stale
