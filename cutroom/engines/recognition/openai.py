"""Speech recognition on a remote server with the OpenAI transcriptions API."""

import io
import math
import time
import wave
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, FiniteFloat, ValidationError

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.hallucinations import DecodedSegment, is_hallucination
from cutroom.engines.recognition.port import Transcription
from cutroom.engines.recognition.speech_windows import plan_windows
from cutroom.engines.recognition.whisper_languages import language_code, whisper_code
from cutroom.engines.recognition.word_timestamps import (
    RecognizedToken,
    align_words,
    attach_punctuation,
    interpolate_words,
    uses_spaces,
)
from cutroom.engines.types import SAMPLE_RATE, OnProgress, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

# 19 MB as WAV; many servers accept up to 25 MB.
WINDOW_SECONDS = 600.0
TIMEOUT_SECONDS = 300.0
MAX_RETRIES = 2
MAX_RESPONSE_BYTES = 32 * 1024 * 1024
UNKNOWN_LANGUAGE = "und"
# The protocol reports no language probability, and word probabilities only through their segment.
UNKNOWN_PROBABILITY = 0.5

_RETRYABLE_STATUSES = frozenset({408, 409, 425, 429})  # 4xx statuses worth retrying


class OpenAiRecognizer:
    """A client for one model of one server."""

    name = "openai"

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str,
        model: str,
        timeout_seconds: float = TIMEOUT_SECONDS,
        max_retries: int = MAX_RETRIES,
        window_seconds: float = WINDOW_SECONDS,
    ) -> None:
        try:
            import openai  # noqa: PLC0415 - the API process imports this module without it
        except ImportError as error:
            raise EngineUnavailableError("The package openai is not installed.") from error
        self._client = openai.OpenAI(
            base_url=base_url, api_key=api_key, timeout=timeout_seconds, max_retries=max_retries
        )
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._window_seconds = window_seconds

    def close(self) -> None:
        self._client.close()

    def transcribe(
        self,
        samples: "Samples",
        *,
        language: str | None,
        speech: Sequence[TimeSpan],
        on_progress: OnProgress | None = None,
    ) -> Transcription:
        """Transcribes window by window; a language detected in the first window with words applies to the rest."""
        code = whisper_code(language) if language else None
        if language and code is None:
            raise EngineError(f"Whisper models do not support the language {language}.")
        found, probability = language or UNKNOWN_LANGUAGE, 1.0 if language else 0.0
        windows = plan_windows(samples, speech, max_seconds=self._window_seconds)
        total = sum(window.length for window in windows)
        done = 0
        tokens: list[RecognizedToken] = []
        for window in windows:
            response = self._request(window.extract(samples), code)
            words = tokens_from_response(response, window.speech_in_window_time(speech))
            tokens += [
                RecognizedToken(each.text, window.to_recording_time(each.span), each.probability) for each in words
            ]
            if words and code is None:
                found = language_code(response.language or "") or UNKNOWN_LANGUAGE
                probability = response.language_probability or UNKNOWN_PROBABILITY
                code = whisper_code(found)
            done += window.length
            if on_progress:
                on_progress(done / total)
        return Transcription(found, probability, align_words(tokens, speech=speech, spaced=uses_spaces(found)))

    def _request(self, samples: "Samples", code: str | None) -> "TranscriptionResponse":
        import httpx2  # noqa: PLC0415 - the SDK leaks its errors while streaming
        import openai  # noqa: PLC0415 - see above

        try:
            body = self._post(samples, code)
        except openai.APIStatusError as error:
            if error.status_code in _RETRYABLE_STATUSES or error.status_code >= 500:
                raise EngineUnavailableError(f"The server returned status {error.status_code}.") from error
            raise EngineError(f"The server rejected the audio with status {error.status_code}.") from error
        except (openai.APIError, httpx2.HTTPError) as error:
            raise EngineUnavailableError("The server is not responding.") from error
        try:
            return TranscriptionResponse.model_validate_json(body)
        except ValidationError as error:
            raise EngineUnavailableError("The server's response is malformed.") from error

    def _post(self, samples: "Samples", code: str | None) -> bytes:
        """Returns the raw body: the SDK would neither validate nor bound it."""
        import openai  # noqa: PLC0415 - see above

        deadline = time.monotonic() + self._timeout_seconds * (self._client.max_retries + 1)
        with self._client.audio.transcriptions.with_streaming_response.create(
            file=("speech.wav", encode_wav(samples), "audio/wav"),
            model=self._model,
            language=code or openai.omit,
            response_format="verbose_json",
            timestamp_granularities=["word", "segment"],
        ) as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_RESPONSE_BYTES or time.monotonic() > deadline:
                    raise EngineUnavailableError("The server's response exceeds the size or time limit.")
        return bytes(body)


class ResponseWord(BaseModel):
    """A word of the response; `probability` is an extension of some servers."""

    word: str
    start: FiniteFloat
    end: FiniteFloat
    probability: FiniteFloat | None = None


class ResponseSegment(BaseModel):
    """A segment of the response; some servers nest the words in it."""

    text: str = ""
    start: FiniteFloat
    end: FiniteFloat
    avg_logprob: FiniteFloat | None = None
    compression_ratio: FiniteFloat | None = None
    no_speech_prob: FiniteFloat | None = None
    words: list[ResponseWord] | None = None

    @property
    def probability(self) -> float:
        return UNKNOWN_PROBABILITY if self.avg_logprob is None else math.exp(min(0.0, self.avg_logprob))

    def is_credible(self) -> bool:
        """Missing statistics count in favor of the segment."""
        words = self.text.split()
        seconds = max(0.0, self.end - self.start)
        decoded = DecodedSegment(
            seconds=seconds,
            word_seconds=[seconds / len(words) for _ in words],
            word_probabilities=[],
            compression_ratio=self.compression_ratio or 0.0,
            log_probability=self.avg_logprob or 0.0,
            no_speech_probability=self.no_speech_prob or 0.0,
        )
        return not is_hallucination(decoded)


class TranscriptionResponse(BaseModel):
    """The fields we read from a `verbose_json` response."""

    text: str = ""
    language: str | None = None
    language_probability: FiniteFloat | None = None
    words: list[ResponseWord] | None = None
    segments: list[ResponseSegment] | None = None


def tokens_from_response(response: TranscriptionResponse, speech: Sequence[TimeSpan]) -> list[RecognizedToken]:
    """Tokens in window time; words without timestamps are interpolated over their segment."""
    segments = response.segments or []
    words = response.words or [word for segment in segments for word in segment.words or ()]
    if words:
        return _words_with_times(words, segments, response.text)
    if segments:
        return [
            word
            for segment in segments
            if segment.is_credible()
            for word in interpolate_words(
                segment.text, TimeSpan(segment.start, segment.end), speech=speech, probability=segment.probability
            )
        ]
    if response.text.strip():
        # Interpolating over a ten-minute window would be off by minutes.
        raise EngineError("The server returns no timestamps. Use a model that supports verbose_json.")
    return []


def _words_with_times(
    words: Sequence[ResponseWord], segments: Sequence[ResponseSegment], text: str
) -> list[RecognizedToken]:
    tokens = []
    remaining = iter(segments)
    segment = next(remaining, None)
    for word in words:
        middle = (word.start + word.end) / 2
        while segment is not None and segment.end < middle:
            segment = next(remaining, None)
        inside = segment if segment is not None and segment.start <= middle else None
        if inside is not None and not inside.is_credible():
            continue
        known = inside.probability if inside is not None else UNKNOWN_PROBABILITY
        probability = known if word.probability is None else word.probability
        tokens.append(RecognizedToken(_with_leading_space(word.word), TimeSpan(word.start, word.end), probability))
    return attach_punctuation(tokens, text)


def _with_leading_space(word: str) -> str:
    """Words arrive with or without the leading space that marks a word start."""
    return word if word[:1].isspace() else " " + word


def encode_wav(samples: "Samples") -> bytes:
    """16-bit PCM, which every server supports."""
    import numpy as np  # noqa: PLC0415 - see above

    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes((np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes())
    return file.getvalue()
