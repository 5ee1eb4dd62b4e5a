"""Activities of the dub workflow; outputs are stored under fingerprints of their inputs and reused."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from temporalio import activity

from cutroom.engines.registry import Engines
from cutroom.glossary.broken_terms import broken_term_items, broken_terms_report
from cutroom.jobs.lifecycle import JobRef, require_running
from cutroom.jobs.step_progress import ReportProgress, portion
from cutroom.jobs.steps import job_step
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.products.dubs import mixdown, progress, service, source_separation, synthesis
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.cast.voices import load_cast_voices
from cutroom.products.dubs.editing.adoption import published_dub
from cutroom.products.dubs.line_levels import lift_quiet_lines
from cutroom.products.dubs.line_sync import line_starts
from cutroom.products.dubs.report import line_sync, sync_report
from cutroom.products.dubs.script import (
    CHUNK_SECONDS,
    AssignedVoice,
    DubBatch,
    DubChunk,
    DubLine,
    DubScript,
    LineSchedule,
    PlacedLine,
    broken_terms,
    dub_segments,
    dub_speakers,
    flagged_lines,
    line_batches,
    to_json,
)
from cutroom.products.dubs.script_lines import translate_lines
from cutroom.products.dubs.sources.loading import load_dub_source
from cutroom.products.dubs.sources.options import DEFAULT_OPTIONS, DubTextOptions
from cutroom.products.speech.rules import fingerprint
from cutroom.products.transcripts.alignment import read_words
from cutroom.products.transcripts.service import load_transcript

MIXING_FRACTION = progress.MIXING / (progress.MIXING + progress.VERIFICATION)
MAX_FLAGGED = 200  # lines listed in the result; the total is reported separately

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DubPlan:
    """The parts of a script that the workflow needs to schedule its activities."""

    chunk_count: int
    line_batches: list[DubBatch]
    preview_lines: int  # that start in the first chunk


@dataclass(frozen=True, slots=True)
class FinishedChunks:
    """Storage paths of the mixed chunks of a batch, and of the transcripts of their lines."""

    mixed: list[str]
    transcribed: list[str]


@dataclass(frozen=True, slots=True)
class DubActivities:
    """Activities of the dub workflow."""

    database: Database
    artifacts: DubArtifacts
    engines: Engines
    clock: Clock
    pause_for_voice: Callable[[], Awaitable[None]]  # between lines and chunks, while interactive speech is synthesized

    @activity.defn(name="plan_dub")
    async def plan_dub(self, job: JobRef, dub: DubRef) -> DubPlan:
        """Translate the transcript into lines with their slots, and store the script."""
        return await self._plan(job, dub, DEFAULT_OPTIONS)

    @activity.defn(name="plan_dub_texts")
    async def plan_dub_texts(self, job: JobRef, dub: DubRef, options: DubTextOptions) -> DubPlan:
        """Plan a dub whose texts are chosen; a worker of 0.1.0 leaves it to a newer one."""
        return await self._plan(job, dub, options)

    async def _plan(self, job: JobRef, dub: DubRef, options: DubTextOptions) -> DubPlan:
        async with self._step(job, "translating", progress=progress.TRANSLATION) as report_progress:
            async with self.database.transaction(job.library_id) as connection:
                loaded = await load_dub_source(connection, dub, options)
                await service.open_dub(connection, job.library_id, dub.video_id, dub.language, dub.product)
            words = read_words(await self.artifacts.read(loaded.transcript.alignment_path))
            source = loaded.to_source(words)
            translated = await asyncio.to_thread(
                translate_lines, self.engines, source, dub.language, on_progress=report_progress
            )
            separator = await asyncio.to_thread(self.engines.source_separator)
            spans = [*((line.start_seconds, line.end_seconds) for line in translated.lines), *source.silent]
            script = DubScript(
                language=dub.language,
                product=dub.product,
                source_language=loaded.language,
                quality=translated.quality,
                engines=translated.engines,
                duration_seconds=source.until_seconds,
                lines=translated.lines,
                separation_key=fingerprint({"separator": separator.name, "spans": spans}),
                glossary_version=loaded.glossary.version,
                transcript_revision=loaded.transcript.revision,
                options=options,
                silent=tuple(source.silent),
            )
            await self.artifacts.put(dub.path("script.json"), to_json(script))
        return DubPlan(script.chunk_count, line_batches(script.lines), sum(line.chunk == 0 for line in script.lines))

    @activity.defn(name="separate_dub_chunks")
    async def separate_dub_chunks(self, job: JobRef, dub: DubRef, batch: DubBatch) -> None:
        """Separate speech and background chunk by chunk; the result is shared by all dubs of the video."""
        script = await self.artifacts.script(dub)
        # The powers are written last.
        chunks = [each for each in batch.numbers if not await self.artifacts.exists(dub.powers_path(script, each))]
        share = len(chunks) * progress.separation_share(script)
        async with self._step(job, "synthesizing", progress=progress.SYNTHESIZED, share=share) as report_progress:
            for done, chunk in enumerate(chunks):
                await self.pause_for_voice()
                part = portion(report_progress, done / len(chunks), (done + 1) / len(chunks))
                await source_separation.separate_chunk(
                    self.artifacts, self.engines, dub=dub, script=script, index=chunk, on_progress=part
                )

    @activity.defn(name="assign_voices")
    async def assign_voices(self, job: JobRef, dub: DubRef) -> None:
        """Choose or clone a voice for each speaker."""
        script = await self.artifacts.script(dub)
        async with self.database.transaction(job.library_id) as connection:
            cast = await load_cast_voices(connection, dub)
        async with self._step(job, "synthesizing", progress=progress.SYNTHESIZED, share=progress.VOICES):
            voices = await synthesis.assign_voices(self.artifacts, self.engines, dub=dub, script=script, cast=cast)
            await self.artifacts.put(dub.path("voices.json"), to_json(voices))

    @activity.defn(name="synthesize_lines")
    async def synthesize_lines(self, job: JobRef, dub: DubRef, batch: DubBatch) -> int:
        """Synthesize lines in the voices of their speakers, fitted to their slots; return the line to continue with.

        A line that fails ends a batch of which others are finished: attempts are counted for each line.
        """
        script, voices = await self.artifacts.script(dub), await self.artifacts.voices(dub)
        lines = [script.lines[number] for number in batch.numbers]
        lines = [line for line in lines if not await self._is_synthesized(dub, line, voices[line.voice_key])]
        total, done = sum(progress.line_share(script, line) for line in lines), 0.0
        step = self._step(job, "synthesizing", progress=progress.SYNTHESIZED, share=total, is_partial=True)
        async with step as report_progress:
            for line in lines:
                await self.pause_for_voice()
                try:
                    await synthesis.synthesize_line(
                        self.artifacts, self.engines, dub=dub, line=line, voice=voices[line.voice_key]
                    )
                except Exception as error:
                    if line.number == batch.first:
                        raise
                    _log.warning("dub batch cut short", extra={"line": line.number, "error": repr(error)})
                    return line.number
                done += progress.line_share(script, line)
                report_progress(done / total if total else 1.0)
        return batch.end

    async def _is_synthesized(self, dub: DubRef, line: DubLine, voice: AssignedVoice) -> bool:
        return await self.artifacts.exists(dub.line_result_path(synthesis.line_key(dub, line, voice)))

    @activity.defn(name="schedule_lines")
    async def schedule_lines(self, job: JobRef, dub: DubRef, line_count: int, schedule: str) -> None:
        """Compute the start time and gain of the first lines, and store the schedule under the given name."""
        script = await self.artifacts.script(dub)
        async with self._step(job, "mixing", progress=progress.SCHEDULED, share=progress.SCHEDULE):
            voices = await self.artifacts.voices(dub) if line_count else {}
            lines = script.lines[:line_count]
            measured = await mixdown.measure_lines(self.artifacts, dub=dub, script=script, lines=lines, voices=voices)
            starts = line_starts([(script.lines[each.number].slot, each.seconds) for each, _ in measured])
            gains = lift_quiet_lines([level for _, level in measured])
            placed = [
                PlacedLine(
                    number=each.number,
                    key=each.key,
                    start_seconds=start,
                    seconds=each.seconds,
                    tempo=each.tempo,
                    text=script.lines[each.number].texts[each.text_index],
                    shortened=each.text_index > 0,
                    gain=gain,
                    level=round(level.level, 6),
                    speaking_rate=each.speaking_rate,
                )
                for (each, level), start, gain in zip(measured, starts, gains, strict=True)
            ]
            await self.artifacts.put(dub.path(f"{schedule}.json"), to_json(LineSchedule(tuple(placed))))

    @activity.defn(name="mix_dub_chunks")
    async def mix_dub_chunks(self, job: JobRef, dub: DubRef, batch: DubBatch, schedule: str) -> list[str]:
        """Mix chunks of the track, and return their storage paths."""
        script, lines = await self.artifacts.script(dub), await self.artifacts.schedule(dub, schedule)
        share = len(batch.numbers) * progress.mixing_share(script)
        async with self._step(job, "mixing", progress=progress.MIXED, share=share):
            return [await self._mix_chunk(dub, script, lines, chunk) for chunk in batch.numbers]

    async def _mix_chunk(self, dub: DubRef, script: DubScript, schedule: LineSchedule, chunk: int) -> str:
        lines, original = schedule.in_chunk(chunk)
        path = dub.mixed_path(script, schedule, chunk)
        if not await self.artifacts.exists(path):
            await mixdown.mix_chunk(
                self.artifacts, dub=dub, script=script, index=chunk, lines=lines, path=path, original=original
            )
        return path

    @activity.defn(name="finish_dub_chunks")
    async def finish_dub_chunks(self, job: JobRef, dub: DubRef, batch: DubBatch, schedule: str) -> FinishedChunks:
        """Mix chunks, and transcribe the lines that start in each to score their intelligibility."""
        script, lines = await self.artifacts.script(dub), await self.artifacts.schedule(dub, schedule)
        mixed, transcribed, count = [], [], len(batch.numbers)
        share = count * (progress.mixing_share(script) + progress.verification_share(script))
        async with self._step(job, "mixing", progress=progress.VERIFIED, share=share) as report_progress:
            for done, chunk in enumerate(batch.numbers):
                await self.pause_for_voice()
                mixed.append(await self._mix_chunk(dub, script, lines, chunk))
                part = portion(report_progress, (done + MIXING_FRACTION) / count, (done + 1) / count)
                transcribed.append(await self._transcribe_chunk(dub, script, lines, chunk, on_progress=part))
        return FinishedChunks(mixed, transcribed)

    @activity.defn(name="transcribe_dub_chunks")
    async def transcribe_dub_chunks(self, job: JobRef, dub: DubRef, batch: DubBatch, schedule: str) -> list[str]:
        """Transcribe chunks, for workflows that were started by version 0.1."""
        script, lines = await self.artifacts.script(dub), await self.artifacts.schedule(dub, schedule)
        share = len(batch.numbers) * progress.verification_share(script)
        async with self._step(job, "mixing", progress=progress.VERIFIED, share=share) as report_progress:
            return [
                await self._transcribe_chunk(dub, script, lines, chunk, on_progress=report_progress)
                for chunk in batch.numbers
            ]

    async def _transcribe_chunk(
        self, dub: DubRef, script: DubScript, schedule: LineSchedule, chunk: int, *, on_progress: ReportProgress
    ) -> str:
        bounds = DubChunk.of(script, chunk)
        start = bounds.start_seconds
        lines = [each for each in schedule.lines if bounds.contains(each.start_seconds)]
        inputs = {"language": dub.language, "lines": [[each.key, each.start_seconds - start] for each in lines]}
        path = dub.shared_path(f"transcribed/{fingerprint(inputs)}.json")
        if not await self.artifacts.exists(path):
            texts = await mixdown.transcribe_lines(
                self.artifacts, self.engines, dub=dub, lines=lines, start_seconds=start, on_progress=on_progress
            )
            await self.artifacts.put(path, json.dumps(texts, ensure_ascii=False).encode())
        return path

    @activity.defn(name="publish_dub_preview")
    async def publish_dub_preview(self, job: JobRef, dub: DubRef, chunk_path: str) -> None:
        """Publish the first chunk while the rest is still being made."""
        async with self._step(job, "synthesizing", progress=progress.SYNTHESIZED, share=progress.PREVIEW):
            path, _ = await mixdown.publish_track(
                self.artifacts, dub=dub, chunks=[chunk_path], name="preview.m4a", seconds=CHUNK_SECONDS
            )
            await self._update(job, dub, {"completion": "preview_ready", "preview_path": path})

    @activity.defn(name="publish_dub")
    async def publish_dub(
        self, job: JobRef, dub: DubRef, mixed: list[str], transcribed: list[str], schedule: str
    ) -> dict[str, Any]:
        """Write the finished track and the sync report, and return the job's result."""
        script, lines = await self.artifacts.script(dub), await self.artifacts.schedule(dub, schedule)
        voices = await self.artifacts.voices(dub) if script.lines else {}
        async with self.database.transaction(job.library_id) as connection:
            transcript = await load_transcript(connection, job.library_id, dub.video_id)
        async with self._step(job, "mixing", progress=progress.PUBLISHED):
            path, gain_db = await mixdown.publish_track(
                self.artifacts, dub=dub, chunks=mixed, name="track.m4a", seconds=None
            )
            recognized: dict[str, str] = {}
            for each in transcribed:
                recognized |= json.loads(await self.artifacts.read(each))
            sync = sync_report([line_sync(script, line, recognized) for line in lines.lines])
            published = published_dub(script, lines, voices, recognized=recognized, gain_db=gain_db)
            broken = broken_terms(script, lines)
            columns = {
                "completion": "complete",
                "audio_path": path,
                "segments": dub_segments(script, lines),
                "speakers": dub_speakers(script, transcript.speakers),
                "sync": sync,
                "broken_terms": broken_term_items(broken),
                "lines": published.to_row() if published is not None else None,
            }
            await self._update(job, dub, columns)
        flagged = flagged_lines(script)
        return {
            "language": dub.language,
            "product": dub.product,
            "sourceLanguage": script.source_language,
            "quality": script.quality,
            "engines": list(script.engines),
            "flaggedLines": len(flagged),
            "flagged": flagged[:MAX_FLAGGED],
            "glossaryVersion": script.glossary_version,
            **broken_terms_report(broken),
            "voices": {speaker: voice.to_result() for speaker, voice in voices.items()},
            "sync": sync,
        }

    async def _update(self, job: JobRef, dub: DubRef, columns: Mapping[str, Any]) -> None:
        async with self.database.transaction(dub.library_id) as connection:
            await require_running(connection, job)
            await service.update_dub(
                connection,
                dub.library_id,
                dub.video_id,
                language=dub.language,
                product=dub.product,
                columns={**columns, "updated_at": self.clock()},
            )

    def _step(
        self, job: JobRef, stage: str, *, progress: float, share: float | None = None, is_partial: bool = False
    ) -> AbstractAsyncContextManager[ReportProgress]:
        return job_step(self.database, self.clock, job, stage, progress=progress, share=share, is_partial=is_partial)
