"""Activities of the transcript workflow: speech detection, transcription by chunk, and assembly."""

import asyncio
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from temporalio import activity

from cutroom.cast.matching import RecognizedSpeaker, SpeakerVoice, recognize
from cutroom.cast.recognition import load_cast, replace_recognized
from cutroom.engines.diarization.clustering import cluster_speakers, speaker_of, speaker_turns
from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.diarization.segmentation import split_speech
from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.recognition.separated_voice import SeparatedVoiceRecognizer
from cutroom.engines.registry import Engines
from cutroom.engines.samples import duration_of, read_blocks, read_samples
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.jobs.ids import parse_job_id
from cutroom.jobs.lifecycle import JobRef, require_running
from cutroom.jobs.step_progress import ReportProgress, portion
from cutroom.jobs.steps import job_step
from cutroom.library.derived_media import DerivedMedia
from cutroom.library.rules import video_path
from cutroom.media.audio import decode_speech
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts import service
from cutroom.products.transcripts.alignment import (
    TranscribedChunk,
    read_chunk,
    segment_rows,
    transcribed_chunk,
    write_alignment,
    write_chunk,
)
from cutroom.products.transcripts.chunks import (
    DETECTION_PROGRESS,
    TRANSCRIPTION_PROGRESS,
    TranscriptChunk,
    plan_chunks,
    speech_within,
    transcription_share,
)
from cutroom.products.transcripts.document import speaker_label
from cutroom.products.transcripts.question_marks import mark_questions
from cutroom.products.transcripts.recognition.replacement import replace_transcript
from cutroom.products.transcripts.segmentation import TranscriptSegment, split_segments
from cutroom.products.transcripts.service import StoredTranscript
from cutroom.products.transcripts.speaker_recognition.voices import speaker_voices
from cutroom.products.transcripts.subtitles import reading_speed_report, store_subtitles
from cutroom.products.transcripts.subtitling.cues import CueSheet

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

RECOGNITION_FRACTION = 0.8  # of the time that a chunk takes; the rest is spent on speaker embeddings

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpeechPlan:
    """The duration of a recording and the chunks to transcribe."""

    duration_seconds: float
    chunks: list[TranscriptChunk]


@dataclass(frozen=True, slots=True)
class TranscriptChunkTask:
    """A chunk to transcribe; without a language, it is detected."""

    chunk: TranscriptChunk
    language: str | None
    total_chunks: int


@dataclass(frozen=True, slots=True)
class _Diarized:
    """The segments of a recording, and the voices of its speakers."""

    segments: list[TranscriptSegment]
    voices: list[SpeakerVoice]


@dataclass(frozen=True, slots=True)
class TranscriptActivities:
    """Activities of the transcript workflow; outputs are stored under deterministic keys and reused on retries."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    clock: Clock
    secret_box: SecretBox

    @activity.defn(name="detect_speech")
    async def detect_speech(self, job: JobRef, video_id: str) -> SpeechPlan:
        """Run voice activity detection over the whole recording, and plan the chunks."""
        async with self._step(job, "detecting speech", progress=DETECTION_PROGRESS) as report_progress:
            derived = DerivedMedia(self.storage, self.media_cache, self.sandbox)
            path = await derived.find_audio(job.library_id, video_id, "speech.flac")
            if path is None:
                return SpeechPlan(0.0, [])
            return await self._detect_speech(job, video_id, path, report_progress=report_progress)

    async def _detect_speech(
        self, job: JobRef, video_id: str, path: str, *, report_progress: ReportProgress
    ) -> SpeechPlan:
        async with self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                raw = await decode_speech(copy.path, output=temp_dir, sandbox=self.sandbox)
                detector = await asyncio.to_thread(self.engines.voice_activity_detector)
                duration = duration_of(raw)
                blocks = _with_progress(read_blocks(raw), report_progress, duration_seconds=duration)
                speech = await asyncio.to_thread(lambda: list(detector.detect(blocks)))
            document = [[span.start_seconds, span.end_seconds] for span in speech]
            await self.storage.put(_work_path(job, video_id, "speech.json"), json.dumps(document).encode())
        return SpeechPlan(duration, plan_chunks(speech, duration_seconds=duration))

    @activity.defn(name="transcribe_chunk")
    async def transcribe_chunk(self, job: JobRef, video_id: str, task: TranscriptChunkTask) -> str:
        """Transcribe a chunk, compute its speaker embeddings, and return the detected language."""
        stored = _work_path(job, video_id, f"chunk-{task.chunk.index:05}.json")
        if await self.storage.size(stored) is not None:  # stored by an interrupted or earlier attempt
            return read_chunk(await self._read(stored)).language
        share = transcription_share(task.total_chunks)
        async with self._step(job, "transcribing", progress=TRANSCRIPTION_PROGRESS, share=share) as report_progress:
            _log.info("transcribing chunk", extra={"job_id": job.job_id, "chunk": task.chunk.index})
            chunk = await self._transcribe(job, video_id, task, report_progress=report_progress)
            await self.storage.put(stored, await asyncio.to_thread(write_chunk, chunk))
        return chunk.language

    async def _transcribe(
        self, job: JobRef, video_id: str, task: TranscriptChunkTask, *, report_progress: ReportProgress
    ) -> TranscribedChunk:
        chunk = task.chunk
        spans = json.loads(await self._read(_work_path(job, video_id, "speech.json")))
        speech = speech_within([TimeSpan(start, end) for start, end in spans], chunk)
        async with self.media_cache.fetch(service.speech_path(job.library_id, video_id)) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                raw = await decode_speech(
                    copy.path,
                    output=temp_dir,
                    sandbox=self.sandbox,
                    start_seconds=chunk.start_seconds,
                    seconds=chunk.end_seconds - chunk.start_seconds,
                )
                samples = await asyncio.to_thread(read_samples, raw)

        def transcribe() -> tuple[Transcription, list[SpeakerEmbedding], str]:
            recognizer = SeparatedVoiceRecognizer(self.engines.recognizer(), self.engines.source_separator)
            speaker_embedder = self.engines.speaker_embedder()
            recognized = portion(report_progress, 0.0, RECOGNITION_FRACTION if speaker_embedder else 1.0)
            transcription = recognizer.transcribe(
                samples, language=task.language, speech=speech, on_progress=recognized
            )
            if speaker_embedder is None:
                return transcription, [], recognizer.name
            embedded = portion(report_progress, RECOGNITION_FRACTION, 1.0)
            segmenter = self.engines.speaker_segmenter()
            pieces = split_speech(speech, segmenter.segment(samples, speech=speech)) if segmenter else speech
            embeddings = speaker_embedder.embed(samples, speech=pieces, on_progress=embedded)
            return transcription, embeddings, recognizer.name

        transcription, embeddings, engine = await asyncio.to_thread(transcribe)
        return transcribed_chunk(transcription, embeddings, engine=engine, offset_seconds=chunk.start_seconds)

    @activity.defn(name="assemble_transcript")
    async def assemble_transcript(self, job: JobRef, video_id: str, plan: SpeechPlan, language: str) -> dict[str, Any]:
        """Assign speakers, build segments and subtitles, store the transcript, and return the job's result."""
        async with self._step(job, "assembling", progress=95):
            paths = [_work_path(job, video_id, f"chunk-{chunk.index:05}.json") for chunk in plan.chunks]
            chunks = [read_chunk(await self._read(path)) for path in paths]
            diarized = await asyncio.to_thread(self._diarize, chunks, language)
            segments = mark_questions(diarized.segments, language=language)
            speakers = list(dict.fromkeys(segment.speaker for segment in segments))
            recognized = await self._recognize(job, video_id, diarized.voices)
            names = {each.speaker: each.name for each in recognized}
            engine = ", ".join(sorted({chunk.engine for chunk in chunks})) or "none needed"
            transcript = StoredTranscript(
                language=language,
                segments=segment_rows(segments),
                speakers=[{"id": each, "label": names.get(each) or speaker_label(each)} for each in speakers],
                alignment_path="" if _is_repeated(job) else service.alignment_path(job.library_id, video_id),
                engine=engine,
            )
            sheet = await self._store(
                job, video_id, transcript, segments, recognized, until_seconds=plan.duration_seconds
            )
        return {
            "language": language,
            "durationSeconds": round(plan.duration_seconds, 3),
            "words": sum(len(segment.words) for segment in segments),
            "segments": len(segments),
            "speakers": len(speakers),
            "engine": engine,
            **reading_speed_report(sheet),
        }

    async def _store(
        self,
        job: JobRef,
        video_id: str,
        transcript: StoredTranscript,
        segments: Sequence[TranscriptSegment],
        recognized: Sequence[RecognizedSpeaker],
        *,
        until_seconds: float,
    ) -> CueSheet:
        """Store the transcript with its words and subtitles; another recognition replaces all of them together."""
        library_id, now, kept = job.library_id, self.clock(), segments
        if not _is_repeated(job):
            await self.storage.put(transcript.alignment_path, write_alignment(segments, language=transcript.language))
        async with self.database.transaction(library_id) as connection:
            await require_running(connection, job)
            if _is_repeated(job):
                kept = await replace_transcript(
                    connection, library_id, video_id, transcript, segments, storage=self.storage, now=now
                )
            else:
                await service.save_transcript(connection, library_id, video_id, transcript=transcript, now=now)
            await replace_recognized(connection, library_id, video_id, recognized, now=now)
            # Under the lock of its row, so that subtitles of an older revision never replace those of a newer one.
            return await store_subtitles(
                self.storage,
                kept,
                library_id=library_id,
                video_id=video_id,
                language=transcript.language,
                until_seconds=until_seconds,
                labels=transcript.labels,
            )

    def _diarize(self, chunks: Sequence[TranscribedChunk], language: str) -> _Diarized:
        words = [word for chunk in chunks for word in chunk.words]
        embeddings = [each for chunk in chunks for each in chunk.embeddings]
        speaker_embedder = self.engines.speaker_embedder() if embeddings else None
        if speaker_embedder is None:
            return _Diarized(split_segments(words, lambda _word: "speaker_1", language=language), [])
        labels = cluster_speakers(embeddings, same_speaker_threshold=speaker_embedder.same_speaker_threshold)
        spans = [TimeSpan(word.start_seconds, word.end_seconds) for word in words]
        turns = speaker_turns(embeddings, labels, words=spans)

        def speaker_name(word: Word) -> str:
            return _speaker_id(speaker_of(turns, TimeSpan(word.start_seconds, word.end_seconds)) or 0)

        by_speaker: dict[str, list[SpeakerEmbedding]] = {}
        for each, label in zip(embeddings, labels, strict=True):
            by_speaker.setdefault(_speaker_id(label), []).append(each)
        segments = split_segments(words, speaker_name, language=language)  # type: ignore[arg-type]
        spoken = {segment.speaker for segment in segments}
        return _Diarized(segments, [each for each in speaker_voices(by_speaker) if each.speaker in spoken])

    async def _recognize(self, job: JobRef, video_id: str, voices: Sequence[SpeakerVoice]) -> list[RecognizedSpeaker]:
        """The speakers who are members of the cast, if the library has opted in for this video."""
        embedder = self.engines.speaker_embedder() if voices else None
        if embedder is None:
            return []
        async with self.database.transaction(job.library_id) as connection:
            cast = await load_cast(
                connection, job.library_id, video_id, engine=embedder.name, secret_box=self.secret_box
            )
        recognized = await asyncio.to_thread(recognize, voices, cast)
        if cast:
            fields = {"job_id": job.job_id, "speakers": len(voices), "recognized": len(recognized)}
            _log.info("speakers compared with the cast", extra=fields)
        return recognized

    @activity.defn(name="delete_transcript_chunks")
    async def delete_transcript_chunks(self, job: JobRef, video_id: str) -> None:
        await self.storage.delete_under(_work_path(job, video_id, ""))

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    def _step(
        self, job: JobRef, stage: str, *, progress: float, share: float | None = None
    ) -> AbstractAsyncContextManager[ReportProgress]:
        return job_step(self.database, self.clock, job, stage, progress=progress, share=share)


def _with_progress(
    blocks: "Iterable[Samples]", report_progress: ReportProgress, *, duration_seconds: float
) -> "Iterator[Samples]":
    """Passes blocks of a recording through, and reports how much of it they cover."""
    seconds = 0.0
    for block in blocks:
        yield block
        seconds += len(block) / SAMPLE_RATE
        report_progress(seconds / duration_seconds)


def _speaker_id(number: int) -> str:
    return f"speaker_{number + 1}"


def _is_repeated(job: JobRef) -> bool:
    """Whether there is a transcript already, of which the job makes a new revision."""
    key = parse_job_id(job.job_id)
    return key is not None and key.revision is not None


def _work_path(job: JobRef, video_id: str, name: str) -> str:
    """The same for every attempt, so that a retried job reuses the chunks of the one before."""
    folder = f"transcript/chunks/again-{job.job_id}" if _is_repeated(job) else "transcript/chunks"
    return video_path(job.library_id, video_id, f"{folder}/{name}")
