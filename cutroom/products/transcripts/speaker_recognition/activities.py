"""Activities that make the voice print of a confirmed speaker."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from temporalio import activity

from cutroom.cast import appearances
from cutroom.cast.appearances import PendingEmbedding
from cutroom.cast.matching import MIN_SPEECH_SECONDS
from cutroom.engines.types import TimeSpan
from cutroom.jobs.steps import heartbeating
from cutroom.platform.db import Connection
from cutroom.products.transcripts.document import document_of
from cutroom.products.transcripts.service import find_transcript
from cutroom.products.transcripts.speaker_recognition.embedding import SpeechEmbedding
from cutroom.products.transcripts.speaker_recognition.service import SpeakerEmbeddingRef
from cutroom.products.transcripts.speaker_recognition.voices import longest_spans

Failure = Literal["too_little_speech", "no_audio", "no_embedder", "unusable"]


@dataclass(frozen=True, slots=True)
class SpeakerEmbeddingActivities:
    """Activities of the voice print workflow."""

    speech: SpeechEmbedding

    @activity.defn(name="embed_speaker")
    async def embed_speaker(self, ref: SpeakerEmbeddingRef) -> None:
        """Store the mean embedding of the speaker's longest segments, or why there is none."""
        async with self.speech.database.transaction(ref.library_id) as connection:
            pending = await appearances.pending_embedding(connection, ref.library_id, ref.appearance_id)
            if pending is None:
                return
            spans = await _spans(connection, ref.library_id, pending)
        async with heartbeating():
            embedder = await asyncio.to_thread(self.speech.engines.speaker_embedder)
            if embedder is None:
                await self._fail(ref, "no_embedder")
                return
            path = await self.speech.find_audio(ref.library_id, pending.video_id)
            if path is None:
                await self._fail(ref, "no_audio")
                return
            voice = await self.speech.voice(embedder, path, spans, speaker=pending.speaker)
            if voice is None or voice.seconds < MIN_SPEECH_SECONDS:
                await self._fail(ref, "too_little_speech")
                return
            async with self.speech.database.transaction(ref.library_id) as connection:
                await appearances.save_embedding(
                    connection,
                    ref.library_id,
                    ref.appearance_id,
                    voice.vector,
                    engine=embedder.name,
                    secret_box=self.speech.secret_box,
                )

    @activity.defn(name="fail_speaker_embedding")
    async def fail_speaker_embedding(self, ref: SpeakerEmbeddingRef) -> None:
        """Record that the audio could not be embedded."""
        await self._fail(ref, "unusable")

    async def _fail(self, ref: SpeakerEmbeddingRef, reason: Failure) -> None:
        async with self.speech.database.transaction(ref.library_id) as connection:
            await appearances.fail_embedding(connection, ref.library_id, ref.appearance_id, reason=reason)


async def _spans(connection: Connection, library_id: str, pending: PendingEmbedding) -> list[TimeSpan]:
    transcript = await find_transcript(connection, library_id, pending.video_id)
    if transcript is None:
        return []
    return longest_spans(document_of(transcript.segments, transcript.speakers).segments, pending.speaker)
