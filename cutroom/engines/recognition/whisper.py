"""Recognises speech on this machine with a Whisper model, by faster-whisper."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition import hallucinations
from cutroom.engines.recognition.hallucinations import Hearing, is_doubtful, is_hallucination
from cutroom.engines.recognition.port import Transcription
from cutroom.engines.recognition.speech_windows import Window, plan_windows
from cutroom.engines.recognition.whisper_languages import language_code, whisper_code
from cutroom.engines.recognition.word_timestamps import Heard, tidy_words, unheard, uses_blanks
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from faster_whisper import BatchedInferencePipeline, WhisperModel  # type: ignore[import-untyped]
    from faster_whisper.transcribe import Segment  # type: ignore[import-untyped]

    from cutroom.engines.types import Samples

OnProgress = Callable[[float], None]

WINDOW_SECONDS = 30.0  # what the models hear at once
BEAM_SIZE = 5
UNKNOWN_LANGUAGE = "und"

# Speech this long without a word was skipped; it is heard again in short windows, which leave less to skip.
MIN_SKIPPED_SECONDS = 2.0
SKIPPED_WINDOW_SECONDS = 8.0
SECOND_TEMPERATURES = (0.0, 0.2, 0.6)  # the more, the more chance
# Bare transcribe() goes on from the last word that it believes, and may go in small steps.
MAX_SECOND_PASSES = 4
SEED = 20

MAX_DETECTION_WINDOWS = 5
SURE_PROBABILITY = 0.9
SURE_WINDOWS = 2  # that agree: enough to stop asking

_MODEL_FILES = ("config.json", "model.bin", "tokenizer.json")


class WhisperRecognizer:
    """One model for all calls of the process; calls from several threads wait for each other inside it."""

    def __init__(self, folder: Path, *, cpu_threads: int, name: str = "whisper") -> None:
        self.name = name
        self._model, self._pipeline = load_whisper(folder, cpu_threads)

    def transcribe(
        self,
        samples: "Samples",
        *,
        language: str | None,
        speech: Sequence[TimeSpan],
        on_progress: OnProgress | None = None,
    ) -> Transcription:
        """The words; `on_progress` is told the share of the speech that is done, and may raise to stop it."""
        asked = self._whisper_code(language) if language else None
        windows = plan_windows(samples, speech, max_seconds=WINDOW_SECONDS)
        if not windows:
            return Transcription(language or UNKNOWN_LANGUAGE, 1.0 if language else 0.0, ())
        if language and asked:
            found, probability, code = language, 1.0, asked
        else:
            code, probability = self._detect(samples, windows)
            found = language_code(code) or UNKNOWN_LANGUAGE
        heard: list[Heard] = []
        total = sum(window.length for window in windows)
        done = 0
        for window in windows:
            heard += self._hear_all(samples, window, code=code, speech=speech)
            done += window.length
            if on_progress:
                on_progress(done / total)
        return Transcription(found, probability, tidy_words(heard, speech=speech, blanks=uses_blanks(found)))

    def _whisper_code(self, language: str) -> str:
        code = whisper_code(language)
        if code is None or code not in self._model.supported_languages:
            raise EngineError(f"The model {self.name} does not know the language {language}.")
        return code

    def _detect(self, samples: "Samples", windows: Sequence[Window]) -> tuple[str, float]:
        """The language of most of the speech: windows vote with their probabilities. A model of one knows no other."""
        if not self._model.model.is_multilingual:
            return "en", 1.0
        votes: Counter[str] = Counter()
        sure: Counter[str] = Counter()
        asked = 0
        for index in _spread(len(windows)):
            _, _, all_probabilities = self._model.detect_language(windows[index].take(samples))
            asked += 1
            votes.update(dict(all_probabilities))
            sure.update(code for code, probability in all_probabilities if probability >= SURE_PROBABILITY)
            if max(sure.values(), default=0) >= SURE_WINDOWS:
                break
        code, sum_of_probabilities = votes.most_common(1)[0]
        return code, min(1.0, sum_of_probabilities / asked)

    def _hear_all(self, samples: "Samples", window: Window, *, code: str, speech: Sequence[TimeSpan]) -> list[Heard]:
        """The window, and once more by themselves the parts of it that the model skipped."""
        taken = window.take(samples)
        try:
            segments = self._first_hearing(taken, code)
            if any(is_doubtful(_hearing(each, window)) for each in segments):
                segments = self._second_hearing(taken, code)
            heard = _believed(segments, window)
            skipped = unheard(heard, speech=window.within(speech), least_seconds=MIN_SKIPPED_SECONDS)
            if not heard or not skipped:  # without a word in all of the window nobody speaks in it
                return heard
            for part in plan_windows(samples, skipped, max_seconds=SKIPPED_WINDOW_SECONDS):
                segments = self._first_hearing(part.take(samples), code)
                heard += _believed([each for each in segments if not is_doubtful(_hearing(each, part))], part)
        except (RuntimeError, ValueError) as error:
            raise EngineError(f"The model {self.name} failed.") from error
        return sorted(heard, key=lambda each: each.span.start_seconds)

    def _first_hearing(self, samples: "Samples", code: str) -> "list[Segment]":
        """The window as one, by the beam. Bare transcribe() would go back to the last word's end and hear the rest
        of the window again and again, at the price of a window each time."""
        whole = [{"start": 0.0, "end": len(samples) / SAMPLE_RATE}]
        segments, _ = self._pipeline.transcribe(
            samples, language=code, clip_timestamps=whole, beam_size=BEAM_SIZE, word_timestamps=True, batch_size=1
        )
        return list(segments)

    def _second_hearing(self, samples: "Samples", code: str) -> "list[Segment]":
        """Sentence by sentence, which breaks most repetitions, and then by chance, in a few bounded tries."""
        import ctranslate2  # type: ignore[import-untyped]  # noqa: PLC0415 - see below

        ctranslate2.set_random_seed(SEED)  # the same input gives the same words
        segments, _ = self._model.transcribe(
            samples,
            language=code,
            beam_size=BEAM_SIZE,
            word_timestamps=True,
            temperature=SECOND_TEMPERATURES,
            compression_ratio_threshold=hallucinations.MAX_COMPRESSION_RATIO,
            log_prob_threshold=hallucinations.MIN_LOG_PROBABILITY,
            no_speech_threshold=hallucinations.MAX_NO_SPEECH_PROBABILITY,
            condition_on_previous_text=False,
        )
        kept: list[Segment] = []
        for segment in segments:  # each is made when it is asked for
            if len({segment.seek, *(each.seek for each in kept)}) > MAX_SECOND_PASSES:
                break
            kept.append(segment)
        return kept


def _spread(count: int) -> list[int]:
    """Some places in a list: first those that stand for its halves, last its ends, where titles and credits are."""
    places = [count // 4, count * 3 // 4, count // 2, 0, count - 1]
    return list(dict.fromkeys(places))[:MAX_DETECTION_WINDOWS]


def _hearing(segment: "Segment", window: Window) -> Hearing:
    words = segment.words or ()
    return Hearing(
        seconds=min(window.seconds, segment.end - segment.start),
        word_seconds=[word.end - word.start for word in words],
        word_probabilities=[word.probability for word in words],
        compression_ratio=segment.compression_ratio,
        log_probability=segment.avg_logprob,
        no_speech_probability=segment.no_speech_prob,
    )


def _believed(segments: "Sequence[Segment]", window: Window) -> list[Heard]:
    """The words that somebody may have said, by the clock of the recording."""
    return [
        Heard(word.word, window.lead_back(TimeSpan(float(word.start), float(word.end))), float(word.probability))
        for segment in segments
        if not is_hallucination(_hearing(segment, window))
        for word in segment.words or ()
    ]


@lru_cache(maxsize=1)
def load_whisper(folder: Path, cpu_threads: int) -> "tuple[WhisperModel, BatchedInferencePipeline]":
    """One for all who ask in a process."""
    missing = [name for name in _MODEL_FILES if not (folder / name).is_file()]
    if missing:  # faster-whisper would fetch what it lacks from the internet
        raise EngineUnavailableError(f"The model {folder.name} lacks {', '.join(missing)}.")
    faster_whisper = _import_faster_whisper()
    try:
        model = faster_whisper.WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=cpu_threads)
    except (RuntimeError, ValueError) as error:
        raise EngineUnavailableError(f"The model {folder.name} cannot be loaded.") from error
    return model, faster_whisper.BatchedInferencePipeline(model)


def _import_faster_whisper() -> Any:  # noqa: ANN401 - a module
    """The package without PyAV, which it imports only to decode files.

    PyAV's wheels carry an FFmpeg with parts under the GPL, and we hand over samples: while the package is imported an
    empty module stands in for it, if it is not there.
    """
    stands_in = "av" not in sys.modules and find_spec("av") is None
    if stands_in:
        sys.modules["av"] = ModuleType("av")
    try:
        import faster_whisper  # noqa: PLC0415 - the API process never loads an engine
    except ImportError as error:
        raise EngineUnavailableError("faster-whisper is not installed.") from error
    finally:
        if stands_in:
            del sys.modules["av"]
    return faster_whisper
