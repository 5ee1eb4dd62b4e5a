"""Recognizes doubtful speech a second time on the voice without its background."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.recognition.doubtful_speech import doubtful_spans, has_background, merge_spans
from cutroom.engines.recognition.port import SpeechRecognizer, Transcription
from cutroom.engines.recognition.word_timestamps import RecognizedToken, align_words, uses_spaces
from cutroom.engines.samples import resample
from cutroom.engines.separation.port import SourceSeparator
from cutroom.engines.types import SAMPLE_RATE, OnProgress, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

CONTEXT_SECONDS = 0.75  # separated with each span, because the separator is less exact at its ends
FIRST_PASS_FRACTION = 0.7  # of the time over a background

_log = logging.getLogger(__name__)


class SeparatedVoiceRecognizer:
    """Wraps a recognizer; the separator is loaded only when a span needs it."""

    def __init__(self, recognizer: SpeechRecognizer, separator: Callable[[], SourceSeparator]) -> None:
        self._recognizer = recognizer
        self._separator = separator

    @property
    def name(self) -> str:
        return self._recognizer.name

    def transcribe(
        self,
        samples: "Samples",
        *,
        language: str | None,
        speech: Sequence[TimeSpan],
        on_progress: OnProgress | None = None,
    ) -> Transcription:
        background = has_background(samples)
        share = FIRST_PASS_FRACTION if background else 1.0
        first = self._recognizer.transcribe(
            samples,
            language=language,
            speech=speech,
            on_progress=(lambda done: on_progress(share * done)) if on_progress else None,
        )
        doubtful = doubtful_spans(first.words, speech, background=background)
        if not doubtful:
            return first
        try:
            voice = separate_spans(samples, doubtful, separator=self._separator())
        except EngineUnavailableError as error:
            _log.info("doubtful speech kept as recognized", extra={"reason": str(error)})
            return first
        second = self._recognizer.transcribe(
            voice,
            language=first.language,
            speech=doubtful,
            on_progress=(lambda done: on_progress(share + (1 - share) * done)) if on_progress else None,
        )
        words = merge_spans(first.words, second.words, doubtful)
        tokens = [
            RecognizedToken(f" {word.text}", TimeSpan(word.start_seconds, word.end_seconds), word.probability)
            for word in words
        ]
        aligned = align_words(tokens, speech=speech, spaced=uses_spaces(first.language))
        return Transcription(first.language, first.language_probability, aligned)


def separate_spans(samples: "Samples", spans: Sequence[TimeSpan], *, separator: SourceSeparator) -> "Samples":
    """The voice in the given spans and near them; silence elsewhere."""
    import numpy as np  # noqa: PLC0415 - the API process imports this module without it

    voice = np.zeros_like(samples)
    for start, end in _with_context(spans, len(samples)):
        mono = resample(samples[start:end], SAMPLE_RATE, separator.sample_rate)
        separated, _ = separator.separate(np.stack([mono, mono]))
        found = resample(separated.mean(axis=0), separator.sample_rate, SAMPLE_RATE)
        count = min(len(found), end - start)
        voice[start : start + count] = found[:count]
    return voice


def _with_context(spans: Sequence[TimeSpan], length: int) -> list[tuple[int, int]]:
    """Ranges in samples, widened and merged."""
    ranges: list[tuple[int, int]] = []
    for span in spans:
        start = max(0, round((span.start_seconds - CONTEXT_SECONDS) * SAMPLE_RATE))
        end = min(length, round((span.end_seconds + CONTEXT_SECONDS) * SAMPLE_RATE))
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = ranges[-1][0], max(end, ranges[-1][1])
        elif start < end:
            ranges.append((start, end))
    return ranges
