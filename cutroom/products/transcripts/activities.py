"""The transcript's steps: find speech, transcribe it piece by piece, and put the whole together."""

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from temporalio import activity

from cutroom.engines.diarization.clustering import cluster_speakers, speaker_of, turns
from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.registry import Engines
from cutroom.engines.samples import read_blocks, read_samples, seconds_of
from cutroom.engines.types import TimeSpan
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import ReportProgress, job_step
from cutroom.library.rules import video_path
from cutroom.media.audio import decode_speech
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts import service
from cutroom.products.transcripts.alignment import (
    HeardPiece,
    heard_piece,
    read_piece,
    segment_rows,
    write_alignment,
    write_piece,
)
from cutroom.products.transcripts.chunks import LISTENED, SpeechPiece, plan_pieces, progress_after, within
from cutroom.products.transcripts.sentences import Segment, segments
from cutroom.products.transcripts.service import NewTranscript
from cutroom.products.transcripts.subtitles import store_subtitles

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpeechFound:
    """Where a recording is cut, and how long it is."""

    duration_seconds: float
    pieces: list[SpeechPiece]


@dataclass(frozen=True, slots=True)
class TranscriptChunkTask:
    """One piece to transcribe, in a language if it is known."""

    piece: SpeechPiece
    language: str | None
    of: int  # so many pieces


@dataclass(frozen=True, slots=True)
class TranscriptActivities:
    """Each writes to keys that follow from its input; what a step has stored is not made again."""

    database: Database
    storage: Storage
    workbench: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    clock: Clock

    @activity.defn(name="find_speech")
    async def find_speech(self, ref: JobRef, video_id: str) -> SpeechFound:
        """Listen through the whole recording for voices, and plan where to cut it."""
        path = service.speech_path(ref.library_id, video_id)
        if await self.storage.size(path) is None:
            return SpeechFound(0.0, [])
        async with self._working(ref, "finding speech", progress=LISTENED), self.workbench.fetch(path) as copy:
            with self.workbench.drawer() as drawer:
                raw = await decode_speech(copy.path, output=drawer, sandbox=self.sandbox)
                detector = await asyncio.to_thread(self.engines.voice_detector)
                speech = await asyncio.to_thread(lambda: list(detector.detect(read_blocks(raw))))
                duration = seconds_of(raw)
            document = [[span.start_seconds, span.end_seconds] for span in speech]
            await self.storage.put(_work_path(ref, video_id, "speech.json"), json.dumps(document).encode())
        return SpeechFound(duration, plan_pieces(speech, duration_seconds=duration))

    @activity.defn(name="recognise_piece")
    async def recognise_piece(self, ref: JobRef, video_id: str, order: TranscriptChunkTask) -> str:
        """Recognise one piece and take its voices; the language that was heard."""
        stored = _work_path(ref, video_id, f"piece-{order.piece.index:05}.json")
        if await self.storage.size(stored) is not None:  # by a worker that died before it could say so
            return read_piece(await self._read(stored)).language
        async with self._working(ref, "recognising speech", progress=LISTENED) as tell:
            _log.info("recognising a piece", extra={"job_id": ref.job_id, "piece": order.piece.index})
            heard = await self._hear(ref, video_id, order)
            await self.storage.put(stored, await asyncio.to_thread(write_piece, heard))
            done = [name for name in await self.storage.names(_work_path(ref, video_id, "")) if "piece-" in name]
            await tell(progress_after(len(done), of=order.of))
        return heard.language

    async def _hear(self, ref: JobRef, video_id: str, order: TranscriptChunkTask) -> HeardPiece:
        piece = order.piece
        spans = json.loads(await self._read(_work_path(ref, video_id, "speech.json")))
        speech = within([TimeSpan(start, end) for start, end in spans], piece)
        async with self.workbench.fetch(service.speech_path(ref.library_id, video_id)) as copy:
            with self.workbench.drawer() as drawer:
                raw = await decode_speech(
                    copy.path,
                    output=drawer,
                    sandbox=self.sandbox,
                    start_seconds=piece.start_seconds,
                    seconds=piece.end_seconds - piece.start_seconds,
                )
                samples = await asyncio.to_thread(read_samples, raw)

        def hear() -> tuple[Transcription, list[SpeakerEmbedding], str]:
            recogniser, profiler = self.engines.recogniser(), self.engines.speaker_embedder()
            words = recogniser.transcribe(samples, language=order.language, speech=speech)
            return words, profiler.profile(samples, speech=speech) if profiler else [], recogniser.name

        words, prints, engine = await asyncio.to_thread(hear)
        return heard_piece(words, prints, engine=engine, offset_seconds=piece.start_seconds)

    @activity.defn(name="join_transcript")
    async def join_transcript(self, ref: JobRef, video_id: str, found: SpeechFound, language: str) -> dict[str, Any]:
        """Words of all pieces, who said them, sentences, subtitles; what the job's result tells of it."""
        async with self._working(ref, "putting it together", progress=95):
            names = [f"piece-{piece.index:05}.json" for piece in found.pieces]
            heard = [read_piece(await self._read(_work_path(ref, video_id, name))) for name in names]
            parts = await asyncio.to_thread(self._segments, heard, language)
            stored = service.alignment_path(ref.library_id, video_id)
            await self.storage.put(stored, write_alignment(parts, language=language))
            await store_subtitles(
                self.storage,
                parts,
                library_id=ref.library_id,
                video_id=video_id,
                language=language,
                until_seconds=found.duration_seconds,
            )
            speakers = list(dict.fromkeys(part.speaker for part in parts))
            engine = ", ".join(sorted({piece.engine for piece in heard})) or "none needed"
            made = NewTranscript(
                language=language,
                segments=segment_rows(parts),
                speakers=[{"id": name, "label": name.replace("speaker_", "Speaker ")} for name in speakers],
                alignment_path=stored,
                engine=engine,
            )
            async with self.database.transaction(ref.library_id) as connection:
                await service.put_transcript(connection, ref.library_id, video_id, made=made, now=self.clock())
        return {
            "language": language,
            "durationSeconds": round(found.duration_seconds, 3),
            "words": sum(len(part.words) for part in parts),
            "segments": len(parts),
            "speakers": len(speakers),
            "engine": engine,
        }

    def _segments(self, heard: Sequence[HeardPiece], language: str) -> list[Segment]:
        words = [word for piece in heard for word in piece.words]
        prints = [each for piece in heard for each in piece.prints]
        profiler = self.engines.speaker_embedder() if prints else None
        if profiler is None:
            return segments(words, lambda _word: "speaker_1", language=language)
        labels = cluster_speakers(prints, same_voice=profiler.same_voice)
        spans = [TimeSpan(word.start_seconds, word.end_seconds) for word in words]
        found = turns(prints, labels, words=spans)

        def who(word: Word) -> str:
            return f"speaker_{(speaker_of(found, TimeSpan(word.start_seconds, word.end_seconds)) or 0) + 1}"

        return segments(words, who, language=language)  # type: ignore[arg-type]

    @activity.defn(name="clear_transcript_pieces")
    async def clear_transcript_pieces(self, ref: JobRef, video_id: str) -> None:
        await self.storage.delete_under(_work_path(ref, video_id, ""))

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    def _working(self, ref: JobRef, stage: str, *, progress: int) -> AbstractAsyncContextManager[ReportProgress]:
        return job_step(self.database, self.clock, ref, stage, progress=progress)


def _work_path(ref: JobRef, video_id: str, name: str) -> str:
    return video_path(ref.library_id, video_id, f"transcript/pieces/{ref.attempt}/{name}")
