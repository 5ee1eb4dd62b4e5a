"""Translates a transcript, checks the translation for missing entities, and writes subtitle files."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.translation.fidelity import missing_entities
from cutroom.engines.translation.port import Quality
from cutroom.engines.translation.routing import TranslationPlan, plan_translation, translate_along
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.step_progress import ReportProgress
from cutroom.jobs.steps import job_step
from cutroom.library.service import get_duration
from cutroom.media.subtitles import MAX_SECONDS
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.captions import service
from cutroom.products.transcripts.alignment import attach_words, read_words, segment_rows
from cutroom.products.transcripts.cue_rules import CueRule
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import load_transcript
from cutroom.products.transcripts.subtitles import store_subtitles

MAX_FLAGGED = 200  # lines listed in the result; the total is reported separately


@dataclass(frozen=True, slots=True)
class TranslatedSegments:
    """TranslatedSegments segments, the plan used, and lines flagged for review."""

    segments: list[TranscriptSegment]
    plan: TranslationPlan | None  # None if there is no speech
    flagged: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CaptionActivities:
    """Activities of the captions workflow; retries overwrite the same keys."""

    database: Database
    storage: Storage
    engines: Engines
    clock: Clock

    @activity.defn(name="translate_captions")
    async def translate_captions(self, job: JobRef, video_id: str, language: str) -> dict[str, Any]:
        """Store translated captions, and return the job's result with quality and lines to review."""
        async with self.database.transaction(job.library_id) as connection:
            transcript = await load_transcript(connection, job.library_id, video_id)
            duration = await get_duration(connection, job.library_id, video_id)
        data = b"".join([chunk async for chunk in self.storage.read(transcript.alignment_path)])
        segments = attach_words(transcript.segments, read_words(data))
        async with job_step(self.database, self.clock, job, "translating", progress=90) as report_progress:
            translated = await asyncio.to_thread(
                self._translate, segments, transcript.language, language, report_progress=report_progress
            )
        exceptions = await store_subtitles(
            self.storage,
            translated.segments,
            library_id=job.library_id,
            video_id=video_id,
            language=language,
            until_seconds=duration or MAX_SECONDS,
        )
        quality = translated.plan.quality if translated.plan else Quality.GOOD
        async with self.database.transaction(job.library_id) as connection:
            await service.save_captions(
                connection,
                job.library_id,
                video_id,
                language=language,
                segments=segment_rows(translated.segments),
                quality=quality,
                now=self.clock(),
            )
        return {
            "language": language,
            "sourceLanguage": transcript.language,
            "quality": quality.value,
            "engines": [leg.translator.name for leg in translated.plan.legs] if translated.plan else [],
            "via": list(translated.plan.via) if translated.plan else [],
            "lines": len(translated.segments),
            "flaggedLines": len(translated.flagged),
            "flagged": translated.flagged[:MAX_FLAGGED],
            "readingSpeedExceptions": sum(each.rule is CueRule.READING_SPEED for each in exceptions),
        }

    def _translate(
        self, segments: Sequence[TranscriptSegment], source: str, target: str, *, report_progress: ReportProgress
    ) -> TranslatedSegments:
        """Translate all sentences in order, so that neighbors provide context; timing is kept."""
        if not segments:
            return TranslatedSegments([], None, [])
        plan = plan_translation(self.engines.translators(), source=source, target=target)
        texts = translate_along(plan, [segment.text for segment in segments], on_progress=report_progress)
        flagged = []
        for number, (segment, text) in enumerate(zip(segments, texts, strict=True)):
            missing = missing_entities(segment.text, text, source=source, target=target)
            if missing:
                flagged.append(
                    {
                        "line": number,
                        "start": round(segment.start_seconds, 3),
                        "source": segment.text,
                        "translation": text,
                        "lost": [{"what": each.kind.value, "text": each.text} for each in missing],
                    }
                )
        return TranslatedSegments(
            [replace(segment, text=text) for segment, text in zip(segments, texts, strict=True)], plan, flagged
        )
