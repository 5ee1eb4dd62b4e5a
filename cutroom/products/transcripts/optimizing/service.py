"""Reads, edits and requests optimized scripts for the API."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.jobs.estimates import whole_percent
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.jobs.states import JobState
from cutroom.library.service import get_video
from cutroom.library.trash import keep_video
from cutroom.platform.db import Connection
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.products.transcripts.editing.operations import InvalidEditError, checked_text
from cutroom.products.transcripts.editing.revisions import TranscriptState, read_document
from cutroom.products.transcripts.editing.service import require_state
from cutroom.products.transcripts.optimizing.schemas import (
    OptimizationJob,
    OptimizationRequest,
    OptimizedTranscript,
    ScriptPatch,
    ScriptRevision,
    StartedOptimization,
    described_script_segment,
)
from cutroom.products.transcripts.optimizing.script import (
    OptimizedScript,
    ScriptEdit,
    apply_edits,
    compare_script,
    has_stale,
    stale_segments,
)
from cutroom.products.transcripts.optimizing.stored_scripts import find_script, save_script

START_SECONDS, SEGMENT_SECONDS = 2.0, 0.02  # if nothing was measured
MEASURED_JOBS = 5
_SEGMENT_SECONDS = f"""SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FROM (
    SELECT extract(epoch FROM finished_at - started_at) / (result ->> 'madeSegments')::integer AS seconds FROM jobs
     WHERE library_id = $1 AND type = 'optimize' AND status = 'ready' AND (result ->> 'madeSegments')::integer > 0
     ORDER BY finished_at DESC LIMIT {MEASURED_JOBS}) measured"""  # noqa: S608 (a constant)


def optimization_key(video_id: str, transcript_revision: int) -> JobKey:
    """The job that optimizes a revision of a transcript."""
    digest = hashlib.sha256(f"{video_id} {transcript_revision}".encode()).hexdigest()
    return JobKey(InternalJobType.OPTIMIZE, "0" + digest[:25])  # has the form of an id


@dataclass(frozen=True, slots=True)
class ScriptEditor:
    """A caller who reads, edits or requests the optimized script of a video."""

    connection: Connection
    principal: Principal
    video_id: str
    now: datetime

    async def read(self) -> OptimizedTranscript:
        """The script, compared with the current transcript, and the job that makes it."""
        state, segments, script = await self._open()
        statuses = compare_script(script, segments) if script.revision else []
        job = await self._job(optimization_key(self.video_id, state.revision))
        return OptimizedTranscript(
            status="ready" if script.revision else _status(job),
            video_id=self.video_id,
            revision=script.revision,
            transcript_revision=state.revision,
            segments=[described_script_segment(each) for each in statuses],
            stale_segments=sum(bool(each.stale) for each in statuses),
            review_segments=sum(each.needs_review for each in statuses),
            job=job,
        )

    async def edit(self, patch: ScriptPatch) -> ScriptRevision:
        """Set texts by hand; raise CONFLICT if the caller has seen an older script."""
        await keep_video(self.connection, self.principal.library_id, self.video_id)
        _, segments, script = await self._open(lock=True)
        if script.revision != patch.revision:
            message = "The script was changed in the meantime. Get its current revision, then repeat the change."
            raise CutroomError(Code.CONFLICT, message=message, details={"revision": script.revision})
        sources = {each.id: each for each in segments}
        edits = [_checked(at, each.id, each.text, sources) for at, each in enumerate(patch.changes)]
        edited = apply_edits(script, edits, sources)
        if edited is not script:
            await save_script(self.connection, self.principal.library_id, self.video_id, edited)
        changed = {each.segment_id for each in edits}
        return ScriptRevision(
            video_id=self.video_id,
            revision=edited.revision,
            segments=[
                described_script_segment(each) for each in compare_script(edited, segments) if each.id in changed
            ],
        )

    async def optimize(self, request: OptimizationRequest, *, prices: PriceList) -> StartedOptimization:
        """Create the job, or return the one that makes or has made the script of this revision."""
        await keep_video(self.connection, self.principal.library_id, self.video_id)
        state, segments, script = await self._open()
        if request.transcript_revision is not None and request.transcript_revision != state.revision:
            message = "The transcript was changed in the meantime. Get its current revision, then repeat the request."
            raise CutroomError(Code.CONFLICT, message=message, details={"transcriptRevision": state.revision})
        key, count = optimization_key(self.video_id, state.revision), len(stale_segments(script, segments))
        if has_stale(script, segments) or not script.revision:
            plan = {"optimized_video_id": self.video_id, "transcript_revision": state.revision}
            await create_jobs(
                self.connection,
                self.principal,
                [NewJob(key, None, plan=plan, rerun=True)],
                prices=prices,
                now=self.now,
            )
        job = await self._job(key)
        if job is None:
            message = "The script is up to date."
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "nothing_stale"})
        return StartedOptimization(
            video_id=self.video_id,
            transcript_revision=state.revision,
            segments=count,
            estimated_seconds=await self._estimate(count),
            job=job,
        )

    async def _open(self, *, lock: bool = False) -> tuple[TranscriptState, Sequence[DocumentSegment], OptimizedScript]:
        """The transcript's state and its segments without deleted ones, and the script."""
        library_id = self.principal.library_id
        await get_video(self.connection, self.principal, self.video_id)
        state = await require_state(self.connection, self.principal, self.video_id, lock=lock)
        document = await read_document(self.connection, library_id, self.video_id, state)
        return state, document.kept, await find_script(self.connection, library_id, self.video_id)

    async def _estimate(self, segments: int) -> float:
        measured: float | None = await self.connection.fetchval(_SEGMENT_SECONDS, self.principal.library_id)
        if measured is None:
            return round(START_SECONDS + SEGMENT_SECONDS * segments, 1)
        return round(max(1.0, measured * segments), 1)

    async def _job(self, key: JobKey) -> OptimizationJob | None:
        row = await self.connection.fetchrow(
            """SELECT id, status, progress, error_code, error_message, error_details FROM jobs
               WHERE library_id = $1 AND id = $2""",
            self.principal.library_id,
            key.id,
        )
        if row is None:
            return None
        error = {"code": row["error_code"], "message": row["error_message"], "details": row["error_details"] or {}}
        return OptimizationJob(
            id=row["id"],
            status=row["status"],
            progress=whole_percent(row["progress"]),
            error=error if row["status"] == JobState.FAILED else None,
        )


def _status(job: OptimizationJob | None) -> Literal["none", "processing", "failed"]:
    """The state of a script that does not exist."""
    if job is None or job.status == "ready":
        return "none"
    return "failed" if job.status == "failed" else "processing"


def _checked(at: int, segment_id: str, text: str | None, sources: Mapping[str, DocumentSegment]) -> ScriptEdit:
    if segment_id not in sources:
        raise invalid_field(f"changes.{at}.id", "The transcript has no such segment.")
    if not text or not text.strip():
        return ScriptEdit(segment_id, None if text is None else "")
    try:
        return ScriptEdit(segment_id, checked_text(text))
    except InvalidEditError as error:
        raise invalid_field(f"changes.{at}.{error.field}", error.message) from error
