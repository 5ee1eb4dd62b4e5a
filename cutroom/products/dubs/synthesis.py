"""Gives each speaker a voice, and speaks each line in it for as long as there is time."""

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cutroom.engines.diarization.pitch import median_pitch
from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio
from cutroom.media.dubbing import AudioRange, stretch_speech
from cutroom.media.formats import Container
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.casting import Part, cast, voices_for
from cutroom.products.dubs.line_sync import fit
from cutroom.products.dubs.mixing import HEADROOM, LINE_RATE, without_edges
from cutroom.products.dubs.script import PIECE_SECONDS, Line, PartVoice, Script
from cutroom.products.speech.encoding import at_rate, from_pcm, to_pcm
from cutroom.products.speech.reference import UnusableError, choose, cut_out, levelled
from cutroom.products.speech.rules import fingerprint
from cutroom.products.transcripts.service import speech_path

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

CASTING_SECONDS = 30.0  # of each speaker that are listened to
SMALLEST_STRETCH = 0.01  # less than this is not worth the work

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Try:
    """One of a line's texts, spoken."""

    text: int
    pcm: bytes
    stretch: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Speaking:
    """What is spoken is kept by the fingerprint of all that it sounds by, and is never spoken twice."""

    shelf: DubArtifacts
    engines: Engines

    async def cast(self, dub: DubRef, script: Script) -> dict[str, PartVoice]:
        """A voice of the engine for each speaker, near in pitch; or a clone of the speaker's own."""
        speakers = list(dict.fromkeys(line.speaker for line in script.lines))
        parts = [await self._part(dub, script, speaker) for speaker in speakers]
        voices = await asyncio.to_thread(self._cast, parts, dub.language)
        if dub.product == "premium":
            return {part.speaker: await self._clone(dub, script, part, voices[part.speaker]) for part in parts}
        return voices

    async def _part(self, dub: DubRef, script: Script, speaker: str) -> Part:
        """How high a speaker's voice is, by the longest lines."""
        path, heard = speech_path(dub.library_id, dub.video_id), []
        own = _longest(script, speaker)
        for line in _enough(own):
            stretch = AudioRange(
                line.start_seconds, line.end_seconds - line.start_seconds, rate=SAMPLE_RATE, channels=1
            )
            heard.append((await self.shelf.sound(path, Container.FLAC, stretch))[0])
        pitch = await asyncio.to_thread(_pitch, heard)
        return Part(speaker, pitch, sum(line.end_seconds - line.start_seconds for line in own))

    def _cast(self, parts: Sequence[Part], language: str) -> dict[str, PartVoice]:
        speaker = self.engines.speaker()
        there = voices_for(language, speaker.voices())
        if not there:
            raise EngineUnavailableError(f"No voice speaks {language}.")
        return {
            name: PartVoice(speaker.name, voice.name, pitch_hz=voice.pitch_hz)
            for name, voice in cast(parts, there).items()
        }

    async def _clone(self, dub: DubRef, script: Script, part: Part, otherwise: PartVoice) -> PartVoice:
        """After the speaker's longest lines. Who says too little gets a voice of the engine, and that is told."""
        pieces = [await self._parted(dub, script, line) for line in _enough(_longest(script, part.speaker))]
        try:
            pcm = await asyncio.to_thread(self._sample, pieces)
        except UnusableError as error:
            return PartVoice(otherwise.engine, otherwise.voice, pitch_hz=otherwise.pitch_hz, note=str(error))
        sha256 = hashlib.sha256(pcm).hexdigest()
        path = dub.shared(f"references/{sha256}.pcm")
        await self.shelf.put(path, pcm)
        cloner = await asyncio.to_thread(self.engines.cloner)
        return PartVoice(cloner.name, reference_path=path, reference_sha256=sha256, pitch_hz=part.pitch_hz)

    async def _parted(self, dub: DubRef, script: Script, line: Line) -> "Samples":
        """A line of the source without what sounds around it, from the piece in which it starts."""
        start = line.start_seconds - line.piece * PIECE_SECONDS
        stretch = AudioRange(start, line.end_seconds - line.start_seconds, rate=REFERENCE_RATE, channels=1)
        found: Samples = (await self.shelf.sound(dub.voice(script, line.piece), Container.FLAC, stretch))[0]
        return found * (1 / HEADROOM)

    def _sample(self, pieces: Sequence["Samples"]) -> bytes:
        import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

        samples = np.concatenate(pieces)
        recording = at_rate(SynthesizedSpeech(samples, REFERENCE_RATE), SAMPLE_RATE)
        chosen = choose(list(self.engines.voice_detector().detect([recording])))
        return to_pcm(levelled(cut_out(samples, chosen)))

    def key(self, dub: DubRef, line: Line, voice: PartVoice) -> str:
        """All that a line's sound depends on; its number is not among it."""
        slot = [round(line.slot.seconds, 3), round(line.slot.room_seconds, 3)]
        return fingerprint({"texts": line.texts, "voice": voice.sound, "language": dub.language, "slot": slot})

    async def speak(self, dub: DubRef, line: Line, voice: PartVoice) -> dict[str, Any]:
        """The first of the line's texts that is as long as it may be, or the shortest; what is known of its sound."""
        best: _Try | None = None
        for at, text in enumerate(line.texts):
            pcm = await self._spoken(dub, voice, text)
            fitted = fit(len(pcm) / 2 / LINE_RATE, line.slot)
            if best is None or fitted.seconds < best.seconds:
                best = _Try(at, pcm, fitted.stretch, fitted.seconds)
            if fitted.is_close:
                break
        assert best is not None
        pcm, stretch = best.pcm, best.stretch
        if abs(stretch - 1) > SMALLEST_STRETCH:
            pcm = await self._stretched(pcm, stretch)
        else:
            stretch = 1.0
        key = self.key(dub, line, voice)
        await self.shelf.put(dub.shared(f"lines/{key}.pcm"), pcm)
        return {"key": key, "seconds": len(pcm) / 2 / LINE_RATE, "stretch": stretch, "text": best.text}

    async def _spoken(self, dub: DubRef, voice: PartVoice, text: str) -> bytes:
        """A text as the engine speaks it, without the silence around it."""
        name = fingerprint({"text": text, "voice": voice.sound, "language": dub.language})
        stored = dub.shared(f"spoken/{name}.pcm")
        if await self.shelf.holds(stored):
            return await self.shelf.read(stored)
        reference = None
        if voice.reference_path is not None:
            samples = from_pcm(await self.shelf.read_kept(voice.reference_path))
            reference = ReferenceAudio(samples, str(voice.reference_sha256), voice.pitch_hz)

        def speak() -> bytes:
            if reference is not None:
                said = self.engines.cloner().speak(text, reference=reference, language=dub.language)
            else:
                said = self.engines.speaker().speak(text, voice=str(voice.voice), language=dub.language)
            return to_pcm(without_edges(at_rate(said, LINE_RATE)))

        pcm = await asyncio.to_thread(speak)
        await self.shelf.put(stored, pcm)
        _log.info("a line was spoken", extra={"video_id": dub.video_id, "dub": dub.name, "characters": len(text)})
        return pcm

    async def _stretched(self, pcm: bytes, tempo: float) -> bytes:
        with self.shelf.workbench.drawer() as drawer:
            raw = drawer / "raw"
            raw.write_bytes(pcm)
            made = await stretch_speech(raw, rate=LINE_RATE, tempo=tempo, output=drawer, sandbox=self.shelf.sandbox)
            return made.read_bytes()


def _longest(script: Script, speaker: str) -> list[Line]:
    own = [line for line in script.lines if line.speaker == speaker]
    return sorted(own, key=lambda line: (line.start_seconds - line.end_seconds, line.number))


def _enough(lines: Sequence[Line]) -> list[Line]:
    """As many as make up what is listened to."""
    taken: list[Line] = []
    for line in lines:
        if sum(each.end_seconds - each.start_seconds for each in taken) >= CASTING_SECONDS:
            break
        taken.append(line)
    return taken


def _pitch(heard: Sequence["Samples"]) -> float | None:
    import numpy as np  # noqa: PLC0415 - as above

    if not heard:
        return None
    samples = np.concatenate(heard)
    return median_pitch(samples, sample_rate=SAMPLE_RATE, speech=[TimeSpan(0.0, len(samples) / SAMPLE_RATE)])
