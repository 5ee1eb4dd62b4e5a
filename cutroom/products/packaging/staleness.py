"""Says whether the generated title and description of a video are stale."""

from collections.abc import Collection, Mapping, Sequence

from cutroom.jobs.ids import AutomationType, JobKey, JobType
from cutroom.products.declaration import StaleKind, StaleProduct
from cutroom.products.packaging.rules import SKIPPED
from cutroom.products.packaging.service import VIDEO_FIELD
from cutroom.products.transcripts.staleness.changes import SourceChange
from cutroom.products.transcripts.staleness.query import WORDS_CHANGED, StaleQuery

# Chapters have times.
_RELEVANT: Mapping[AutomationType, Collection[SourceChange]] = {
    AutomationType.TITLE: WORDS_CHANGED,
    AutomationType.DESCRIPTION: WORDS_CHANGED | {SourceChange.TIMES_CHANGED},
}
_KINDS: Mapping[AutomationType, StaleKind] = {
    AutomationType.TITLE: StaleKind.TITLE,
    AutomationType.DESCRIPTION: StaleKind.DESCRIPTION,
}
_RUNS = """SELECT id, automation_type, result, started_at, created_at,
        coalesce(extract(epoch FROM finished_at - started_at), 0)::float AS seconds
    FROM jobs WHERE library_id = $1 AND id = ANY($2) AND status = 'ready' AND output_deleted_at IS NULL"""


async def find_stale(query: StaleQuery) -> Sequence[StaleProduct]:
    """Texts that were generated from another revision, and that were not changed since. Making them again is free."""
    if not query.is_edited:
        return []
    ids = [JobKey(JobType.PACKAGING, query.video.id, automation=each).id for each in _KINDS]
    stale = []
    for row in await query.connection.fetch(_RUNS, query.library_id, ids):
        automation, result = AutomationType(row["automation_type"]), row["result"] or {}
        field = VIDEO_FIELD[automation]
        if SKIPPED in result or result.get(field) != getattr(query.video, field):
            continue
        revision = await query.revision_of(result, row["started_at"] or row["created_at"])
        reasons = await query.reasons_since(revision, among=_RELEVANT[automation])
        if reasons:
            stale.append(
                StaleProduct(
                    _KINDS[automation],
                    row["id"],
                    reasons,
                    credits=0.0,
                    estimated_seconds=round(row["seconds"], 1),
                    transcript_revision=revision,
                )
            )
    return sorted(stale, key=lambda each: list(_KINDS.values()).index(each.kind))
