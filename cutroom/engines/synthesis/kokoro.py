"""Speaks on this machine with the Kokoro network in onnxruntime, from the phonemes of espeak-ng."""

import math
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.models.onnx import open_session
from cutroom.engines.synthesis.kokoro_voices import VOICES
from cutroom.engines.synthesis.phonemes import ENDS_OF_CLAUSES, ENDS_OF_SENTENCES, NUMBERS, PROGRAM, Espeak
from cutroom.engines.synthesis.port import StockVoice, SynthesizedSpeech
from cutroom.text.speech_normalization import spoken

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

SPEECH_RATE = 24_000
MIN_SPEED, MAX_SPEED = 0.5, 2.0
MAX_PHONEMES = 510  # at once; there is one row of a voice for each number of them
# Longer stretches are rushed, and words get lost. A part ends in its second half, where the sentence does if it can.
PART_PHONEMES = 360

EDGE_SECONDS = 0.06  # of silence at both ends
SENTENCE_PAUSE_SECONDS = 0.25  # between parts; what comes inside of a part is the network's
CLAUSE_PAUSE_SECONDS = 0.1
SILENCE = 10 ** (-45 / 20)  # against the loudest moment
FRAME_SECONDS = 0.01

_FILE = "kokoro-v1.0.int8.onnx"
_SPINNING = "session.intra_op.allow_spinning"  # off: waiting threads leave the processor
_STYLE_SIZE = 256


class KokoroSynthesizer:
    """One network for all calls of the process; calls from several threads wait for each other."""

    def __init__(
        self,
        model_folder: Path,
        voices_folder: Path,
        *,
        cpu_threads: int,
        name: str = "kokoro-int8",
        program: Path = PROGRAM,
    ) -> None:
        """The folders as the store gives them."""
        self.name = name
        self._voices_folder = voices_folder
        self._voices = {voice.name: voice for voice in VOICES if (voices_folder / f"{voice.name}.bin").is_file()}
        if not self._voices:
            raise EngineUnavailableError("There are no voices for Kokoro.")
        self._session = open_session(
            model_folder / _FILE, name=_FILE, cpu_threads=cpu_threads, entries={_SPINNING: "0"}
        )
        self._running = threading.Lock()
        self._espeak = Espeak(program)

    def voices(self) -> Sequence[StockVoice]:
        return tuple(self._voices.values())

    def speak(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        """The text in one of the voices; what is too long for the network goes through it in parts."""
        if voice not in self._voices:
            raise EngineError(f"There is no voice {voice}.")
        if not MIN_SPEED <= speed <= MAX_SPEED:
            raise EngineError(f"The speed lies between {MIN_SPEED} and {MAX_SPEED}.")
        language = _with_accent(language, self._voices[voice])
        phonemes = self._espeak.phonemes(spoken(text, language), language=language)
        if not phonemes:
            raise EngineError("There is nothing in the text that can be spoken.")
        styles = _styles(self._voices_folder / f"{voice}.bin")
        parts = [(part, self._run(part, styles, speed)) for part in split(phonemes)]
        return SynthesizedSpeech(_joined(parts), SPEECH_RATE)

    def _run(self, phonemes: str, styles: "Samples", speed: float) -> "Samples":
        import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

        tokens = [NUMBERS[symbol] for symbol in phonemes]
        given = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": styles[len(tokens) - 1][np.newaxis],
            "speed": np.array([speed], np.float32),
        }
        try:
            with self._running:
                (found,) = self._session.run(None, given)
        except Exception as error:  # onnxruntime's own errors have no public class in common
            raise EngineError(f"The model {self.name} failed.") from error
        samples: Samples = np.asarray(found, np.float32).reshape(-1)
        if not len(samples) or not np.isfinite(samples).all():
            raise EngineError(f"The model {self.name} gave no sound.")
        return np.clip(samples, -1.0, 1.0)


def split(phonemes: str, *, most: int = PART_PHONEMES) -> Iterator[str]:
    """Parts of like length, each of which ends with a sentence, else a clause, else a word, if it can."""
    rest = phonemes.strip()
    while rest:
        if len(rest) <= most:
            yield rest
            return
        share = math.ceil(len(rest) / math.ceil(len(rest) / most))  # so that no short part is left at the end
        cut = _best_cut(rest, least=share // 2, most=most)
        yield rest[:cut].strip()
        rest = rest[cut:].strip()


def _best_cut(phonemes: str, *, least: int, most: int) -> int:
    for ends in (ENDS_OF_SENTENCES, ENDS_OF_CLAUSES, " "):
        cut = max(phonemes.rfind(end, least, most) for end in ends) + 1
        if cut:
            return cut
    return most


def trim(samples: "Samples") -> "Samples":
    """Without the silence at the ends, but for a little."""
    import numpy as np  # noqa: PLC0415 - see above

    frame, edge = round(FRAME_SECONDS * SPEECH_RATE), round(EDGE_SECONDS * SPEECH_RATE)
    missing = -len(samples) % frame
    loudness = np.sqrt(np.square(np.pad(samples, (0, missing)).reshape(-1, frame)).mean(axis=1))
    heard = np.flatnonzero(loudness > SILENCE * max(float(loudness.max()), 1e-6))
    if not len(heard):
        return samples
    return samples[max(0, heard[0] * frame - edge) : (heard[-1] + 1) * frame + edge]


def _joined(parts: Sequence[tuple[str, "Samples"]]) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    pieces = []
    for phonemes, samples in parts:
        pause = SENTENCE_PAUSE_SECONDS if phonemes[-1] in ENDS_OF_SENTENCES else CLAUSE_PAUSE_SECONDS
        pieces += [trim(samples), np.zeros(round(pause * SPEECH_RATE), np.float32)]
    return np.concatenate(pieces[:-1])


def _with_accent(language: str, voice: StockVoice) -> str:
    """A language without a place is spoken as in the place of the voice."""
    return voice.language if voice.language.partition("-")[0] == language else language


@lru_cache(maxsize=64)
def _styles(path: Path) -> "Samples":
    import numpy as np  # noqa: PLC0415 - see above

    try:
        rows = np.fromfile(path, "<f4").reshape(-1, _STYLE_SIZE)
    except (OSError, ValueError) as error:
        raise EngineUnavailableError(f"The voice {path.stem} cannot be loaded.") from error
    if len(rows) < MAX_PHONEMES:
        raise EngineUnavailableError(f"The voice {path.stem} is not whole.")
    return rows.astype(np.float32)
