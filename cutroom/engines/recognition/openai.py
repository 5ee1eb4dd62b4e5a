"""Recognises speech on a server that speaks the OpenAI protocol for transcriptions."""

import io
import math
import time
import wave
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, FiniteFloat, ValidationError

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.hallucinations import Hearing, is_hallucination
from cutroom.engines.recognition.port import Transcription
from cutroom.engines.recognition.speech_windows import plan_windows
from cutroom.engines.recognition.whisper_languages import language_code, whisper_code
from cutroom.engines.recognition.word_timestamps import Heard, attach_punctuation, spread_words, tidy_words, uses_blanks
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

OnProgress = Callable[[float], None]

# 19 MB as WAV; many servers take 25 MB.
WINDOW_SECONDS = 600.0
TIMEOUT_SECONDS = 300.0
MAX_RETRIES = 2
MAX_ANSWER_BYTES = 32 * 1024 * 1024
UNKNOWN_LANGUAGE = "und"
# The protocol does not say how sure the server is of the language, and of words only what a segment tells.
UNKNOWN_PROBABILITY = 0.5

_MAY_PASS = frozenset(
    {408, 409, 425, 429}
)  # of the answers that blame the caller, those that another time may not come


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
            import openai  # noqa: PLC0415 - the API process must be able to import this room without it
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
        """The words; the language that the server finds in the first window with words holds for the others."""
        code = whisper_code(language) if language else None
        if language and code is None:
            raise EngineError(f"The models of this protocol do not know the language {language}.")
        found, probability = language or UNKNOWN_LANGUAGE, 1.0 if language else 0.0
        windows = plan_windows(samples, speech, max_seconds=self._window_seconds)
        total = sum(window.length for window in windows)
        done = 0
        heard: list[Heard] = []
        for window in windows:
            answer = self._ask(window.take(samples), code)
            words = heard_in(answer, window.laid_out(speech))
            heard += [Heard(each.text, window.lead_back(each.span), each.probability) for each in words]
            if words and code is None:
                found = language_code(answer.language or "") or UNKNOWN_LANGUAGE
                probability = answer.language_probability or UNKNOWN_PROBABILITY
                code = whisper_code(found)
            done += window.length
            if on_progress:
                on_progress(done / total)
        return Transcription(found, probability, tidy_words(heard, speech=speech, blanks=uses_blanks(found)))

    def _ask(self, samples: "Samples", code: str | None) -> "Answer":
        import httpx2  # noqa: PLC0415 - what the SDK lets through while an answer is read
        import openai  # noqa: PLC0415 - see above

        try:
            body = self._post(samples, code)
        except openai.APIStatusError as error:
            if error.status_code in _MAY_PASS or error.status_code >= 500:
                raise EngineUnavailableError(f"The server answered with status {error.status_code}.") from error
            raise EngineError(f"The server refused the speech with status {error.status_code}.") from error
        except (openai.APIError, httpx2.HTTPError) as error:
            raise EngineUnavailableError("The server does not answer.") from error
        try:
            return Answer.model_validate_json(body)
        except ValidationError as error:
            raise EngineUnavailableError("The server's answer cannot be read.") from error

    def _post(self, samples: "Samples", code: str | None) -> bytes:
        """The answer as it comes, for the SDK would neither check nor bound it."""
        import openai  # noqa: PLC0415 - see above

        deadline = time.monotonic() + self._timeout_seconds * (self._client.max_retries + 1)
        with self._client.audio.transcriptions.with_streaming_response.create(
            file=("speech.wav", as_wav(samples), "audio/wav"),
            model=self._model,
            language=code or openai.omit,
            response_format="verbose_json",
            timestamp_granularities=["word", "segment"],
        ) as response:
            body = bytearray()
            for part in response.iter_bytes():
                body += part
                if len(body) > MAX_ANSWER_BYTES or time.monotonic() > deadline:
                    raise EngineUnavailableError("The server's answer does not end.")
        return bytes(body)


class AnsweredWord(BaseModel):
    """A word as the protocol has it; `probability` is an addition of some servers."""

    word: str
    start: FiniteFloat
    end: FiniteFloat
    probability: FiniteFloat | None = None


class AnsweredSegment(BaseModel):
    """A sentence or so; some servers put the words in here."""

    text: str = ""
    start: FiniteFloat
    end: FiniteFloat
    avg_logprob: FiniteFloat | None = None
    compression_ratio: FiniteFloat | None = None
    no_speech_prob: FiniteFloat | None = None
    words: list[AnsweredWord] | None = None

    @property
    def probability(self) -> float:
        return UNKNOWN_PROBABILITY if self.avg_logprob is None else math.exp(min(0.0, self.avg_logprob))

    def is_believed(self) -> bool:
        """What the server does not tell speaks for the words."""
        words = self.text.split()
        seconds = max(0.0, self.end - self.start)
        hearing = Hearing(
            seconds=seconds,
            word_seconds=[seconds / len(words) for _ in words],
            word_probabilities=[],
            compression_ratio=self.compression_ratio or 0.0,
            log_probability=self.avg_logprob or 0.0,
            no_speech_probability=self.no_speech_prob or 0.0,
        )
        return not is_hallucination(hearing)


class Answer(BaseModel):
    """What `verbose_json` holds, as far as we read it."""

    text: str = ""
    language: str | None = None
    language_probability: FiniteFloat | None = None
    words: list[AnsweredWord] | None = None
    segments: list[AnsweredSegment] | None = None


def heard_in(answer: Answer, speech: Sequence[TimeSpan]) -> list[Heard]:
    """The words of an answer, by the window's clock; words without a time of their own are laid over their segment."""
    segments = answer.segments or []
    words = answer.words or [word for segment in segments for word in segment.words or ()]
    if words:
        return _words_with_times(words, segments, answer.text)
    if segments:
        return [
            word
            for segment in segments
            if segment.is_believed()
            for word in spread_words(
                segment.text, TimeSpan(segment.start, segment.end), speech=speech, probability=segment.probability
            )
        ]
    if answer.text.strip():
        # Over ten minutes a guess would be wrong by minutes.
        raise EngineError("The server gives words without times. Use a model that answers with verbose_json.")
    return []


def _words_with_times(words: Sequence[AnsweredWord], segments: Sequence[AnsweredSegment], text: str) -> list[Heard]:
    heard = []
    remaining = iter(segments)
    segment = next(remaining, None)
    for word in words:
        middle = (word.start + word.end) / 2
        while segment is not None and segment.end < middle:
            segment = next(remaining, None)
        inside = segment if segment is not None and segment.start <= middle else None
        if inside is not None and not inside.is_believed():
            continue
        known = inside.probability if inside is not None else UNKNOWN_PROBABILITY
        probability = known if word.probability is None else word.probability
        heard.append(Heard(_apart(word.word), TimeSpan(word.start, word.end), probability))
    return attach_punctuation(heard, text)


def _apart(word: str) -> str:
    """The protocol gives whole words, with or without a blank in front."""
    return word if word[:1].isspace() else " " + word


def as_wav(samples: "Samples") -> bytes:
    """16 bits, which every server can read."""
    import numpy as np  # noqa: PLC0415 - see above

    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes((np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes())
    return file.getvalue()
