"""Activities that make the voice print of a confirmed speaker."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from temporalio import activity

from cutroom.cast import appearances
from cutroom.cast.appearances import PendingEmbedding
from cutroom.cast.matching import MIN_SPEECH_SECONDS, SpeakerVoice
from cutroom.engines.diarization.port import SpeakerEmbedder, SpeakerEmbedding
from cutroom.engines.registry import Engines
from cutroom.engines.samples import duration_of, read_samples
from cutroom.engines.types import TimeSpan
from cutroom.jobs.steps import heartbeating
from cutroom.library.derived_media import DerivedMedia
from cutroom.media.audio import decode_speech
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.db import Connection, Database
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.document import document_of
from cutroom.products.transcripts.service import find_transcript
from cutroom.products.transcripts.speaker_recognition.service import SpeakerEmbeddingRef
from cutroom.products.transcripts.speaker_recognition.voices import longest_spans, speaker_voice

Failure = Literal["too_little_speech", "no_audio", "no_embedder", "unusable"]


@dataclass(frozen=True, slots=True)
class SpeakerEmbeddingActivities:
    """Activities of the voice print workflow."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    secret_box: SecretBox

    @activity.defn(name="embed_speaker")
    async def embed_speaker(self, ref: SpeakerEmbeddingRef) -> None:
        """Store the mean embedding of the speaker's longest segments, or why there is none."""
        async with self.database.transaction(ref.library_id) as connection:
            pending = await appearances.pending_embedding(connection, ref.library_id, ref.appearance_id)
            if pending is None:
                return
            spans = await _spans(connection, ref.library_id, pending)
        async with heartbeating():
            embedder = await asyncio.to_thread(self.engines.speaker_embedder)
            if embedder is None:
                await self._fail(ref, "no_embedder")
                return
            derived = DerivedMedia(self.storage, self.media_cache, self.sandbox)
            path = await derived.find_audio(ref.library_id, pending.video_id, "speech.flac")
            if path is None:
                await self._fail(ref, "no_audio")
                return
            voice = await self._voice(embedder, path, spans, speaker=pending.speaker)
            if voice is None or voice.seconds < MIN_SPEECH_SECONDS:
                await self._fail(ref, "too_little_speech")
                return
            async with self.database.transaction(ref.library_id) as connection:
                await appearances.save_embedding(
                    connection,
                    ref.library_id,
                    ref.appearance_id,
                    voice.vector,
                    engine=embedder.name,
                    secret_box=self.secret_box,
                )

    async def _voice(
        self, embedder: SpeakerEmbedder, path: str, spans: Sequence[TimeSpan], *, speaker: str
    ) -> SpeakerVoice | None:
        embeddings: list[SpeakerEmbedding] = []
        async with self.media_cache.fetch(path) as copy:
            for span in spans:
                with self.media_cache.temp_dir() as temp_dir:
                    raw = await decode_speech(
                        copy.path,
                        output=temp_dir,
                        sandbox=self.sandbox,
                        start_seconds=span.start_seconds,
                        seconds=span.end_seconds - span.start_seconds,
                    )
                    samples, seconds = await asyncio.to_thread(read_samples, raw), duration_of(raw)
                found = await asyncio.to_thread(embedder.embed, samples, speech=[TimeSpan(0.0, seconds)])
                embeddings += [_shifted(each, span.start_seconds) for each in found]
        return await asyncio.to_thread(speaker_voice, speaker, embeddings)

    @activity.defn(name="fail_speaker_embedding")
    async def fail_speaker_embedding(self, ref: SpeakerEmbeddingRef) -> None:
        """Record that the audio could not be embedded."""
        await self._fail(ref, "unusable")

    async def _fail(self, ref: SpeakerEmbeddingRef, reason: Failure) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            await appearances.fail_embedding(connection, ref.library_id, ref.appearance_id, reason=reason)


async def _spans(connection: Connection, library_id: str, pending: PendingEmbedding) -> list[TimeSpan]:
    transcript = await find_transcript(connection, library_id, pending.video_id)
    if transcript is None:
        return []
    return longest_spans(document_of(transcript.segments, transcript.speakers).segments, pending.speaker)


def _shifted(embedding: SpeakerEmbedding, seconds: float) -> SpeakerEmbedding:
    span = TimeSpan(embedding.span.start_seconds + seconds, embedding.span.end_seconds + seconds)
    return SpeakerEmbedding(span, embedding.vector)
