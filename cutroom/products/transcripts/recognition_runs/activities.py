"""Activities that compare the speakers of existing transcripts with the cast."""

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass

from temporalio import activity
from temporalio.exceptions import ApplicationError

from cutroom.cast import runs
from cutroom.cast.matching import MIN_SPEECH_SECONDS, CastVoice, SpeakerVoice, recognize
from cutroom.cast.recognition import load_cast
from cutroom.engines.diarization.port import SpeakerEmbedder
from cutroom.jobs.steps import heartbeating
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection
from cutroom.products.transcripts.document import TranscriptDocument
from cutroom.products.transcripts.editing.revisions import find_state, read_document
from cutroom.products.transcripts.recognition_runs import service
from cutroom.products.transcripts.recognition_runs.service import RecognitionRunRef
from cutroom.products.transcripts.speaker_recognition.embedding import SpeechEmbedding
from cutroom.products.transcripts.speaker_recognition.voices import longest_spans

MAX_SPEAKERS = 20  # of a video who are compared, those who speak longest
MAX_ATTEMPTS = 5  # after errors; a killed worker counts only if an error follows

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecognitionRunActivities:
    """Activities of the comparison of existing transcripts."""

    speech: SpeechEmbedding
    clock: Clock

    @activity.defn(name="list_cast_videos")
    async def list_videos(self, ref: RecognitionRunRef) -> list[str]:
        """The next videos to compare; none at the end, or if another comparison has replaced this one."""
        async with self.speech.database.transaction(ref.library_id) as connection:
            return await service.next_videos(connection, ref)

    @activity.defn(name="recognize_cast_in_video")
    async def recognize_in_video(self, ref: RecognitionRunRef, video_id: str) -> None:
        """Embed the longest segments of each speaker, and store who is a member of the cast."""
        try:
            async with heartbeating():
                await self._recognize(ref, video_id)
        except Exception as error:
            if activity.info().attempt >= MAX_ATTEMPTS:
                raise ApplicationError("the video cannot be compared", non_retryable=True) from error
            raise

    async def _recognize(self, ref: RecognitionRunRef, video_id: str) -> None:
        embedder = await asyncio.to_thread(self.speech.engines.speaker_embedder)
        if embedder is None:
            await self.fail_video(ref, video_id)
            return
        async with self.speech.database.transaction(ref.library_id) as connection:
            run = await runs.find_running(connection, ref.library_id, ref.run_id)
            if run is None or run.is_done_with(video_id):
                return
            read = await self._read(connection, ref.library_id, video_id, embedder)
        if read is None:
            await self._record(ref, video_id)
            return
        revision, document = read
        voices = await self._voices(ref.library_id, video_id, document, embedder)
        if voices is None:
            await self.fail_video(ref, video_id)
            return
        await self._save(ref, video_id, voices, embedder, revision=revision)

    async def _read(
        self, connection: Connection, library_id: str, video_id: str, embedder: SpeakerEmbedder
    ) -> tuple[int, TranscriptDocument] | None:
        """The transcript, if there are members to compare its speakers with."""
        state = await find_state(connection, library_id, video_id)
        if state is None or not await self._load_cast(connection, library_id, video_id, embedder):
            return None
        return state.revision, await read_document(connection, library_id, video_id, state)

    async def _voices(
        self, library_id: str, video_id: str, document: TranscriptDocument, embedder: SpeakerEmbedder
    ) -> list[SpeakerVoice] | None:
        """The voices of all speakers, because each is compared with the others too; None without sound."""
        seconds = Counter[str]()
        for segment in document.kept:
            seconds[segment.speaker] += max(0, round((segment.end_seconds - segment.start_seconds) * 1000))
        voices = []
        for speaker, spoken in seconds.most_common(MAX_SPEAKERS):
            if spoken < MIN_SPEECH_SECONDS * 1000:
                break
            spans = longest_spans(document.segments, speaker)
            path = await self.speech.find_audio(library_id, video_id)
            if path is None:
                return None
            voice = await self.speech.voice(embedder, path, spans, speaker=speaker)
            voices += [voice] if voice is not None else []
        return voices

    async def _save(
        self,
        ref: RecognitionRunRef,
        video_id: str,
        voices: list[SpeakerVoice],
        embedder: SpeakerEmbedder,
        *,
        revision: int,
    ) -> None:
        """Raises an error that is retried if the transcript was changed in the meantime."""
        now, library_id = self.clock(), ref.library_id
        async with self.speech.database.transaction(library_id) as connection:
            state = await find_state(connection, library_id, video_id, lock=True)
            run = await runs.find_running(connection, library_id, ref.run_id, lock=True)
            if run is None or run.is_done_with(video_id):
                return
            if state is not None and state.revision != revision:
                raise ApplicationError("the transcript was changed")
            added = 0
            if state is not None:
                cast = await self._load_cast(connection, library_id, video_id, embedder)
                recognized = await asyncio.to_thread(recognize, voices, cast)
                added = await service.save_recognized(connection, library_id, video_id, state, recognized, now=now)
            await runs.record_video(connection, library_id, ref.run_id, video_id, now=now, recognized=added)
        fields = {"video_id": video_id, "speakers": len(voices), "recognized": added}
        _log.info("existing transcript compared with the cast", extra=fields)

    async def _load_cast(
        self, connection: Connection, library_id: str, video_id: str, embedder: SpeakerEmbedder
    ) -> list[CastVoice]:
        return await load_cast(
            connection, library_id, video_id, engine=embedder.name, secret_box=self.speech.secret_box
        )

    async def _record(self, ref: RecognitionRunRef, video_id: str, *, is_failed: bool = False) -> None:
        async with self.speech.database.transaction(ref.library_id) as connection:
            await runs.record_video(
                connection, ref.library_id, ref.run_id, video_id, now=self.clock(), is_failed=is_failed
            )

    @activity.defn(name="fail_cast_video")
    async def fail_video(self, ref: RecognitionRunRef, video_id: str) -> None:
        """Count a video whose speakers could not be compared."""
        await self._record(ref, video_id, is_failed=True)

    @activity.defn(name="finish_cast_run")
    async def finish(self, ref: RecognitionRunRef) -> None:
        async with self.speech.database.transaction(ref.library_id) as connection:
            await runs.finish_run(connection, ref.library_id, ref.run_id, now=self.clock())
