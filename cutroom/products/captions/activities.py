"""The captions' one step: translate the transcript, compare both sides, and write the subtitle files."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.engines.translation.fidelity import missing_entities
from cutroom.engines.translation.port import Quality
from cutroom.engines.translation.routing import TranslationPlan, choose, translate_along
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import job_step
from cutroom.library.service import duration_of
from cutroom.media.subtitles import MAX_SECONDS
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.captions import service
from cutroom.products.transcripts.alignment import read_words, segment_rows, segments_of
from cutroom.products.transcripts.cue_rules import Rule
from cutroom.products.transcripts.sentences import Segment
from cutroom.products.transcripts.service import transcript_of
from cutroom.products.transcripts.subtitles import store_subtitles

MAX_FLAGGED = 200  # lines that a result shows; it says how many there are in all


@dataclass(frozen=True, slots=True)
class Translated:
    """The segments of one language, and how they came about."""

    segments: list[Segment]
    plan: TranslationPlan | None  # nothing was said, so nothing was translated
    flagged: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CaptionActivities:
    """Writes to keys that follow from its input, so a repeat overwrites the same bytes."""

    database: Database
    storage: Storage
    engines: Engines
    clock: Clock

    @activity.defn(name="translate_captions")
    async def translate_captions(self, ref: JobRef, video_id: str, language: str) -> dict[str, Any]:
        """What the job's result tells: how good the way was, and which lines a person should look at."""
        async with self.database.transaction(ref.library_id) as connection:
            transcript = await transcript_of(connection, ref.library_id, video_id)
            duration = await duration_of(connection, ref.library_id, video_id)
        data = b"".join([chunk async for chunk in self.storage.read(transcript.alignment_path)])
        spoken = segments_of(transcript.segments, read_words(data))
        async with job_step(self.database, self.clock, ref, "translating", progress=90):
            made = await asyncio.to_thread(self._translate, spoken, transcript.language, language)
        excuses = await store_subtitles(
            self.storage,
            made.segments,
            library_id=ref.library_id,
            video_id=video_id,
            language=language,
            until_seconds=duration or MAX_SECONDS,
        )
        quality = made.plan.quality if made.plan else Quality.GOOD
        async with self.database.transaction(ref.library_id) as connection:
            await service.put_captions(
                connection,
                ref.library_id,
                video_id,
                language=language,
                segments=segment_rows(made.segments),
                quality=quality,
                now=self.clock(),
            )
        return {
            "language": language,
            "sourceLanguage": transcript.language,
            "quality": quality.value,
            "engines": [leg.translator.name for leg in made.plan.legs] if made.plan else [],
            "via": list(made.plan.via) if made.plan else [],
            "lines": len(made.segments),
            "flaggedLines": len(made.flagged),
            "flagged": made.flagged[:MAX_FLAGGED],
            "readingSpeedExceptions": sum(excuse.rule is Rule.READING_SPEED for excuse in excuses),
        }

    def _translate(self, spoken: Sequence[Segment], source: str, target: str) -> Translated:
        """Sentence by sentence in order, so that each is context for its neighbours; the times stay."""
        if not spoken:
            return Translated([], None, [])
        plan = choose(self.engines.translators(), source=source, target=target)
        texts = translate_along(plan, [segment.text for segment in spoken])
        flagged = []
        for number, (segment, text) in enumerate(zip(spoken, texts, strict=True)):
            lost = missing_entities(segment.text, text, source=source, target=target)
            if lost:
                flagged.append(
                    {
                        "line": number,
                        "start": round(segment.start_seconds, 3),
                        "source": segment.text,
                        "translation": text,
                        "lost": [{"what": each.what.value, "text": each.text} for each in lost],
                    }
                )
        return Translated(
            [replace(segment, text=text) for segment, text in zip(spoken, texts, strict=True)], plan, flagged
        )
