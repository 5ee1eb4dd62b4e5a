"""Aligns known text with speech by the cross-attention of a Whisper model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom.engines.errors import EngineError
from cutroom.engines.models.device import Device
from cutroom.engines.recognition.port import Word
from cutroom.engines.recognition.whisper import WINDOW_SECONDS, load_whisper, tokenizer_for
from cutroom.engines.recognition.word_onsets import start_at_onsets
from cutroom.engines.recognition.word_timestamps import RecognizedToken, align_words, uses_spaces
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

MIN_SECONDS = 0.1
# After the sound: the attention to the last words is sharper. Longer silence changes nothing.
SILENCE_SECONDS = 2
FRAMES_PER_SECOND = 100
MAX_FRAMES = round(WINDOW_SECONDS * FRAMES_PER_SECOND)
# The decoder reads at most this many tokens of text.
MAX_TOKENS = 440


class WhisperAligner:
    """Shares the model with the recognizer of the process; the model itself serializes concurrent calls.

    Only as much sound is encoded as there is, with a short silence, not the 30 s that transcription pads it to: the
    text is known, and the encoder takes most of the time.
    """

    max_seconds = WINDOW_SECONDS

    def __init__(self, folder: Path, *, cpu_threads: int, device: Device = Device.CPU, name: str = "whisper") -> None:
        self.name = name
        self._model: Any = load_whisper(folder, cpu_threads, device)[0]

    def align(self, samples: "Samples", text: str, *, language: str) -> tuple[Word, ...]:
        """Words with times relative to the start of `samples`; none if they cannot be found in the sound."""
        seconds = len(samples) / SAMPLE_RATE
        if not MIN_SECONDS <= seconds <= WINDOW_SECONDS or not text.strip():
            return ()
        tokenizer = tokenizer_for(self._model, language, name=self.name)
        tokens = tokenizer.encode(" " + text.strip())
        if not tokens or len(tokens) > MAX_TOKENS:
            return ()
        try:
            features = self._model.feature_extractor(samples, padding=SILENCE_SECONDS * SAMPLE_RATE)
            features = features[..., : min(features.shape[-1], MAX_FRAMES) // 2 * 2]
            encoded = self._model.encode(features)
            frames = min(features.shape[-1], round(seconds * FRAMES_PER_SECOND)) // 2 * 2
            [found] = self._model.find_alignment(tokenizer, [tokens], encoded, frames)
        except (RuntimeError, ValueError, IndexError) as error:
            raise EngineError(f"The model {self.name} failed to align.") from error
        words = align_words(_tokens(found), speech=[TimeSpan(0.0, seconds)], spaced=uses_spaces(language))
        return start_at_onsets(words, samples)


def _tokens(found: Sequence[dict[str, Any]]) -> list[RecognizedToken]:
    return [
        RecognizedToken(each["word"], TimeSpan(float(each["start"]), float(each["end"])), float(each["probability"]))
        for each in found
    ]
