"""Local speech synthesis with Kokoro in onnxruntime, from espeak-ng phonemes."""

import math
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError, UnsuitableInputError
from cutroom.engines.models.onnx import open_session
from cutroom.engines.synthesis.kokoro_voices import VOICES
from cutroom.engines.synthesis.phonemes import CLAUSE_ENDS, PROGRAM, SENTENCE_ENDS, TOKEN_IDS, Espeak
from cutroom.engines.synthesis.port import StockVoice, SynthesizedSpeech
from cutroom.text.speech_normalization import normalize_for_speech

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

SPEECH_RATE = 24_000
MIN_SPEED, MAX_SPEED = 0.5, 2.0
MAX_PHONEMES = 510  # per inference; a voice has one style row per phoneme count
# Longer input is rushed and drops words. A chunk is cut in its second half, at a sentence end if possible.
CHUNK_PHONEMES = 360

EDGE_SECONDS = 0.06  # silence kept at both ends
SENTENCE_PAUSE_SECONDS = 0.25  # between chunks; pauses within a chunk come from the network
CLAUSE_PAUSE_SECONDS = 0.1
SILENCE_RATIO = 10 ** (-45 / 20)  # relative to the loudest frame
FRAME_SECONDS = 0.01

_FILE = "kokoro-v1.0.int8.onnx"
_SPINNING = "session.intra_op.allow_spinning"  # disabled, so that idle threads do not busy-wait
_STYLE_SIZE = 256


class KokoroSynthesizer:
    """Thread-safe: calls are serialized on one session."""

    def __init__(
        self,
        model_folder: Path,
        voices_folder: Path,
        *,
        cpu_threads: int,
        name: str = "kokoro-int8",
        program: Path = PROGRAM,
    ) -> None:
        """Takes the model folders as the store returns them."""
        self.name = name
        self._voices_folder = voices_folder
        self._voices = {voice.name: voice for voice in VOICES if (voices_folder / f"{voice.name}.bin").is_file()}
        if not self._voices:
            raise EngineUnavailableError("No Kokoro voices are installed.")
        self._session = open_session(
            model_folder / _FILE, name=_FILE, cpu_threads=cpu_threads, entries={_SPINNING: "0"}
        )
        self._running = threading.Lock()
        self._espeak = Espeak(program)

    def voices(self) -> Sequence[StockVoice]:
        return tuple(self._voices.values())

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        """Synthesizes long text in chunks."""
        if voice not in self._voices:
            raise EngineError(f"Unknown voice: {voice}.")
        if not MIN_SPEED <= speed <= MAX_SPEED:
            raise EngineError(f"The speed must be between {MIN_SPEED} and {MAX_SPEED}.")
        language = _with_region(language, self._voices[voice])
        phonemes = self._espeak.phonemes(normalize_for_speech(text, language), language=language)
        if not phonemes:
            raise UnsuitableInputError("no_words", "The text contains nothing to speak.")
        styles = _styles(self._voices_folder / f"{voice}.bin")
        chunks = [(chunk, self._run(chunk, styles, speed)) for chunk in split_phonemes(phonemes)]
        return SynthesizedSpeech(_join(chunks), SPEECH_RATE)

    def _run(self, phonemes: str, styles: "Samples", speed: float) -> "Samples":
        import numpy as np  # noqa: PLC0415 - the API process imports this module without it

        tokens = [TOKEN_IDS[symbol] for symbol in phonemes]
        inputs = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": styles[len(tokens) - 1][np.newaxis],
            "speed": np.array([speed], np.float32),
        }
        try:
            with self._running:
                (output,) = self._session.run(None, inputs)
        except Exception as error:  # onnxruntime exposes no common error class
            raise EngineError(f"The model {self.name} failed.") from error
        samples: Samples = np.asarray(output, np.float32).reshape(-1)
        if not len(samples) or not np.isfinite(samples).all():
            raise EngineError(f"The model {self.name} produced no audio.")
        return np.clip(samples, -1.0, 1.0)


def split_phonemes(phonemes: str, *, max_phonemes: int = CHUNK_PHONEMES) -> Iterator[str]:
    """Chunks of similar length, cut at a sentence end, else a clause, else a word."""
    rest = phonemes.strip()
    while rest:
        if len(rest) <= max_phonemes:
            yield rest
            return
        target = math.ceil(len(rest) / math.ceil(len(rest) / max_phonemes))  # balanced, so the last chunk is not short
        cut = _best_cut(rest, start=target // 2, end=max_phonemes)
        yield rest[:cut].strip()
        rest = rest[cut:].strip()


def _best_cut(phonemes: str, *, start: int, end: int) -> int:
    for marks in (SENTENCE_ENDS, CLAUSE_ENDS, " "):
        cut = max(phonemes.rfind(mark, start, end) for mark in marks) + 1
        if cut:
            return cut
    return end


def trim_silence(samples: "Samples") -> "Samples":
    """Trims silence at both ends, keeping EDGE_SECONDS."""
    import numpy as np  # noqa: PLC0415 - see above

    frame, edge = round(FRAME_SECONDS * SPEECH_RATE), round(EDGE_SECONDS * SPEECH_RATE)
    missing = -len(samples) % frame
    loudness = np.sqrt(np.square(np.pad(samples, (0, missing)).reshape(-1, frame)).mean(axis=1))
    audible = np.flatnonzero(loudness > SILENCE_RATIO * max(float(loudness.max()), 1e-6))
    if not len(audible):
        return samples
    return samples[max(0, audible[0] * frame - edge) : (audible[-1] + 1) * frame + edge]


def _join(chunks: Sequence[tuple[str, "Samples"]]) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    joined = []
    for phonemes, samples in chunks:
        pause = SENTENCE_PAUSE_SECONDS if phonemes[-1] in SENTENCE_ENDS else CLAUSE_PAUSE_SECONDS
        joined += [trim_silence(samples), np.zeros(round(pause * SPEECH_RATE), np.float32)]
    return np.concatenate(joined[:-1])


def _with_region(language: str, voice: StockVoice) -> str:
    """Adds the voice's region to a language without one."""
    return voice.language if voice.language.partition("-")[0] == language else language


@lru_cache(maxsize=64)
def _styles(path: Path) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    try:
        rows = np.fromfile(path, "<f4").reshape(-1, _STYLE_SIZE)
    except (OSError, ValueError) as error:
        raise EngineUnavailableError(f"The voice {path.stem} cannot be loaded.") from error
    if len(rows) < MAX_PHONEMES:
        raise EngineUnavailableError(f"The voice {path.stem} is incomplete.")
    return rows.astype(np.float32)
