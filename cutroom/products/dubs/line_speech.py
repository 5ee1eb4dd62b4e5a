"""Speaks the candidate texts of a dub line, and knows how long they last.

Durations are predicted if the engine can compute them before the audio. If it cannot, a text has to be spoken.
"""

import asyncio
import logging
from dataclasses import dataclass, field

from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import DurationPredictor, SynthesizedSpeech
from cutroom.engines.voice_conversion.port import CloneDurationPredictor, ReferenceAudio
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.mixing import LINE_RATE, trim_silence
from cutroom.products.dubs.script import AssignedVoice, DubLine
from cutroom.products.speech.encoding import from_pcm, resample_speech, to_pcm
from cutroom.products.speech.rules import fingerprint

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class LineSpeech:
    """The texts of one line in the voice of its speaker; each is spoken and predicted once at a speed."""

    artifacts: DubArtifacts
    engines: Engines
    dub: DubRef
    line: DubLine
    voice: AssignedVoice
    folder: str = "synthesized"  # of what the engine has spoken, under the folder that dubs of the video share
    _spoken: dict[tuple[int, float], bytes] = field(default_factory=dict)
    _predicted: dict[tuple[int, float], float | None] = field(default_factory=dict)
    _correction: float = 1.0  # of predictions, by the text that was spoken last

    @property
    def is_predicted(self) -> bool:
        """Whether durations were predicted so far."""
        return None not in self._predicted.values()

    async def seconds(self, index: int, *, speed: float = 1.0) -> float:
        """The duration of a text without the silence around it."""
        predicted = await self._predict(index, speed)
        if predicted is None:
            return pcm_seconds(await self.speak(index, speed=speed))
        return predicted * self._correction

    async def speak(self, index: int, *, speed: float = 1.0) -> bytes:
        """The audio of a text without the silence around it; later durations are corrected by it."""
        if (index, speed) not in self._spoken:
            self._spoken[index, speed] = await self._synthesize(index, speed)
        pcm = self._spoken[index, speed]
        predicted = self._predicted.get((index, speed))
        if predicted:
            self._correction = pcm_seconds(pcm) / predicted
        return pcm

    async def _predict(self, index: int, speed: float) -> float | None:
        if (index, speed) not in self._predicted:
            reference = await self._reference()
            self._predicted[index, speed] = await asyncio.to_thread(self._run_predictor, index, speed, reference)
        return self._predicted[index, speed]

    def _run_predictor(self, index: int, speed: float, reference: ReferenceAudio | None) -> float | None:
        text, language = self.line.spoken(index, reads_phonemes=self.voice.reads_phonemes), self.dub.language
        if reference is not None:
            cloner = self.engines.voice_cloner()
            if not isinstance(cloner, CloneDurationPredictor):
                return None
            return cloner.predict_seconds(text, reference=reference, language=language, speed=speed)
        synthesizer = self.engines.synthesizer_named(self.voice.engine)
        if not isinstance(synthesizer, DurationPredictor):
            return None
        return synthesizer.predict_seconds(text, voice=str(self.voice.voice), language=language, speed=speed)

    async def _synthesize(self, index: int, speed: float) -> bytes:
        text = self.line.spoken(index, reads_phonemes=self.voice.reads_phonemes)
        inputs = {"text": text, "voice": self.voice.identity, "language": self.dub.language, "speed": speed}
        path = self.dub.shared_path(f"{self.folder}/{fingerprint(inputs)}.pcm")
        if await self.artifacts.exists(path):
            return await self.artifacts.read(path)
        reference = await self._reference()
        speech = await asyncio.to_thread(self._run_engine, text, speed, reference)
        pcm = await asyncio.to_thread(lambda: to_pcm(trim_silence(resample_speech(speech, LINE_RATE))))
        await self.artifacts.put(path, pcm)
        fields = {"video_id": self.dub.video_id, "dub": self.dub.name, "line": self.line.number}
        _log.info("dub line synthesized", extra={**fields, "speed": speed, "characters": len(text)})
        return pcm

    def _run_engine(self, text: str, speed: float, reference: ReferenceAudio | None) -> SynthesizedSpeech:
        language = self.dub.language
        if reference is not None:
            return self.engines.voice_cloner().synthesize(text, reference=reference, language=language, speed=speed)
        synthesizer = self.engines.synthesizer_named(self.voice.engine)
        return synthesizer.synthesize(text, voice=str(self.voice.voice), language=language, speed=speed)

    async def _reference(self) -> ReferenceAudio | None:
        """What a clone imitates; None for a stock voice."""
        if self.voice.reference_path is None:
            return None
        samples = from_pcm(await self.artifacts.read_cached(self.voice.reference_path))
        return ReferenceAudio(samples, str(self.voice.reference_sha256), self.voice.pitch_hz)


def pcm_seconds(pcm: bytes) -> float:
    """The duration of 16-bit audio at LINE_RATE."""
    return len(pcm) / 2 / LINE_RATE
