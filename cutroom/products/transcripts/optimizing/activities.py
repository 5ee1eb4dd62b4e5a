"""Makes the texts of optimized scripts."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.errors import not_found
from cutroom.jobs.lifecycle import JobRef, require_running
from cutroom.jobs.step_progress import ReportProgress
from cutroom.jobs.steps import job_step
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.products.transcripts.document import DocumentSegment
from cutroom.products.transcripts.editing.revisions import find_state, read_document
from cutroom.products.transcripts.optimizing.script import (
    RULES,
    ScriptSegment,
    merge_made,
    removed_segments,
    stale_segments,
)
from cutroom.products.transcripts.optimizing.stored_scripts import find_script, save_script
from cutroom.products.transcripts.optimizing.wording import clean_wording


@dataclass(frozen=True, slots=True)
class OptimizingActivities:
    """A retry makes only what the attempt before has not stored."""

    database: Database
    engines: Engines
    clock: Clock

    @activity.defn(name="optimize_transcript")
    async def optimize_transcript(self, job: JobRef, video_id: str, transcript_revision: int) -> dict[str, Any]:
        """Make texts for the stale segments of a revision, and store them with those that are kept."""
        async with job_step(self.database, self.clock, job, "writing", progress=90) as report_progress:
            async with self.database.transaction(job.library_id) as connection:
                state = await find_state(connection, job.library_id, video_id)
                if state is None:
                    raise not_found()
                document = await read_document(connection, job.library_id, video_id, state, transcript_revision)
                script = await find_script(connection, job.library_id, video_id)
            wanted, removed = stale_segments(script, document.kept), removed_segments(script, document.kept)
            made = await asyncio.to_thread(self._make, wanted, state.language, report_progress)
            async with self.database.transaction(job.library_id) as connection:
                await require_running(connection, job)
                if await find_state(connection, job.library_id, video_id, lock=True) is None:
                    raise not_found()
                current = await find_script(connection, job.library_id, video_id)
                merged = merge_made(current, made, removed)
                if merged is not current:
                    await save_script(connection, job.library_id, video_id, merged)
        sources = {each.id: each.text for each in wanted}
        return {
            "language": state.language,
            "revision": merged.revision,
            "transcriptRevision": transcript_revision,
            "engines": sorted({each.engine for each in made if each.engine is not None}),
            "madeSegments": len(made),
            "changedSegments": sum(each.text != sources[each.id] for each in made),
            "silentSegments": sum(not each.text for each in made),
        }

    def _make(
        self, segments: Sequence[DocumentSegment], language: str, report_progress: ReportProgress
    ) -> list[ScriptSegment]:
        """Texts without disfluencies, tightened where a language model has found a wording that is as faithful."""
        texts = [clean_wording(each.text, language=language) for each in segments]
        tightener = self.engines.tightener()
        spoken = [at for at, text in enumerate(texts) if text]
        engines = [RULES] * len(texts)
        if tightener is not None and spoken:
            found = tightener.tighten([texts[at] for at in spoken], language=language, on_progress=report_progress)
            for at, text in zip(spoken, found, strict=True):
                if text is not None:
                    texts[at], engines[at] = text, tightener.name
        return [
            ScriptSegment(each.id, text, each.text, engine)
            for each, text, engine in zip(segments, texts, engines, strict=True)
        ]
