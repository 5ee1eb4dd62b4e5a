"""Local speech recognition with Whisper models in faster-whisper."""

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.models.device import Device
from cutroom.engines.recognition import hallucinations
from cutroom.engines.recognition.hallucinations import DecodedSegment, is_hallucination, needs_second_pass
from cutroom.engines.recognition.port import Transcription
from cutroom.engines.recognition.shared_encodings import sharing_model
from cutroom.engines.recognition.speech_windows import DecodingWindow, plan_windows
from cutroom.engines.recognition.whisper_languages import language_code, whisper_code
from cutroom.engines.recognition.word_timestamps import RecognizedToken, align_words, uncovered_speech, uses_spaces
from cutroom.engines.types import SAMPLE_RATE, OnProgress, TimeSpan

if TYPE_CHECKING:
    from faster_whisper import BatchedInferencePipeline  # type: ignore[import-untyped]
    from faster_whisper.transcribe import Segment  # type: ignore[import-untyped]

    from cutroom.engines.recognition.shared_encodings import EncodingModel
    from cutroom.engines.types import Samples

WINDOW_SECONDS = 30.0  # input length of the model
BEAM_SIZE = 5
UNKNOWN_LANGUAGE = "und"

# Speech this long without a word was skipped by the decoder; it is decoded again in shorter windows.
MIN_SKIPPED_SECONDS = 2.0
SKIPPED_WINDOW_SECONDS = 8.0
SECOND_PASS_TEMPERATURES = (0.0, 0.2, 0.6)
# The sequential transcribe() resumes after the last accepted word, and may advance in small steps.
MAX_SECOND_PASS_SEEKS = 4
SEED = 20

MAX_DETECTION_WINDOWS = 5
CONFIDENT_PROBABILITY = 0.9
CONFIDENT_WINDOWS = 2  # agreeing windows after which detection stops

COMPUTE_TYPES: Mapping[Device, str] = {Device.CPU: "int8", Device.CUDA: "float16"}
# Features of the processor that CTranslate2's code for AVX-512 needs.
AVX512 = frozenset({"avx512f", "avx512cd", "avx512vl", "avx512bw", "avx512dq"})
CPU_INFO = Path("/proc/cpuinfo")

_MODEL_FILES = ("config.json", "model.bin", "tokenizer.json")


class WhisperRecognizer:
    """Shares one model per process; concurrent calls are serialized inside it."""

    def __init__(self, folder: Path, *, cpu_threads: int, device: Device = Device.CPU, name: str = "whisper") -> None:
        self.name = name
        self._model, self._pipeline = load_whisper(folder, cpu_threads, device)

    def transcribe(
        self,
        samples: "Samples",
        *,
        language: str | None,
        speech: Sequence[TimeSpan],
        on_progress: OnProgress | None = None,
    ) -> Transcription:
        """Transcribes all windows, and reports progress after each."""
        requested = self._whisper_code(language) if language else None
        windows = plan_windows(samples, speech, max_seconds=WINDOW_SECONDS)
        if not windows:
            return Transcription(language or UNKNOWN_LANGUAGE, 1.0 if language else 0.0, ())
        if language and requested:
            found, probability, code = language, 1.0, requested
        else:
            code, probability = self._detect_language(samples, windows)
            found = language_code(code) or UNKNOWN_LANGUAGE
        tokens: list[RecognizedToken] = []
        total = sum(window.length for window in windows)
        done = 0
        for window in windows:
            tokens += self._transcribe_window(samples, window, code=code, speech=speech)
            done += window.length
            if on_progress:
                on_progress(done / total)
        return Transcription(found, probability, align_words(tokens, speech=speech, spaced=uses_spaces(found)))

    def _whisper_code(self, language: str) -> str:
        code = whisper_code(language)
        if code is None or code not in self._model.supported_languages:
            raise EngineError(f"The model {self.name} does not support the language {language}.")
        return code

    def _detect_language(self, samples: "Samples", windows: Sequence[DecodingWindow]) -> tuple[str, float]:
        """The dominant language: sampled windows vote with their probabilities. English-only models return English."""
        if not self._model.model.is_multilingual:
            return "en", 1.0
        votes: Counter[str] = Counter()
        confident: Counter[str] = Counter()
        sampled = 0
        for index in _sample_indices(len(windows)):
            all_probabilities = self._model.language_probabilities(windows[index].extract(samples))
            sampled += 1
            votes.update(all_probabilities)
            confident.update(
                code for code, probability in all_probabilities.items() if probability >= CONFIDENT_PROBABILITY
            )
            if max(confident.values(), default=0) >= CONFIDENT_WINDOWS:
                break
        code, probability_sum = votes.most_common(1)[0]
        return code, min(1.0, probability_sum / sampled)

    def _transcribe_window(
        self, samples: "Samples", window: DecodingWindow, *, code: str, speech: Sequence[TimeSpan]
    ) -> list[RecognizedToken]:
        """Decodes the window, then decodes again the speech that the model skipped."""
        audio = window.extract(samples)
        try:
            segments = self._batched_decode(audio, code)
            if any(needs_second_pass(_stats(each, window)) for each in segments):
                segments = self._sequential_decode(audio, code)
            tokens = _credible_tokens(segments, window)
            spoken = window.speech_in_recording_time(speech)
            skipped = uncovered_speech(tokens, speech=spoken, min_seconds=MIN_SKIPPED_SECONDS)
            if not tokens or not skipped:  # a window without any word has no speech
                return tokens
            for retry in plan_windows(samples, skipped, max_seconds=SKIPPED_WINDOW_SECONDS):
                segments = self._batched_decode(retry.extract(samples), code)
                tokens += _credible_tokens(
                    [each for each in segments if not needs_second_pass(_stats(each, retry))], retry
                )
        except (RuntimeError, ValueError) as error:
            raise EngineError(f"The model {self.name} failed.") from error
        return sorted(tokens, key=lambda each: each.span.start_seconds)

    def _batched_decode(self, samples: "Samples", code: str) -> "list[Segment]":
        """Decodes the window once with beam search. The sequential transcribe() would seek back to the last word and
        decode the rest again, at the cost of a full window each time."""
        clip = [{"start": 0.0, "end": len(samples) / SAMPLE_RATE}]
        segments, _ = self._pipeline.transcribe(
            samples, language=code, clip_timestamps=clip, beam_size=BEAM_SIZE, word_timestamps=True, batch_size=1
        )
        return list(segments)

    def _sequential_decode(self, samples: "Samples", code: str) -> "list[Segment]":
        """Decodes segment by segment with temperature fallback, which breaks most repetition loops."""
        import ctranslate2  # noqa: PLC0415 - see below

        ctranslate2.set_random_seed(SEED)  # sampling stays deterministic
        segments, _ = self._model.transcribe(
            samples,
            language=code,
            beam_size=BEAM_SIZE,
            word_timestamps=True,
            temperature=SECOND_PASS_TEMPERATURES,
            compression_ratio_threshold=hallucinations.MAX_COMPRESSION_RATIO,
            log_prob_threshold=hallucinations.MIN_LOG_PROBABILITY,
            no_speech_threshold=hallucinations.MAX_NO_SPEECH_PROBABILITY,
            condition_on_previous_text=False,
        )
        kept: list[Segment] = []
        for segment in segments:  # a generator that decodes lazily
            if len({segment.seek, *(each.seek for each in kept)}) > MAX_SECOND_PASS_SEEKS:
                break
            kept.append(segment)
        return kept


def _sample_indices(count: int) -> list[int]:
    """Window indices to sample: quartiles first, the ends last, because they often hold titles and credits."""
    indices = [count // 4, count * 3 // 4, count // 2, 0, count - 1]
    return list(dict.fromkeys(indices))[:MAX_DETECTION_WINDOWS]


def _stats(segment: "Segment", window: DecodingWindow) -> DecodedSegment:
    words = segment.words or ()
    return DecodedSegment(
        seconds=min(window.seconds, segment.end - segment.start),
        word_seconds=[word.end - word.start for word in words],
        word_probabilities=[word.probability for word in words],
        compression_ratio=segment.compression_ratio,
        log_probability=segment.avg_logprob,
        no_speech_probability=segment.no_speech_prob,
    )


def _credible_tokens(segments: "Sequence[Segment]", window: DecodingWindow) -> list[RecognizedToken]:
    """Tokens of credible segments, in recording time."""
    return [
        RecognizedToken(
            word.word, window.to_recording_time(TimeSpan(float(word.start), float(word.end))), float(word.probability)
        )
        for segment in segments
        if not is_hallucination(_stats(segment, window))
        for word in segment.words or ()
    ]


@lru_cache(maxsize=len(Device))  # voice transfer uses the CPU
def load_whisper(
    folder: Path, cpu_threads: int, device: Device = Device.CPU
) -> "tuple[EncodingModel, BatchedInferencePipeline]":
    """Cached, so that a process loads the model once."""
    missing = [name for name in _MODEL_FILES if not (folder / name).is_file()]
    if missing:  # faster-whisper would download missing files
        raise EngineUnavailableError(f"The model {folder.name} is missing {', '.join(missing)}.")
    _use_widest_vectors()
    faster_whisper = _import_faster_whisper()
    try:
        model = sharing_model(faster_whisper)(
            str(folder), device=device.value, compute_type=COMPUTE_TYPES[device], cpu_threads=cpu_threads
        )
    except (RuntimeError, ValueError) as error:
        raise EngineUnavailableError(f"The model {folder.name} cannot be loaded.") from error
    return model, faster_whisper.BatchedInferencePipeline(model)


def tokenizer_for(model: "EncodingModel", language: str, *, name: str) -> Any:  # noqa: ANN401 - of faster-whisper
    """The tokenizer of a model for transcriptions in a language."""
    from faster_whisper.tokenizer import Tokenizer  # type: ignore[import-untyped]  # noqa: PLC0415 - loads an engine

    code = whisper_code(language)
    if code is None or code not in model.supported_languages:
        raise EngineError(f"The model {name} does not support the language {language}.")
    return Tokenizer(model.hf_tokenizer, model.model.is_multilingual, task="transcribe", language=code)


def _use_widest_vectors(cpu_info: Path = CPU_INFO) -> None:
    """Lets CTranslate2 use AVX-512, which it does only if the environment says so when it is first used."""
    if _cpu_features(cpu_info) >= AVX512:
        os.environ.setdefault("CT2_FORCE_CPU_ISA", "AVX512")


def _cpu_features(cpu_info: Path) -> set[str]:
    try:
        lines = cpu_info.read_text().splitlines()
    except OSError:
        return set()
    return set(next((line.partition(":")[2] for line in lines if line.startswith("flags")), "").split())


def _import_faster_whisper() -> Any:  # noqa: ANN401 - a module
    """Imports faster-whisper without PyAV, which it only needs to decode files.

    PyAV's wheels bundle GPL components of FFmpeg, and we pass samples. If PyAV is not installed, an empty module
    replaces it during the import.
    """
    stubbed = "av" not in sys.modules and find_spec("av") is None
    if stubbed:
        sys.modules["av"] = ModuleType("av")
    try:
        import faster_whisper  # noqa: PLC0415 - the API process never loads an engine
    except ImportError as error:
        raise EngineUnavailableError("faster-whisper is not installed.") from error
    finally:
        if stubbed:
            del sys.modules["av"]
    return faster_whisper
