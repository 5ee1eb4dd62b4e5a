"""Activities of voice cloning, speech synthesis and the purge of expired speech data."""

import hashlib
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio import activity

from cutroom.engines.diarization.pitch import median_pitch
from cutroom.engines.registry import Engines
from cutroom.engines.samples import read_samples
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import TimeSpan
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio
from cutroom.errors import Code
from cutroom.jobs.ids import parse_job_id
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import failure, job_step
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.probe import probe
from cutroom.media.process import MediaError
from cutroom.media.sandbox import Sandbox
from cutroom.media.speech import decode_voice, encode_speech
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress, TooLargeError, UnreachableError
from cutroom.platform.process.cpu_time import MeasuringThreadPool
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.speech import service, synthesis
from cutroom.products.speech.encoding import codec_arguments, from_pcm, speech_to_pcm, to_pcm
from cutroom.products.speech.reference import (
    UnusableSampleError,
    extract_reference,
    mean_embedding,
    normalize_level,
    require_single_speaker,
    select_spans,
)
from cutroom.products.speech.rules import (
    FORMATS,
    SYNTHESIS_RATE,
    OutputFormat,
    speech_passages,
    synthesis_path,
    voice_path,
    wav_header,
)
from cutroom.products.speech.synthesis import SynthesisTask
from cutroom.text.language_tags import is_language, language_of

MAX_SAMPLE_BYTES = 64 * 1024 * 1024
MAX_SAMPLE_SECONDS = 300.0  # analyzed per file
PURGE_BATCH = 200
DEFAULT_LANGUAGE = "en"
WAV_HEADER_BYTES = len(wav_header(SYNTHESIS_RATE, 0))

# Texts of clone previews.
PREVIEW_TEXTS = {
    "en": "Hello. This is how I sound. I hope that you like listening to me.",
    "pt": "Olá. É assim que eu falo. Espero que você goste de me ouvir.",
    "es": "Hola. Así es como sueno. Espero que le guste escucharme.",
    "fr": "Bonjour. Voici ma voix. J'espère que vous aimerez m'écouter.",
    "it": "Ciao. Questa è la mia voce. Spero che vi piaccia ascoltarmi.",
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpeechActivities:
    """Activities of the speech workflows; outputs are stored under deterministic keys and reused on retries."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    threads: MeasuringThreadPool
    egress: Egress
    secret_box: SecretBox
    clock: Clock

    @activity.defn(name="fetch_voice_sample")
    async def fetch_voice_sample(self, job: JobRef, voice_id: str) -> None:
        """Download the sample if the clone was requested with a URL; uploaded files are already stored."""
        async with self.database.transaction(job.library_id) as connection:
            clone = await service.load_clone(connection, job.library_id, voice_id)
        if clone["sealed_url"] is None:
            return
        url = self.secret_box.unseal(service.URL_PURPOSE, clone["sealed_url"], context=voice_id).decode()
        async with self._step(job, "fetching", progress=10):
            try:
                data = await self.egress.fetch(url, max_bytes=MAX_SAMPLE_BYTES)
            except (UnreachableError, TooLargeError) as error:
                raise failure(Code.UNSUPPORTED_SOURCE, str(error), reason="UNAVAILABLE", retry=False) from error
            await self.storage.put(voice_path(job.library_id, voice_id, "sample-0"), data)

    @activity.defn(name="prepare_voice")
    async def prepare_voice(self, job: JobRef, voice_id: str) -> None:
        """Create the reference audio from the first usable recording."""
        async with self.database.transaction(job.library_id) as connection:
            clone = await service.load_clone(connection, job.library_id, voice_id)
        async with self._step(job, "analyzing", progress=60):
            first_error: Exception | None = None
            for number in range(max(clone["sample_count"], 1)):
                path = voice_path(job.library_id, voice_id, f"sample-{number}")
                try:
                    columns = await self._prepare_reference(path, remove_noise=clone["remove_noise"])
                except (UnusableSampleError, MediaError) as error:
                    first_error = first_error or error  # most requests have a single file
                    continue
                await self._store_reference(job.library_id, voice_id, columns)
                return
            assert first_error is not None
            raise first_error

    async def _prepare_reference(self, path: str, *, remove_noise: bool) -> dict[str, Any]:
        async with self.media_cache.fetch(path) as copy:
            info = await probe(copy.path, sandbox=self.sandbox)
            if not info.audio_streams:
                raise UnusableSampleError("The file has no audio.")
            with self.media_cache.temp_dir() as temp_dir:
                voice, recording = await decode_voice(
                    copy.path,
                    info,
                    rate=REFERENCE_RATE,
                    max_seconds=MAX_SAMPLE_SECONDS,
                    output=temp_dir,
                    sandbox=self.sandbox,
                )
                return await self.threads.run(self._extract_reference, voice, recording, remove_noise=remove_noise)

    def _extract_reference(self, voice_file: Path, recording_file: Path, *, remove_noise: bool) -> dict[str, Any]:
        """The reference PCM and its properties, keyed by column name."""
        samples, recording = read_samples(voice_file), read_samples(recording_file)
        speech = list(self.engines.voice_activity_detector().detect([recording]))
        selected = select_spans(speech)
        speaker_embedder = self.engines.speaker_embedder()
        embeddings = speaker_embedder.embed(recording, speech=selected.spans) if speaker_embedder is not None else []
        if speaker_embedder is not None:
            require_single_speaker(embeddings, same_speaker_threshold=speaker_embedder.same_speaker_threshold)
        if remove_noise:
            samples = self.engines.denoiser().denoise(samples, sample_rate=REFERENCE_RATE)
        reference = normalize_level(extract_reference(samples, selected))
        embedding = mean_embedding(embeddings)
        full_span = [TimeSpan(0.0, len(reference) / REFERENCE_RATE)]
        return {
            "pcm": to_pcm(reference),
            "pitch_hz": median_pitch(reference, sample_rate=REFERENCE_RATE, speech=full_span),
            "embedding": [round(float(value), 6) for value in embedding] if embedding is not None else None,
        }

    async def _store_reference(self, library_id: str, voice_id: str, columns: dict[str, Any]) -> None:
        pcm = columns.pop("pcm")
        stored = voice_path(library_id, voice_id, "reference.wav")
        await self.storage.put(stored, wav_header(REFERENCE_RATE, len(pcm)) + pcm)
        columns |= {"reference_path": stored, "reference_sha256": hashlib.sha256(pcm).hexdigest()}
        async with self.database.transaction(library_id) as connection:
            await service.update_clone(connection, library_id, voice_id, columns=columns)

    @activity.defn(name="preview_voice")
    async def preview_voice(self, job: JobRef, voice_id: str) -> dict[str, Any]:
        """Synthesize a preview, which also verifies that the clone works."""
        async with self.database.transaction(job.library_id) as connection:
            clone = await service.load_clone(connection, job.library_id, voice_id)
        async with self._step(job, "synthesizing preview", progress=95):
            reference = await self._load_reference(
                clone["reference_path"], clone["reference_sha256"], clone["pitch_hz"]
            )
            label = clone["labels"].get("language", "")
            language = language_of(label) if is_language(label) else DEFAULT_LANGUAGE
            language = language if language in PREVIEW_TEXTS else DEFAULT_LANGUAGE

            def synthesize() -> tuple[SynthesizedSpeech, str, bool]:
                cloner = self.engines.voice_cloner()
                speech = cloner.synthesize(PREVIEW_TEXTS[language], reference=reference, language=language)
                return speech, cloner.name, cloner.is_approximate

            speech, engine, is_approximate = await self.threads.run(synthesize)
            pcm = speech_to_pcm(speech, pause_seconds=0.0)
            stored = voice_path(job.library_id, voice_id, "preview.wav")
            await self.storage.put(stored, wav_header(SYNTHESIS_RATE, len(pcm)) + pcm)
            columns = {
                "preview_path": stored,
                "engine": engine,
                "is_approximate": is_approximate,
                "language": language,
            }
            async with self.database.transaction(job.library_id) as connection:
                await service.update_clone(connection, job.library_id, voice_id, columns=columns)
        return {"engine": engine, "approximate": is_approximate}

    async def _load_reference(self, path: str, sha256: str, pitch_hz: float | None) -> ReferenceAudio:
        data = b"".join([chunk async for chunk in self.storage.read(path)])[WAV_HEADER_BYTES:]
        return ReferenceAudio(from_pcm(data), sha256, pitch_hz)

    @activity.defn(name="synthesize_passage")
    async def synthesize_passage(self, job: JobRef, number: int, progress: int) -> None:
        """Synthesize a passage and store it, encoded if the output format is concatenable and as PCM otherwise."""
        task = await self._load_task(job)
        output_format = FORMATS[task.format]
        name = str(number) if output_format.is_concatenable else f"passage-{number}"
        stored = synthesis_path(job.library_id, task.id, f"{job.attempt}/{name}")
        size = await self.storage.size(stored)  # already stored by an interrupted attempt?
        if size is None:
            async with self._step(job, "synthesizing", progress=progress):
                passage = speech_passages(task.text)[number]
                speech = await self._synthesize(task, passage.text)
                data = await self.threads.run(speech_to_pcm, speech, pause_seconds=passage.pause_seconds)
                if output_format.is_concatenable:
                    data = await self._encode(data, output_format)
                await self.storage.put(stored, data)
                size = len(data)
        if output_format.is_concatenable:
            await self._record_passage(job, task.id, number, size)

    @activity.defn(name="encode_synthesis")
    async def encode_synthesis(self, job: JobRef, count: int) -> None:
        """Encode all passages as one file, for formats that are not concatenable."""
        task = await self._load_task(job)
        output_format = FORMATS[task.format]
        async with self._step(job, "encoding", progress=95):
            names = [f"{job.attempt}/passage-{number}" for number in range(count)]
            passages = [await self._read(synthesis_path(job.library_id, task.id, name)) for name in names]
            data = await self._encode(b"".join(passages), output_format)
            await self.storage.put(synthesis_path(job.library_id, task.id, f"{job.attempt}/0"), data)
        await self._record_passage(job, task.id, 0, len(data))

    @activity.defn(name="purge_speech")
    async def purge_speech(self) -> int:
        """Delete samples of deleted and failed clones, and expired syntheses; returns how many."""
        async with self.database.connection() as connection:
            voices = await service.voices_to_purge(connection, now=self.clock(), limit=PURGE_BATCH)
            syntheses = await synthesis.syntheses_to_purge(connection, now=self.clock(), limit=PURGE_BATCH)
        for voice in voices:
            activity.heartbeat()
            await self.storage.delete_under(voice_path(voice.library_id, voice.id, ""))
            async with self.database.transaction(voice.library_id) as connection:
                await service.mark_purged(connection, voice, now=self.clock())
        for item in syntheses:
            activity.heartbeat()
            await self.storage.delete_under(synthesis_path(item.library_id, item.id, ""))
            async with self.database.transaction(item.library_id) as connection:
                await synthesis.delete_synthesis(connection, item)
        return len(voices) + len(syntheses)

    async def _load_task(self, job: JobRef) -> SynthesisTask:
        key = parse_job_id(job.job_id)
        assert key is not None
        async with self.database.transaction(job.library_id) as connection:
            task = await synthesis.load_task(connection, job.library_id, key.subject)
        if task is None or (task.clone is None and task.stock_voice is None):
            raise failure(Code.NOT_FOUND, "The voice no longer exists.", reason="NO_VOICE", retry=False)
        return task

    async def _synthesize(self, task: SynthesisTask, text: str) -> SynthesizedSpeech:
        clone, voice = task.clone, task.stock_voice
        if clone is not None:
            reference = await self._load_reference(
                clone["reference_path"], clone["reference_sha256"], clone["pitch_hz"]
            )

            def synthesize_clone() -> SynthesizedSpeech:
                language = task.language or self._language(clone["labels"], task.text) or clone["language"]
                return self.engines.voice_cloner().synthesize(
                    text, reference=reference, language=language, speed=task.speed
                )

            return await self.threads.run(synthesize_clone)
        assert voice is not None
        if task.language is None or language_of(task.language) == language_of(voice.language):
            language = voice.language
        else:
            language = task.language

        def synthesize() -> SynthesizedSpeech:
            synthesizer = self.engines.synthesizer_named(voice.engine)
            return synthesizer.synthesize(text, voice=voice.name, language=language, speed=task.speed)

        return await self.threads.run(synthesize)

    def _language(self, labels: Mapping[str, str], text: str) -> str | None:
        """The language from the clone's labels, or the detected language of the text."""
        label = labels.get("language", "")
        if is_language(label):
            return language_of(label)
        guess = self.engines.language_identifier().identify(text)
        return guess.language if guess is not None else None

    async def _encode(self, pcm: bytes, output_format: OutputFormat) -> bytes:
        codec = codec_arguments(output_format)
        if codec is None:
            return pcm
        with self.media_cache.temp_dir() as temp_dir:
            raw = temp_dir / "raw"
            raw.write_bytes(pcm)
            output = await encode_speech(raw, rate=SYNTHESIS_RATE, codec=codec, output=temp_dir, sandbox=self.sandbox)
            return output.read_bytes()

    async def _record_passage(self, job: JobRef, synthesis_id: str, number: int, size_bytes: int) -> None:
        async with self.database.transaction(job.library_id) as connection:
            await synthesis.record_passage(
                connection, job.library_id, synthesis_id, number=number, size_bytes=size_bytes
            )

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    @asynccontextmanager
    async def _step(self, job: JobRef, stage: str, *, progress: int) -> AsyncIterator[None]:
        """A job step that reports unusable samples to the user."""
        try:
            async with job_step(self.database, self.clock, job, stage, progress=progress):
                yield
        except UnusableSampleError as error:
            raise failure(Code.UNSUPPORTED_SOURCE, str(error), reason="UNUSABLE_SAMPLE", retry=False) from error
