"""Lists the dubs of a video with outdated lines, by the rules of their own list."""

from collections.abc import Sequence

from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.products.declaration import StaleKind, StaleProduct
from cutroom.products.dubs.editing.service import DubEditor
from cutroom.products.transcripts.staleness.query import StaleQuery

_DUBS = """SELECT d.language, d.product FROM dubs d
    JOIN jobs j ON j.library_id = d.library_id AND j.id = 'dub_' || d.video_id || '_' || d.language || '_' || d.product
    WHERE d.library_id = $1 AND d.video_id = $2 AND d.completion = 'complete' AND j.status = 'ready'
        AND j.output_deleted_at IS NULL
    ORDER BY d.language, d.product"""


async def find_stale(query: StaleQuery) -> Sequence[StaleProduct]:
    """Dubs with outdated lines, and what regenerating these costs; without those whose lines are not known."""
    stale = []
    for row in await query.connection.fetch(_DUBS, query.library_id, query.video.id):
        found = await _stale_dub(query, row["language"], DubProduct(row["product"]))
        if found is not None:
            stale.append(found)
    return stale


async def _stale_dub(query: StaleQuery, language: str, product: DubProduct) -> StaleProduct | None:
    editor = DubEditor(
        connection=query.connection,
        principal=query.principal,
        storage=query.storage,
        prices=query.prices,
        now=query.now,
        video_id=query.video.id,
        language=language,
        product=product,
    )
    try:
        found = await editor.read()
    except CutroomError as error:
        if error.code != Code.FAILED_PRECONDITION:
            raise
        return None
    if not found.regeneration.segment_ids:
        return None
    return StaleProduct(
        StaleKind.DUB,
        JobKey(JobType.DUB, query.video.id, language=language, product=product).id,
        tuple(dict.fromkeys(reason for each in found.segments for reason in each.stale)),
        credits=found.regeneration.credits,
        estimated_seconds=found.regeneration.estimated_seconds,
        language=language,
        product=product.value,
        transcript_revision=found.published_transcript_revision,
        segments=len(found.regeneration.segment_ids),
    )
