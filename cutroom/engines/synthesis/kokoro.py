"""Local speech synthesis with Kokoro in onnxruntime, from phonemes."""

import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError, UnsuitableInputError
from cutroom.engines.models.onnx import OnnxSession, open_session
from cutroom.engines.models.onnx_convolutions import with_fast_convolutions
from cutroom.engines.models.onnx_graph import OnnxGraph, read_graph
from cutroom.engines.synthesis.chinese_phonemes import chinese_phonemes
from cutroom.engines.synthesis.chunks import join_chunks, split_phonemes
from cutroom.engines.synthesis.japanese_phonemes import japanese_phonemes
from cutroom.engines.synthesis.kokoro_durations import joined_seconds, speech_seconds
from cutroom.engines.synthesis.kokoro_voices import VOICES
from cutroom.engines.synthesis.phonemes import (
    CLAUSE_ENDS,
    PROGRAM,
    SENTENCE_ENDS,
    TOKEN_IDS,
    Espeak,
    model_symbols,
)
from cutroom.engines.synthesis.port import StockVoice, SynthesizedSpeech
from cutroom.media.sandbox import Sandbox
from cutroom.text.language_tags import language_of
from cutroom.text.phonetic_spelling import spoken_parts
from cutroom.text.speech_normalization import normalize_for_speech

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from cutroom.engines.types import Samples

    Inputs = Mapping[str, NDArray[np.generic]]

SPEECH_RATE = 24_000
MIN_SPEED, MAX_SPEED = 0.5, 2.0
# Voices that the model speaks faster than people do: Siwis at 19 characters a second, 17 at this speed.
NATURAL_SPEEDS = {"ff_siwis": 0.85}
RECENT_TEXTS = 64
MAX_PHONEMES = 510  # per inference; a voice has one style row per phoneme count

_MARKS_ONLY = re.compile(f"[{re.escape(SENTENCE_ENDS + CLAUSE_ENDS)}]+")
_FILE = "kokoro-v1.0.int8.onnx"
_DURATIONS = "/encoder/Round_output_0"  # frames of each token, computed before the audio
_STYLE_SIZE = 256
_PACKAGES = {"ja": ("pyopenjtalk",), "zh": ("pypinyin",)}  # of the extra `speech-asia`


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
        sandbox: Sandbox | None = None,
    ) -> None:
        """Takes the model folders as the store returns them."""
        self.name = name
        self._voices_folder = voices_folder
        self._voices = {
            voice.name: voice
            for voice in VOICES
            if (voices_folder / f"{voice.name}.bin").is_file() and has_phonemes(voice.language)
        }
        if not self._voices:
            raise EngineUnavailableError("No Kokoro voices are installed.")
        graph = _read_model(model_folder / _FILE)
        self._session = open_session(with_fast_convolutions(graph).encode(), name=_FILE, cpu_threads=cpu_threads)
        self._durations = _open_durations(graph, cpu_threads=cpu_threads)
        self._running = threading.Lock()
        self._espeak = Espeak(program, sandbox=sandbox)
        # A text is read again when its duration is predicted at another speed, and when it is spoken.
        self._phonemes = lru_cache(maxsize=RECENT_TEXTS)(self._read)

    def voices(self) -> Sequence[StockVoice]:
        return tuple(self._voices.values())

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        """Synthesizes long text in chunks."""
        chunks = [
            (phonemes, self._run(inputs))
            for phonemes, inputs in self._chunks(text, voice, language=language, speed=speed)
        ]
        return SynthesizedSpeech(join_chunks(chunks, SPEECH_RATE), SPEECH_RATE)

    def predict_seconds(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> float | None:
        """By the part of the network that computes how many frames each phoneme lasts; its share of the time is 2 %."""
        if self._durations is None:
            return None
        seconds = []
        for phonemes, inputs in self._chunks(text, voice, language=language, speed=speed):
            frames = self._infer(self._durations, [_DURATIONS], inputs)
            seconds.append((phonemes, speech_seconds(phonemes, frames.tolist())))
        return joined_seconds(seconds)

    def _chunks(self, text: str, voice: str, *, language: str, speed: float) -> "list[tuple[str, Inputs]]":
        """The phonemes of each chunk of a text, and what the network is given for them."""
        if voice not in self._voices:
            raise EngineError(f"Unknown voice: {voice}.")
        if not MIN_SPEED <= speed <= MAX_SPEED:
            raise EngineError(f"The speed must be between {MIN_SPEED} and {MAX_SPEED}.")
        language = _with_region(language, self._voices[voice])
        phonemes = self._spelled(text, language)
        if not phonemes:
            raise UnsuitableInputError("no_words", "The text contains nothing to speak.")
        styles = _styles(self._voices_folder / f"{voice}.bin")
        speed *= NATURAL_SPEEDS.get(voice, 1.0)
        return [(chunk, _inputs(chunk, styles, speed)) for chunk in split_phonemes(phonemes)]

    def _spelled(self, text: str, language: str) -> str:
        """The phonemes of a text, in which some words may be spelled as phonemes."""
        parts = list(spoken_parts(text))
        if not any(each.is_phonemes for each in parts):
            return self._phonemes(normalize_for_speech(text, language), language)
        spelled = ""
        for part in parts:
            if part.is_phonemes:
                phonemes = model_symbols(part.text)
            elif _MARKS_ONLY.fullmatch(part.text):
                phonemes = part.text
            else:
                phonemes = self._phonemes(normalize_for_speech(part.text, language), language)
            is_joined = not spelled or phonemes[:1] in SENTENCE_ENDS + CLAUSE_ENDS
            spelled += phonemes if is_joined else f" {phonemes}"
        return spelled

    def _read(self, text: str, language: str) -> str:
        code = language_of(language)
        if code == "ja":
            return japanese_phonemes(text)
        if code == "zh":
            return chinese_phonemes(text, latin=lambda words: self._espeak.phonemes(words, language="en-us"))
        return self._espeak.phonemes(text, language=language)

    def _run(self, inputs: "Inputs") -> "Samples":
        import numpy as np  # noqa: PLC0415 - the API process imports this module without it

        samples = self._infer(self._session, None, inputs)
        if not len(samples) or not np.isfinite(samples).all():
            raise EngineError(f"The model {self.name} produced no audio.")
        return np.clip(samples, -1.0, 1.0)

    def _infer(self, session: OnnxSession, outputs: Sequence[str] | None, inputs: "Inputs") -> "Samples":
        import numpy as np  # noqa: PLC0415 - see above

        try:
            with self._running:
                (output,) = session.run(outputs, inputs)
        except Exception as error:  # onnxruntime exposes no common error class
            raise EngineError(f"The model {self.name} failed.") from error
        return np.asarray(output, np.float32).reshape(-1)


def has_phonemes(language: str) -> bool:
    """Whether the packages that read the language are installed; espeak-ng reads all but Japanese and Chinese."""
    return all(find_spec(package) is not None for package in _PACKAGES.get(language_of(language), ()))


def _read_model(path: Path) -> OnnxGraph:
    try:
        return read_graph(path.read_bytes())
    except (OSError, ValueError) as error:
        raise EngineUnavailableError(f"The model {_FILE} cannot be loaded.") from error


def _open_durations(graph: OnnxGraph, *, cpu_threads: int) -> OnnxSession | None:
    """None if another export of the network names its parts differently."""
    part = graph.prefix(_DURATIONS)
    return open_session(part.encode(), name=_FILE, cpu_threads=cpu_threads) if part is not None else None


def _inputs(phonemes: str, styles: "Samples", speed: float) -> "Inputs":
    import numpy as np  # noqa: PLC0415 - see above

    tokens = [TOKEN_IDS[symbol] for symbol in phonemes]
    return {
        "tokens": np.array([[0, *tokens, 0]], np.int64),
        "style": styles[len(tokens) - 1][np.newaxis],
        "speed": np.array([speed], np.float32),
    }


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
