"""Activities of the redub workflow: they make changed lines again, and leave all others as they are."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any

from temporalio import activity

from cutroom.capabilities.service import find_stock_voice
from cutroom.engines.registry import Engines
from cutroom.errors import Code, CutroomError
from cutroom.glossary.broken_terms import broken_term_items
from cutroom.glossary.service import load_glossary
from cutroom.jobs.ids import parse_job_id
from cutroom.jobs.lifecycle import JobRef, require_running
from cutroom.jobs.step_progress import ReportProgress
from cutroom.jobs.steps import job_step
from cutroom.library.service import get_duration, get_title
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database
from cutroom.products.dubs import mixdown, progress, service, synthesis
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.cast.voices import load_cast_voices
from cutroom.products.dubs.editing.comparison import compare_dub
from cutroom.products.dubs.editing.lines import PublishedDub
from cutroom.products.dubs.editing.placement import place_lines
from cutroom.products.dubs.editing.redub_lines import (
    LineWork,
    RedubLine,
    lines_to_json,
    read_lines,
    redub_lines,
    republished,
    script_lines,
    spoken_batches,
    untranslated,
)
from cutroom.products.dubs.editing.state import DubKey, find_dub, read_published
from cutroom.products.dubs.editing.track_splicing import changed_spans, publish_spliced
from cutroom.products.dubs.report import line_sync, sync_report
from cutroom.products.dubs.script import (
    CHUNK_SECONDS,
    AssignedVoice,
    DubBatch,
    DubScript,
    LineSchedule,
    PlacedLine,
    broken_terms,
    dub_segments,
    dub_speakers,
    to_json,
)
from cutroom.products.dubs.script_lines import DubSource, translate_texts
from cutroom.products.transcripts.document import TranscriptDocument, speaker_rows
from cutroom.products.transcripts.editing.revisions import find_state, read_document
from cutroom.products.transcripts.segmentation import TranscriptSegment

SCHEDULE = "schedule"
LINES, RECOGNIZED, TRACK = "lines.json", "recognized.json", "track.json"


@dataclass(frozen=True, slots=True)
class RedubRequest:
    """Which lines of a dub are made again, from which revision of the transcript."""

    transcript_revision: int
    lines: list[str]


@dataclass(frozen=True, slots=True)
class RedubPlan:
    """What the workflow needs to schedule its activities."""

    dub: DubRef  # the new generation
    chunk_count: int
    batches: list[DubBatch]  # of lines that a voice speaks
    new_speakers: list[str]  # to whom no voice was assigned yet


@dataclass(frozen=True, slots=True)
class RedubActivities:
    """Activities of the redub workflow."""

    database: Database
    artifacts: DubArtifacts
    engines: Engines
    clock: Clock

    @activity.defn(name="plan_redub")
    async def plan_redub(self, job: JobRef, dub: DubRef, request: RedubRequest) -> RedubPlan:
        """Compare the published lines with the transcript, translate what has changed, and store the new script."""
        parsed = parse_job_id(job.job_id)
        assert parsed is not None
        target = replace(dub, generation=parsed.subject)
        key = DubKey(dub.library_id, dub.video_id, dub.language, dub.product)
        async with self._step(job, "translating", progress=progress.TRANSLATION) as report_progress:
            async with self.database.transaction(job.library_id) as connection:
                state = await find_dub(connection, key)
                transcript = await find_state(connection, dub.library_id, dub.video_id)
                if state is None or transcript is None:
                    raise CutroomError(Code.FAILED_PRECONDITION, details={"reason": "dub"})
                document = await read_document(
                    connection, dub.library_id, dub.video_id, transcript, request.transcript_revision
                )
                duration = await get_duration(connection, dub.library_id, dub.video_id)
                title = await get_title(connection, dub.library_id, dub.video_id)
                glossary = await load_glossary(
                    connection, dub.library_id, dub.video_id, source=transcript.language, target=dub.language
                )
            published = await read_published(self.artifacts.storage, key, state, document)
            base = await self.artifacts.script(replace(dub, generation=state.generation))
            async with self.database.transaction(job.library_id) as connection:
                states = await compare_dub(connection, dub, published, document, state.edits)
            until = duration or base.duration_seconds
            document, lines = states.document, redub_lines(states.lines, request.lines)
            source = DubSource(
                (),
                transcript.language,
                speaker_rows(document),
                title,
                until,
                glossary=glossary,
            )
            lines = await asyncio.to_thread(self._translate, lines, source, dub.language, report_progress)
            script = replace(
                base,
                lines=tuple(script_lines(lines, document, until_seconds=until, glossary=glossary)),
                transcript_revision=request.transcript_revision,
            )
            async with self.database.transaction(job.library_id) as connection:
                voices = await _known_voices(connection, published, lines)
            await self.artifacts.put(target.path("script.json"), to_json(script))
            await self.artifacts.put(target.path("voices.json"), to_json(voices))
            await self.artifacts.put(target.path(LINES), lines_to_json(lines))
            await self.artifacts.put(target.path(TRACK), json.dumps({"gain_db": published.gain_db}).encode())
        keys = {script.lines[number].voice_key for batch in spoken_batches(lines) for number in batch.numbers}
        return RedubPlan(target, script.chunk_count, spoken_batches(lines), sorted(keys - set(voices)))

    def _translate(
        self, lines: list[RedubLine], source: DubSource, language: str, on_progress: ReportProgress
    ) -> list[RedubLine]:
        """The lines with translations of those whose source has changed."""
        positions = untranslated(lines)
        segments = [
            TranscriptSegment(each.start_seconds, each.end_seconds - each.cut_seconds, each.speaker, each.text, ())
            for each in (lines[at].source for at in positions)
        ]
        changed = replace(source, segments=segments)
        found = translate_texts(self.engines, changed, language, on_progress=on_progress)
        translated = list(lines)
        for at, texts in zip(positions, found, strict=True):
            translated[at] = lines[at].translated_by(texts)
        return translated

    @activity.defn(name="assign_redub_voices")
    async def assign_redub_voices(self, job: JobRef, dub: DubRef, speakers: list[str]) -> None:
        """Choose or clone voices for speakers who had no line before."""
        script, voices = await self.artifacts.script(dub), await self.artifacts.voices(dub)
        theirs = replace(script, lines=tuple(line for line in script.lines if line.speaker in speakers))
        async with self.database.transaction(job.library_id) as connection:
            cast = await load_cast_voices(connection, dub)
        async with self._step(job, "synthesizing", progress=progress.SYNTHESIZED, share=progress.VOICES):
            assigned = await synthesis.assign_voices(self.artifacts, self.engines, dub=dub, script=theirs, cast=cast)
            await self.artifacts.put(dub.path("voices.json"), to_json({**assigned, **voices}))

    @activity.defn(name="schedule_redub_lines")
    async def schedule_redub_lines(self, job: JobRef, dub: DubRef) -> None:
        """Place the changed lines among the others, which keep their start and gain."""
        script, voices = await self.artifacts.script(dub), await self.artifacts.voices(dub)
        lines = read_lines(await self.artifacts.read(dub.path(LINES)))
        async with self._step(job, "mixing", progress=progress.SCHEDULED, share=progress.SCHEDULE):
            schedule = await place_lines(self.artifacts, dub=dub, script=script, lines=lines, voices=voices)
            await self.artifacts.put(dub.path(f"{SCHEDULE}.json"), to_json(schedule))

    @activity.defn(name="transcribe_redub_lines")
    async def transcribe_redub_lines(self, job: JobRef, dub: DubRef) -> None:
        """Transcribe the lines that were spoken again, to score their intelligibility."""
        schedule = await self.artifacts.schedule(dub, SCHEDULE)
        lines = read_lines(await self.artifacts.read(dub.path(LINES)))
        spoken = [each for each in schedule.lines if lines[each.number].work is LineWork.SPOKEN]
        async with self._step(job, "mixing", progress=progress.VERIFIED) as report_progress:
            recognized = await mixdown.read_back(self.artifacts, self.engines, dub=dub, lines=spoken)
            spoken = [each for each in spoken if str(each.number) not in recognized]
            at = 0
            while at < len(spoken):
                batch: list[PlacedLine] = []
                end = 0.0  # one after the other, as if in a chunk of their own
                while at < len(spoken) and (not batch or end + spoken[at].seconds <= CHUNK_SECONDS):
                    batch.append(replace(spoken[at], start_seconds=end))
                    end += spoken[at].seconds + 1
                    at += 1
                recognized |= await mixdown.transcribe_lines(
                    self.artifacts, self.engines, dub=dub, lines=batch, start_seconds=0.0
                )
                report_progress(at / len(spoken))
            await self.artifacts.put(dub.path(RECOGNIZED), json.dumps(recognized, ensure_ascii=False).encode())

    @activity.defn(name="publish_redub")
    async def publish_redub(self, job: JobRef, dub: DubRef, mixed: list[str], request: RedubRequest) -> dict[str, Any]:
        """Write the new track at the gain of the first one, and publish it in place of the old one."""
        script, schedule = await self.artifacts.script(dub), await self.artifacts.schedule(dub, SCHEDULE)
        voices = await self.artifacts.voices(dub)
        lines = read_lines(await self.artifacts.read(dub.path(LINES)))
        recognized = json.loads(await self.artifacts.read(dub.path(RECOGNIZED)))
        known_gain: float | None = json.loads(await self.artifacts.read(dub.path(TRACK)))["gain_db"]
        async with self._step(job, "mixing", progress=progress.PUBLISHED):
            path = (
                await self._splice(dub, script, schedule, mixed, gain_db=known_gain) if known_gain is not None else None
            )
            gain_db = known_gain
            if path is None or gain_db is None:
                path, gain_db = await mixdown.publish_track(
                    self.artifacts, dub=dub, chunks=mixed, name="track.m4a", seconds=None, gain_db=known_gain
                )
            made = republished(lines, script.lines, schedule, voices=voices, recognized=recognized)
            heard = {str(each.line.number): each.recognized for each in made if each.recognized is not None}
            sync = sync_report([line_sync(script, line, heard) for line in schedule.lines])
            published = PublishedDub(made, request.transcript_revision, gain_db, script.options)
            await self._publish(job, dub, published, path, sync)
        return {
            "language": dub.language,
            "product": dub.product,
            "regeneratedLines": len(request.lines),
            "sync": {name: value for name, value in sync.items() if name != "segments"},
        }

    async def _splice(
        self, dub: DubRef, script: DubScript, schedule: LineSchedule, mixed: list[str], *, gain_db: float
    ) -> str | None:
        """The published track with what has changed; None if it cannot be used."""
        key = DubKey(dub.library_id, dub.video_id, dub.language, dub.product)
        async with self.database.transaction(dub.library_id) as connection:
            state = await find_dub(connection, key)
        if state is None or state.audio_path is None:
            return None
        before = replace(dub, generation=state.generation)
        if not await self.artifacts.exists(before.path(f"{SCHEDULE}.json")):
            return None
        duration = script.duration_seconds
        spans = changed_spans(await self.artifacts.schedule(before, SCHEDULE), schedule, duration_seconds=duration)
        return await publish_spliced(
            self.artifacts,
            dub=dub,
            published=state.audio_path,
            chunks=mixed,
            spans=spans,
            duration_seconds=duration,
            gain_db=gain_db,
        )

    async def _publish(
        self, job: JobRef, dub: DubRef, published: PublishedDub, path: str, sync: dict[str, Any]
    ) -> None:
        script, schedule = await self.artifacts.script(dub), await self.artifacts.schedule(dub, SCHEDULE)
        async with self.database.transaction(dub.library_id) as connection:
            await require_running(connection, job)
            document = await self._document(connection, dub, published.transcript_revision)
            columns = {
                "audio_path": path,
                "segments": dub_segments(script, schedule),
                "speakers": dub_speakers(_heard(script, published), speaker_rows(document)),
                "sync": sync,
                "lines": published.to_row(),
                "broken_terms": broken_term_items(broken_terms(script, schedule)),
                "generation": dub.generation,
                "updated_at": self.clock(),
            }
            await service.update_dub(
                connection,
                dub.library_id,
                dub.video_id,
                language=dub.language,
                product=dub.product,
                columns=columns,
            )

    async def _document(self, connection: Connection, dub: DubRef, revision: int) -> TranscriptDocument:
        transcript = await find_state(connection, dub.library_id, dub.video_id)
        if transcript is None:
            raise CutroomError(Code.FAILED_PRECONDITION, details={"reason": "transcript"})
        return await read_document(connection, dub.library_id, dub.video_id, transcript, revision)

    def _step(
        self, job: JobRef, stage: str, *, progress: float, share: float | None = None
    ) -> AbstractAsyncContextManager[ReportProgress]:
        return job_step(self.database, self.clock, job, stage, progress=progress, share=share)


async def _known_voices(
    connection: Connection, published: PublishedDub, lines: list[RedubLine]
) -> dict[str, AssignedVoice]:
    """The voices of the published lines, and the stock voices that people have chosen."""
    voices: dict[str, AssignedVoice] = {}
    for each in published.lines:
        if each.voice is not None:
            voices.setdefault(each.line.voice_key, each.voice)
    for id_ in {each.edits.voice for each in lines if each.work is LineWork.SPOKEN and each.edits.voice is not None}:
        found = await find_stock_voice(connection, id_)
        if found is None:
            message = "A voice that was chosen for a line is no longer available."
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "voice"})
        voices[f"voice:{id_}"] = AssignedVoice(found.engine, found.name)
    return voices


def _heard(script: DubScript, published: PublishedDub) -> DubScript:
    """The script without lines that no voice speaks."""
    spoken = {each.line.number for each in published.lines if each.placed is not None}
    return replace(script, lines=tuple(line for line in script.lines if line.number in spoken))
