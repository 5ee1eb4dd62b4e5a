"""Translates a transcript, checks the translation for missing entities, and writes subtitle files."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.translation.document import DocumentTranslation
from cutroom.engines.translation.document_routing import translate_document
from cutroom.engines.translation.port import Quality
from cutroom.engines.translation.routing import TranslationPlan, plan_translation
from cutroom.glossary.broken_terms import CheckedLine, broken_terms_report, check_lines
from cutroom.glossary.service import load_glossary
from cutroom.jobs.lifecycle import JobRef, require_running
from cutroom.jobs.step_progress import ReportProgress
from cutroom.jobs.steps import job_step
from cutroom.library.service import get_duration, get_title
from cutroom.media.subtitles import MAX_SECONDS
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.captions import service
from cutroom.products.captions.editing.segments import CaptionSegment
from cutroom.products.captions.translated_lines import MAX_FLAGGED, caption_segment, flagged_line, max_characters
from cutroom.products.transcripts.alignment import attach_words, read_words
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import StoredTranscript, load_transcript
from cutroom.products.transcripts.subtitles import reading_speed_report, store_subtitles
from cutroom.products.transcripts.translation_documents import transcript_document
from cutroom.text.glossary.rules import BrokenTerm, TermRule
from cutroom.text.glossary.terms import Glossary


@dataclass(frozen=True, slots=True)
class TranslatedSegments:
    """Translated segments, the plan used, and lines flagged for review."""

    segments: list[TranscriptSegment]
    captions: list[CaptionSegment]  # the same with what they were made from
    plan: TranslationPlan | None  # None if there is no speech
    translation: DocumentTranslation
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
            title = await get_title(connection, job.library_id, video_id)
            glossary = await load_glossary(
                connection, job.library_id, video_id, source=transcript.language, target=language
            )
        data = b"".join([chunk async for chunk in self.storage.read(transcript.alignment_path)])
        spoken = zip(transcript.segment_ids, attach_words(transcript.segments, read_words(data)), strict=True)
        segments = {segment_id: each for segment_id, each in spoken if not each.deleted}
        async with job_step(self.database, self.clock, job, "translating", progress=90) as report_progress:
            translated = await asyncio.to_thread(
                self._translate,
                segments,
                transcript,
                language,
                title=title,
                glossary=glossary,
                report_progress=report_progress,
            )
        sheet = await store_subtitles(
            self.storage,
            translated.segments,
            library_id=job.library_id,
            video_id=video_id,
            language=language,
            until_seconds=duration or MAX_SECONDS,
            labels=transcript.labels,
        )
        quality = translated.translation.quality
        async with self.database.transaction(job.library_id) as connection:
            await require_running(connection, job)
            await service.save_captions(
                connection,
                job.library_id,
                video_id,
                language=language,
                segments=[each.to_row() for each in translated.captions],
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
            "fallbackLines": translated.translation.counts.fallback_lines,
            "glossaryVersion": glossary.version,
            **broken_terms_report(_broken_terms(glossary.rules, [*segments.values()], translated.segments)),
            **reading_speed_report(sheet),
        }

    def _translate(
        self,
        by_id: Mapping[str, TranscriptSegment],
        transcript: StoredTranscript,
        target: str,
        *,
        title: str | None,
        glossary: Glossary,
        report_progress: ReportProgress,
    ) -> TranslatedSegments:
        """Translate all lines as one document, so that each has its context; timing is kept."""
        segments = list(by_id.values())
        if not segments:
            return TranslatedSegments([], [], None, DocumentTranslation((), quality=Quality.PUBLISHABLE), [])
        translators = self.engines.translators()
        plan = plan_translation(translators, source=transcript.language, target=target)
        document = transcript_document(
            segments,
            source=transcript.language,
            target=target,
            speakers=transcript.speakers,
            title=title,
            max_characters=lambda at: max_characters(segments[at]),
            glossary=glossary.rules,
        )
        translation = translate_document(
            plan,
            document,
            translators=translators,
            identifier=self.engines.language_identifier(),
            embedder=self.engines.text_embedder(),
            on_progress=report_progress,
        )
        pairs = list(zip(segments, translation.lines, strict=True))
        flagged = [flagged_line(number, segment, line) for number, (segment, line) in enumerate(pairs) if line.reasons]
        captions = [
            caption_segment(segment_id, segment, line, revision=transcript.revision, via=plan.via)
            for segment_id, (segment, line) in zip(by_id, pairs, strict=True)
        ]
        shown = [replace(segment, text=line.text) for segment, line in pairs]
        return TranslatedSegments(shown, captions, plan, translation, flagged)


def _broken_terms(
    rules: Sequence[TermRule], sources: Sequence[TranscriptSegment], segments: Sequence[TranscriptSegment]
) -> list[tuple[CheckedLine, BrokenTerm]]:
    pairs = enumerate(zip(sources, segments, strict=True))
    return check_lines(rules, [CheckedLine(at, made.start_seconds, said.text, made.text) for at, (said, made) in pairs])
