"""Transcribes single utterances with Whisper in windows of their own length."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.errors import EngineError
from cutroom.engines.models.device import Device
from cutroom.engines.recognition.whisper import BEAM_SIZE, WINDOW_SECONDS, load_whisper, tokenizer_for
from cutroom.engines.types import SAMPLE_RATE

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

MIN_SECONDS = 0.1
# The model was trained on windows of 30 s: with less silence than this after the sound, it often returns no text.
SILENCE_SECONDS = 4
FRAMES_PER_SECOND = 100
MAX_TOKENS_PER_SECOND, MIN_TOKENS = 15, 30  # more are a repetition loop
SUPPRESSED = [-1]  # symbols that are not spoken


class WhisperUtteranceRecognizer:
    """Shares the model with the recognizer of the process.

    The encoder takes most of the time, and here it encodes a few seconds instead of 30.
    """

    max_seconds = WINDOW_SECONDS - SILENCE_SECONDS

    def __init__(self, folder: Path, *, cpu_threads: int, device: Device = Device.CPU, name: str = "whisper") -> None:
        self.name = name
        self._model: Any = load_whisper(folder, cpu_threads, device)[0]

    def transcribe(self, samples: "Samples", *, language: str) -> str:
        seconds = len(samples) / SAMPLE_RATE
        if not MIN_SECONDS <= seconds <= self.max_seconds:
            return ""
        tokenizer = tokenizer_for(self._model, language, name=self.name)
        prompt = self._model.get_prompt(tokenizer, [], without_timestamps=True)
        try:
            features = self._model.feature_extractor(samples, padding=SILENCE_SECONDS * SAMPLE_RATE)
            encoded = self._model.encode(features[..., : features.shape[-1] // 2 * 2])
            [found] = self._model.model.generate(
                encoded,
                [prompt],
                beam_size=BEAM_SIZE,
                max_length=len(prompt) + MIN_TOKENS + round(MAX_TOKENS_PER_SECOND * seconds),
                suppress_tokens=SUPPRESSED,
            )
            text: str = tokenizer.decode(found.sequences_ids[0])
        except (RuntimeError, ValueError, IndexError) as error:
            raise EngineError(f"The model {self.name} failed.") from error
        return text.strip()
