"""Embeds what a speaker says in the stored sound of a video."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.cast.matching import SpeakerVoice
from cutroom.engines.diarization.port import SpeakerEmbedder, SpeakerEmbedding
from cutroom.engines.registry import Engines
from cutroom.engines.samples import duration_of, read_samples
from cutroom.engines.types import TimeSpan
from cutroom.library.derived_media import DerivedMedia
from cutroom.media.audio import decode_speech
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.db import Database
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.speaker_recognition.voices import speaker_voice


@dataclass(frozen=True, slots=True)
class SpeechEmbedding:
    """Reads the sound of videos, and has the engines of the worker."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    secret_box: SecretBox

    async def find_audio(self, library_id: str, video_id: str) -> str | None:
        """The path of the speech of a video, if it has sound."""
        derived = DerivedMedia(self.storage, self.media_cache, self.sandbox)
        return await derived.find_audio(library_id, video_id, "speech.flac")

    async def voice(
        self, embedder: SpeakerEmbedder, path: str, spans: Sequence[TimeSpan], *, speaker: str
    ) -> SpeakerVoice | None:
        """The mean embedding of these spans; None if they are too short."""
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


def _shifted(embedding: SpeakerEmbedding, seconds: float) -> SpeakerEmbedding:
    span = TimeSpan(embedding.span.start_seconds + seconds, embedding.span.end_seconds + seconds)
    return SpeakerEmbedding(span, embedding.vector)
