"""The steps of a clone and of a reading."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio import activity

from cutroom.engines.diarization.pitch import median_pitch
from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.samples import read_samples
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.translation.routing import language_of
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
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.speech import service, synthesis
from cutroom.products.speech.encoding import codec_arguments, from_pcm, pcm_of, to_pcm
from cutroom.products.speech.reference import (
    UnusableError,
    choose,
    cut_out,
    levelled,
    mean_voice,
    require_one_voice,
)
from cutroom.products.speech.rules import FORMATS, RATE, OutputFormat, passages, reading_path, voice_path, wav_header
from cutroom.products.speech.synthesis import Ordered
from cutroom.web.schema import is_language

MAX_SAMPLE_BYTES = 64 * 1024 * 1024
MAX_SAMPLE_SECONDS = 300.0  # looked at
FORGET_BATCH = 200
DEFAULT_LANGUAGE = "en"
WAV_HEAD = len(wav_header(RATE, 0))

# What a clone says of itself when it is ready.
PREVIEWS = {
    "en": "Hello. This is how I sound. I hope that you like listening to me.",
    "pt": "Olá. É assim que eu falo. Espero que você goste de me ouvir.",
    "es": "Hola. Así es como sueno. Espero que le guste escucharme.",
    "fr": "Bonjour. Voici ma voix. J'espère que vous aimerez m'écouter.",
    "it": "Ciao. Questa è la mia voce. Spero che vi piaccia ascoltarmi.",
}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpeechActivities:
    """Each writes to keys that follow from its input; what a step has stored is not made again."""

    database: Database
    storage: Storage
    workbench: LocalMediaCache
    sandbox: Sandbox
    engines: Engines
    egress: Egress
    secrecy: SecretBox
    clock: Clock

    @activity.defn(name="fetch_voice_sample")
    async def fetch_voice_sample(self, ref: JobRef, voice_id: str) -> None:
        """Bring the recording behind a URL into the store; files that were sent are there already."""
        async with self.database.transaction(ref.library_id) as connection:
            clone = await service.clone_of(connection, ref.library_id, voice_id)
        if clone["sealed_url"] is None:
            return
        url = self.secrecy.unseal(service.URL_PURPOSE, clone["sealed_url"], context=voice_id).decode()
        async with self._working(ref, "fetching", progress=10):
            try:
                data = await self.egress.fetch(url, max_bytes=MAX_SAMPLE_BYTES)
            except (UnreachableError, TooLargeError) as error:
                raise failure(Code.UNSUPPORTED_SOURCE, str(error), reason="UNAVAILABLE", retry=False) from error
            await self.storage.put(voice_path(ref.library_id, voice_id, "sample-0"), data)

    @activity.defn(name="prepare_voice")
    async def prepare_voice(self, ref: JobRef, voice_id: str) -> None:
        """Find the first recording that can be used, and make the sample that the clone speaks after."""
        async with self.database.transaction(ref.library_id) as connection:
            clone = await service.clone_of(connection, ref.library_id, voice_id)
        async with self._working(ref, "listening", progress=60):
            reason: Exception | None = None
            for number in range(max(clone["samples"], 1)):
                path = voice_path(ref.library_id, voice_id, f"sample-{number}")
                try:
                    found = await self._prepared(path, remove_noise=clone["remove_noise"])
                except (UnusableError, MediaError) as error:
                    reason = reason or error  # the first is told: most people send one
                    continue
                await self._keep(ref.library_id, voice_id, found)
                return
            assert reason is not None
            raise reason

    async def _prepared(self, path: str, *, remove_noise: bool) -> dict[str, Any]:
        async with self.workbench.fetch(path) as copy:
            info = await probe(copy.path, sandbox=self.sandbox)
            if not info.audio_streams:
                raise UnusableError("The file has no sound.")
            with self.workbench.drawer() as drawer:
                voice, heard = await decode_voice(
                    copy.path,
                    info,
                    rate=REFERENCE_RATE,
                    max_seconds=MAX_SAMPLE_SECONDS,
                    output=drawer,
                    sandbox=self.sandbox,
                )
                return await asyncio.to_thread(self._reference, voice, heard, remove_noise=remove_noise)

    def _reference(self, voice: Path, heard: Path, *, remove_noise: bool) -> dict[str, Any]:
        """The sample and what is known of it, by the names of the columns that keep it."""
        samples, recording = read_samples(voice), read_samples(heard)
        speech = list(self.engines.voice_detector().detect([recording]))
        chosen = choose(speech)
        profiler = self.engines.speaker_embedder()
        prints = profiler.profile(recording, speech=chosen.spans) if profiler is not None else []
        if profiler is not None:
            require_one_voice(prints, same_voice=profiler.same_voice)
        if remove_noise:
            samples = self.engines.denoiser().clean(samples, sample_rate=REFERENCE_RATE)
        taken = levelled(cut_out(samples, chosen))
        profile = mean_voice(prints)
        whole = [TimeSpan(0.0, len(taken) / REFERENCE_RATE)]
        return {
            "pcm": to_pcm(taken),
            "pitch_hz": median_pitch(taken, sample_rate=REFERENCE_RATE, speech=whole),
            "profile": [round(float(value), 6) for value in profile] if profile is not None else None,
        }

    async def _keep(self, library_id: str, voice_id: str, found: dict[str, Any]) -> None:
        pcm = found.pop("pcm")
        stored = voice_path(library_id, voice_id, "reference.wav")
        await self.storage.put(stored, wav_header(REFERENCE_RATE, len(pcm)) + pcm)
        found |= {"reference_path": stored, "reference_sha256": hashlib.sha256(pcm).hexdigest()}
        async with self.database.transaction(library_id) as connection:
            await service.record_reference(connection, library_id, voice_id, found=found)

    @activity.defn(name="preview_voice")
    async def preview_voice(self, ref: JobRef, voice_id: str) -> dict[str, Any]:
        """Let the clone speak for itself: what cannot be heard here will not be heard later either."""
        async with self.database.transaction(ref.library_id) as connection:
            clone = await service.clone_of(connection, ref.library_id, voice_id)
        async with self._working(ref, "speaking a preview", progress=95):
            reference = await self._reference_of(clone["reference_path"], clone["reference_sha256"], clone["pitch_hz"])
            labelled = clone["labels"].get("language", "")
            language = language_of(labelled) if is_language(labelled) else DEFAULT_LANGUAGE
            language = language if language in PREVIEWS else DEFAULT_LANGUAGE

            def speak() -> tuple[SynthesizedSpeech, str, bool]:
                cloner = self.engines.cloner()
                spoken = cloner.speak(PREVIEWS[language], reference=reference, language=language)
                return spoken, cloner.name, cloner.is_approximate

            spoken, engine, is_approximate = await asyncio.to_thread(speak)
            pcm = pcm_of(spoken, pause_seconds=0.0)
            stored = voice_path(ref.library_id, voice_id, "preview.wav")
            await self.storage.put(stored, wav_header(RATE, len(pcm)) + pcm)
            found = {
                "preview_path": stored,
                "engine": engine,
                "is_approximate": is_approximate,
                "language": language,
            }
            async with self.database.transaction(ref.library_id) as connection:
                await service.record_reference(connection, ref.library_id, voice_id, found=found)
        return {"engine": engine, "approximate": is_approximate}

    async def _reference_of(self, path: str, sha256: str, pitch_hz: float | None) -> ReferenceAudio:
        data = b"".join([chunk async for chunk in self.storage.read(path)])[WAV_HEAD:]
        return ReferenceAudio(from_pcm(data), sha256, pitch_hz)

    @activity.defn(name="speak_passage")
    async def speak_passage(self, ref: JobRef, number: int, progress: int) -> None:
        """One passage of a reading, in its form where passages of it can follow each other, else as it was spoken."""
        order = await self._order(ref)
        form = FORMATS[order.format]
        name = str(number) if form.joins else f"passage-{number}"
        stored = reading_path(ref.library_id, order.id, f"{ref.attempt}/{name}")
        size = await self.storage.size(stored)  # by a worker that died before it could say so
        if size is None:
            async with self._working(ref, "speaking", progress=progress):
                passage = passages(order.text)[number]
                speech = await self._spoken(order, passage.text)
                data = await asyncio.to_thread(pcm_of, speech, pause_seconds=passage.pause_seconds)
                if form.joins:
                    data = await self._encoded(data, form)
                await self.storage.put(stored, data)
                size = len(data)
        if form.joins:
            await self._record(ref, order.id, number, size)

    @activity.defn(name="join_reading")
    async def join_reading(self, ref: JobRef, count: int) -> None:
        """All passages in one file, for a form that is one stream from beginning to end."""
        order = await self._order(ref)
        form = FORMATS[order.format]
        async with self._working(ref, "encoding", progress=95):
            names = [f"{ref.attempt}/passage-{number}" for number in range(count)]
            parts = [await self._read(reading_path(ref.library_id, order.id, name)) for name in names]
            data = await self._encoded(b"".join(parts), form)
            await self.storage.put(reading_path(ref.library_id, order.id, f"{ref.attempt}/0"), data)
        await self._record(ref, order.id, 0, len(data))

    @activity.defn(name="forget_speech")
    async def forget_speech(self) -> int:
        """Remove the samples of clones that are gone, and readings that were kept long enough; how many."""
        async with self.database.connection() as connection:
            voices = await service.forgotten_voices(connection, now=self.clock(), limit=FORGET_BATCH)
            read = await synthesis.forgotten_readings(connection, now=self.clock(), limit=FORGET_BATCH)
        for voice in voices:
            activity.heartbeat()
            await self.storage.delete_under(voice_path(voice.library_id, voice.id, ""))
            async with self.database.transaction(voice.library_id) as connection:
                await service.mark_cleared(connection, voice, now=self.clock())
        for reading in read:
            activity.heartbeat()
            await self.storage.delete_under(reading_path(reading.library_id, reading.id, ""))
            async with self.database.transaction(reading.library_id) as connection:
                await synthesis.forget_reading(connection, reading)
        return len(voices) + len(read)

    async def _order(self, ref: JobRef) -> Ordered:
        key = parse_job_id(ref.job_id)
        assert key is not None
        async with self.database.transaction(ref.library_id) as connection:
            order = await synthesis.order_of(connection, ref.library_id, key.subject)
        if order is None or (order.clone is None and order.service_voice is None):
            raise failure(Code.NOT_FOUND, "The voice is not there any more.", reason="NO_VOICE", retry=False)
        return order

    async def _spoken(self, order: Ordered, text: str) -> SynthesizedSpeech:
        clone, voice = order.clone, order.service_voice
        if clone is not None:
            reference = await self._reference_of(clone["reference_path"], clone["reference_sha256"], clone["pitch_hz"])

            def speak_as_clone() -> SynthesizedSpeech:
                language = order.language or self._language(clone["labels"], order.text) or clone["language"]
                return self.engines.cloner().speak(text, reference=reference, language=language, speed=order.speed)

            return await asyncio.to_thread(speak_as_clone)
        assert voice is not None
        own = voice["language"]
        language = own if order.language is None or language_of(order.language) == language_of(own) else order.language

        def speak() -> SynthesizedSpeech:
            speaker = self.engines.speaker()
            if speaker.name != voice["speaker"]:
                raise EngineUnavailableError("This worker's engine does not have the voice.")
            return speaker.speak(text, voice=voice["name"], language=language, speed=order.speed)

        return await asyncio.to_thread(speak)

    def _language(self, labels: Mapping[str, str], text: str) -> str | None:
        """What the clone's maker said that it speaks, or what the text is written in."""
        labelled = labels.get("language", "")
        if is_language(labelled):
            return language_of(labelled)
        guess = self.engines.language_identifier().identify(text)
        return guess.language if guess is not None else None

    async def _encoded(self, pcm: bytes, form: OutputFormat) -> bytes:
        codec = codec_arguments(form)
        if codec is None:
            return pcm
        with self.workbench.drawer() as drawer:
            raw = drawer / "raw"
            raw.write_bytes(pcm)
            made = await encode_speech(raw, rate=RATE, codec=codec, output=drawer, sandbox=self.sandbox)
            return made.read_bytes()

    async def _record(self, ref: JobRef, reading_id: str, number: int, size_bytes: int) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            await synthesis.record_passage(connection, ref.library_id, reading_id, number=number, size_bytes=size_bytes)

    async def _read(self, path: str) -> bytes:
        return b"".join([chunk async for chunk in self.storage.read(path)])

    @asynccontextmanager
    async def _working(self, ref: JobRef, stage: str, *, progress: int) -> AsyncIterator[None]:
        """A step; failures are told in words for whoever asked."""
        try:
            async with job_step(self.database, self.clock, ref, stage, progress=progress):
                yield
        except UnusableError as error:
            raise failure(Code.UNSUPPORTED_SOURCE, str(error), reason="UNUSABLE_SAMPLE", retry=False) from error
