"""Engines that are enough for a dub: a dictionary for a translator, tones for voices."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.errors import UnsuitableInputError
from cutroom.engines.recognition.port import (
    SpeechRecognizer,
    Transcription,
    UtteranceRecognizer,
    VoiceActivityDetector,
    Word,
)
from cutroom.engines.registry import Engines
from cutroom.engines.separation.port import SourceSeparator
from cutroom.engines.synthesis.port import SpeechSynthesizer, StockVoice, SynthesizedSpeech
from cutroom.engines.translation.port import LanguageGuess, LanguageIdentifier, Quality, Route, Translator
from cutroom.engines.types import OnProgress, TimeSpan
from cutroom.engines.writing.port import TextEmbedder
from cutroom.products.dubs.line_sync import natural_seconds
from cutroom.products.dubs.mixing import LINE_RATE
from tests.products.dubs.test_activities import AllSpeechSeparator, SilentDetector
from tests.products.speech.conftest import VOICES

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

PREFIX = "Diz"


@dataclass
class PrefixTranslator:
    """Translates by putting a word before the text; records the texts."""

    name: str = "one"
    asked: list[str] = field(default_factory=list)
    refuses: bool = False

    def routes(self) -> Sequence[Route]:
        return [Route("en", "pt", Quality.PUBLISHABLE)]

    def translate(
        self,
        sentences: Sequence[str],
        *,
        source: str,  # noqa: ARG002 - the port's signature
        target: str,  # noqa: ARG002
        on_progress: OnProgress | None = None,  # noqa: ARG002
    ) -> list[str]:
        if self.refuses:
            raise UnsuitableInputError("test", "This text cannot be translated.")
        self.asked += sentences
        return [f"{PREFIX} {each}" for each in sentences]


@dataclass
class ToneSynthesizer:
    """Speaks a text as a tone of its own pitch and of its natural duration; records the texts."""

    name: str = "fake"
    spoken: list[tuple[str, str]] = field(default_factory=list)  # text and voice

    def voices(self) -> Sequence[StockVoice]:
        return VOICES

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        self.spoken.append((text, voice))
        pitch = 150 + int.from_bytes(hashlib.sha256(f"{text} {voice}".encode()).digest()[:1])
        at = np.arange(round(natural_seconds(text, language=language) / speed * LINE_RATE)) / LINE_RATE
        return SynthesizedSpeech((0.2 * np.sin(2 * np.pi * pitch * at)).astype(np.float32), LINE_RATE)


@dataclass
class CountingRecognizer:
    """Hears one word in each span of speech, and counts the spans."""

    name: str = "counting"
    spans: int = 0

    def transcribe(
        self,
        samples: "Samples",  # noqa: ARG002 - the port's signature
        *,
        language: str | None,
        speech: Sequence[TimeSpan],
        on_progress: OnProgress | None = None,  # noqa: ARG002
    ) -> Transcription:
        self.spans += len(speech)
        return Transcription(
            str(language), 1.0, tuple(Word("diz", each.start_seconds, each.end_seconds, 1.0) for each in speech)
        )


@dataclass
class FixedUtterances:
    """Reads every utterance as one text, and counts them."""

    text: str
    name: str = "fixed"
    max_seconds: float = 30.0
    utterances: int = 0

    def transcribe(self, samples: "Samples", *, language: str) -> str:  # noqa: ARG002 - the port's signature
        self.utterances += 1
        return self.text


class NoIdentifier:
    """Cannot tell a language."""

    name = "none"

    def identify(self, text: str) -> LanguageGuess | None:  # noqa: ARG002 - the port's signature
        return None


class DubbingEngines(Engines):
    """What a dub needs, and nothing else."""

    def __init__(self) -> None:
        self.translator = PrefixTranslator()
        self.voice = ToneSynthesizer()
        self.ears = CountingRecognizer()
        self.utterances: FixedUtterances | None = None

    def translators(self) -> Sequence[Translator]:
        return [self.translator]

    def synthesizers(self) -> Sequence[SpeechSynthesizer]:
        return [self.voice]

    def synthesizer_named(self, name: str) -> SpeechSynthesizer:
        assert name == self.voice.name
        return self.voice

    def recognizer(self) -> SpeechRecognizer:
        return self.ears

    def utterance_recognizer(self) -> UtteranceRecognizer | None:
        return self.utterances

    def language_identifier(self) -> LanguageIdentifier:
        return NoIdentifier()

    def text_embedder(self) -> TextEmbedder | None:
        return None

    def source_separator(self) -> SourceSeparator:
        return AllSpeechSeparator()

    def voice_activity_detector(self) -> VoiceActivityDetector:
        return SilentDetector()

    def forget(self) -> None:
        """Count from now on."""
        self.translator.asked.clear()
        self.voice.spoken.clear()
        self.ears.spans = 0
