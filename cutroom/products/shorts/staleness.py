"""Says which shorts, promos and clips are stale: those in whose ranges other words are said now."""

from collections.abc import Collection, Mapping, Sequence

from cutroom.credits.service import billable_items
from cutroom.products.declaration import StaleKind, StaleProduct
from cutroom.products.shorts.rules import ShortsKind
from cutroom.products.shorts.service import credit_bundle
from cutroom.products.transcripts.staleness.changes import SourceChange
from cutroom.products.transcripts.staleness.query import StaleQuery

MAX_COMPARED_OUTPUTS = 200  # of one video, the newest
_KINDS: Mapping[ShortsKind, StaleKind] = {
    ShortsKind.SHORTS: StaleKind.SHORT,
    ShortsKind.PROMO: StaleKind.PROMO,
    ShortsKind.CLIPS: StaleKind.CLIP,
}
# Clips show no words: only what is heard of them can change.
_HEARD = frozenset({SourceChange.ADDED, SourceChange.REMOVED})
_RELEVANT: Mapping[ShortsKind, Collection[SourceChange]] = {
    ShortsKind.SHORTS: frozenset(SourceChange),
    ShortsKind.PROMO: frozenset(SourceChange),
    ShortsKind.CLIPS: _HEARD,
}
_COMPARED_OUTPUTS = """SELECT o.id, o.kind, o.moments, o.transcript_revision, j.plan, j.started_at, j.created_at,
        coalesce(extract(epoch FROM j.finished_at - j.started_at), 0)::float
            / greatest((j.result ->> 'outputs')::integer, 1) AS seconds
    FROM shorts_outputs o JOIN jobs j ON j.library_id = o.library_id AND j.id = 'shorts_' || o.request_id
    WHERE o.library_id = $1 AND o.video_id = $2 AND o.deleted_at IS NULL AND j.status = 'ready'
    ORDER BY o.created_at DESC, o.number LIMIT $3"""


async def find_stale(query: StaleQuery) -> Sequence[StaleProduct]:
    """Outputs with changed words; each is priced as a request of its own."""
    if not query.is_edited:
        return []
    stale = []
    for row in await query.connection.fetch(_COMPARED_OUTPUTS, query.library_id, query.video.id, MAX_COMPARED_OUTPUTS):
        kind, revision = ShortsKind(row["kind"]), row["transcript_revision"]
        if revision is None:  # made before revisions were recorded
            revision = await query.revision_of(None, row["started_at"] or row["created_at"])
        ranges = [(each["start"], each["start"] + each["seconds"]) for each in row["moments"]]
        reasons = await query.reasons_since(revision, among=_RELEVANT[kind], ranges=ranges)
        if reasons:
            stale.append(
                StaleProduct(
                    _KINDS[kind],
                    row["id"],
                    reasons,
                    credits=query.credits_of(billable_items(credit_bundle(row["plan"]))[:1]),
                    estimated_seconds=round(row["seconds"], 1),
                    transcript_revision=revision,
                )
            )
    return stale
